package scratch

import (
	"os"

	"golang.org/x/sys/windows"
)

// tryLock locks a file until it is closed, or fails at once.
func tryLock(f *os.File) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, new(windows.Overlapped))
}
