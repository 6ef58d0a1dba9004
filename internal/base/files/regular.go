package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrNotRegular means that a path does not lead to a regular file. The error says what it is.
var ErrNotRegular = errors.New("not a regular file")

// OpenRegular opens a regular file, or a symbolic link to one, for reading. Anything else is refused at once: opening a
// named pipe would wait for its other end, and opening a device may have any effect. Errors are *fs.PathError.
func OpenRegular(path string) (*os.File, fs.FileInfo, error) {
	// Checked before it is opened, because opening starts some devices.
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if err := check(path, info); err != nil {
		return nil, nil, err
	}
	file, err := os.OpenFile(path, os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return nil, nil, err
	}
	// Checked again, because it may have been replaced in between.
	if info, err = file.Stat(); err == nil {
		err = check(path, info)
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, info, nil
}

func check(path string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("is %s, %w", kind(info.Mode()), ErrNotRegular)}
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	default:
		return "something else"
	}
}
