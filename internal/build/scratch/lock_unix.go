//go:build unix

package scratch

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks a file until it is closed, or fails at once.
func tryLock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
