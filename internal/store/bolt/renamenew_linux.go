package bolt

import (
	"errors"

	"golang.org/x/sys/unix"
)

// renameNew renames a file and replaces nothing. NFS does not know how.
func renameNew(temp, path string) error {
	err := unix.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, path, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return linkNew(temp, path)
	}
	return err
}
