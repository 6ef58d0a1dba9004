// Package files writes files that appear only when they are complete, and opens files at paths that others choose. It
// does not know the content of files.
//
// Start with CreateTemp and Rename for writing, and with OpenRegular for reading.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// CheckOutput returns an error if path cannot be an output file: its directory does not exist, it is not a regular
// file, or it is one of the input files. Call it before long work.
func CheckOutput(path string, from ...string) error {
	if path == "" {
		return errors.New("no output file given")
	}
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil {
		return fmt.Errorf("output: %w", err)
	} else if !info.IsDir() {
		return fmt.Errorf("output: %s is not a directory", dir)
	}
	output, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("output: %w", err)
	case !output.Mode().IsRegular():
		return fmt.Errorf("output: %s is not a regular file", path)
	}
	for _, name := range from {
		if input, err := os.Stat(name); err == nil && os.SameFile(input, output) {
			return fmt.Errorf("output: %s is what it is made from", path)
		}
	}
	return nil
}

// CreateTemp creates a temporary file in the directory of path, for Rename.
func CreateTemp(path string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
}

// Rename syncs and closes a complete file and renames it to path, so that other programs see either the old or the
// complete new file. After an error, call Discard.
func Rename(f *os.File, path string, mode fs.FileMode) error {
	if err := f.Chmod(mode); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	syncDir(filepath.Dir(path))
	return nil
}

// Discard closes and removes a temporary file.
func Discard(f *os.File) {
	f.Close()
	os.Remove(f.Name())
}

// syncDir makes a rename durable if the system supports that. Windows cannot open directories, and does not need it.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
}
