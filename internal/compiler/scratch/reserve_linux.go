package scratch

import (
	"os"

	"golang.org/x/sys/unix"
)

// reserve has the system set room aside for a part of a file, so that writing to its mapping cannot fail.
func reserve(f *os.File, from, to int64) error {
	for {
		switch err := unix.Fallocate(int(f.Fd()), 0, from, to-from); err {
		case nil:
			return nil
		case unix.EINTR:
		case unix.EOPNOTSUPP, unix.ENOSYS:
			return writeZeros(f, from, to)
		default:
			return &os.PathError{Op: "reserve", Path: f.Name(), Err: err}
		}
	}
}
