//go:build unix

package scratch

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks a file until it is closed, or fails at once.
func tryLock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// createShared makes a file that can be renamed and removed while it is open, as every file here.
func createShared(path string) (*os.File, error) { return os.Create(path) }
