// Package regularfile opens files by paths that somebody else has chosen. What stands there may be no file: opening a
// named pipe waits until somebody opens its other end, and opening a device may do anything.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ErrNotRegular is what Open refuses. The error says what stands at the path.
var ErrNotRegular = errors.New("not a regular file")

// OpenRegular opens a regular file, or one that a symbolic link leads to, for reading. Anything else is refused at once,
// without waiting for whoever is at its other end. Errors are *fs.PathError.
func OpenRegular(path string) (*os.File, fs.FileInfo, error) {
	// Looked at before it is opened, because that alone starts some devices.
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
	// Looked at again, because something else may have taken its place in between.
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
