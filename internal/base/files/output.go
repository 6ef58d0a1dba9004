// Package newfile writes files that are there whole or not at all.
package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// CheckOutput refuses a path that no file can take: where there is no directory for it, where something stands that is no
// regular file, or where one of the files stands that the new one is made from. Whoever works for long before Place
// asks for this first.
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

// CreateTemp makes a temporary file beside the place that it is meant for, where Place can rename it to.
func CreateTemp(path string) (*os.File, error) {
	return os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
}

// Rename makes a file that is finished durable and renames it to path, so that a program that opens path finds the old
// file or the whole new one. If it fails, the file stays for Discard.
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

// Discard closes and removes a file that is not to be placed.
func Discard(f *os.File) {
	f.Close()
	os.Remove(f.Name())
}

// syncDir makes a rename durable where the system can; Windows cannot open directories, and does it by itself.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
}
