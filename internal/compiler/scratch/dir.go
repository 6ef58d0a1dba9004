// Package scratch keeps what a build cannot hold in memory in temporary files: arrays in mapped files, lists that are
// sorted on disk, texts of which each is kept once.
//
// The pages of a mapped file are the file's: the system writes them out and takes them back where memory is short, so
// they do not count as memory that the build needs. What is on the heap is for the callers to bound; Dir.Memory says
// by how much.
package scratch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Dir is a directory of temporary files. It is safe for use by several goroutines; what is made in it is not, unless it
// says so.
type Dir struct {
	// Memory is how many bytes of anonymous memory the build may take in all. It never changes what is built.
	Memory int64

	path       string
	lock       *os.File
	mu         sync.Mutex
	files      int
	closed     bool
	open       map[*os.File]func() error // what unmaps a file; nil for one that is not mapped
	size, peak int64
}

const (
	suffix   = ".build"
	lockName = "lock"
	// settled is the age from which on a directory without a lock is one that was left: its maker locks it at once.
	settled = time.Minute
)

// Open makes a directory for one build in a parent directory, and removes those that builds of the same name have left
// there that were killed. Close removes it.
func Open(parent, name string, memory int64) (*Dir, error) {
	removeAbandoned(parent, name)
	path, err := os.MkdirTemp(parent, "."+name+".*"+suffix)
	if err != nil {
		return nil, fmt.Errorf("temporary files: %w", err)
	}
	lock, err := lockDir(path)
	if err != nil {
		os.RemoveAll(path)
		return nil, fmt.Errorf("temporary files: %w", err)
	}
	return &Dir{Memory: memory, path: path, lock: lock, open: map[*os.File]func() error{}}, nil
}

// lockDir locks a directory for as long as the file is open, or this process lives. The lock has its name only when it
// holds: another build that finds it without one does not touch the directory.
func lockDir(path string) (*os.File, error) {
	f, err := createShared(filepath.Join(path, lockName+".new"))
	if err != nil {
		return nil, err
	}
	if err := tryLock(f); err != nil {
		f.Close()
		return nil, err
	}
	if err := os.Rename(f.Name(), filepath.Join(path, lockName)); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// removeAbandoned removes the directories of builds that are no more. What cannot be removed stays.
func removeAbandoned(parent, name string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return // making a new one there says what is wrong
	}
	for _, e := range entries {
		if ok, _ := filepath.Match("."+escape(name)+".*"+suffix, e.Name()); ok && e.IsDir() {
			if path := filepath.Join(parent, e.Name()); abandoned(path) {
				os.RemoveAll(path)
			}
		}
	}
}

// escape makes a pattern for filepath.Match of a name.
func escape(name string) string {
	out := make([]rune, 0, len(name))
	for _, r := range name {
		switch r {
		case '*', '?', '[', '\\':
			if os.PathSeparator != '\\' {
				out = append(out, '\\')
			} else {
				r = '?' // such names cannot be there, and patterns cannot be escaped
			}
		}
		out = append(out, r)
	}
	return string(out)
}

func abandoned(path string) bool {
	f, err := os.OpenFile(filepath.Join(path, lockName), os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		info, err := os.Stat(path)
		return err == nil && time.Since(info.ModTime()) > settled
	}
	if err != nil {
		return false
	}
	defer f.Close()
	return tryLock(f) == nil
}

// SortMemory is how much memory, in bytes, each of the sorters may take of which a few are in use at a time.
func (d *Dir) SortMemory() int64 { return max(d.Memory/32, 1<<20) }

// Path is where the directory is.
func (d *Dir) Path() string { return d.path }

// Size is how many bytes the temporary files take now, and Peak how many they took at most.
func (d *Dir) Size() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.size
}

// Peak is the greatest Size so far.
func (d *Dir) Peak() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.peak
}

func (d *Dir) grow(bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.size += bytes
	d.peak = max(d.peak, d.size)
}

// create makes a file for reading and writing. unmap is what Release calls before it closes the file, or nil.
func (d *Dir) create(name string, unmap func() error) (*os.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, os.ErrClosed
	}
	d.files++
	path := filepath.Join(d.path, fmt.Sprintf("%s.%d", name, d.files))
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		d.open[f] = unmap
	}
	return f, err
}

// remove closes a file and removes it.
func (d *Dir) remove(f *os.File, size int64) error {
	d.grow(-size)
	d.mu.Lock()
	delete(d.open, f)
	d.mu.Unlock()
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Release unmaps and closes all that was made in the directory and not freed, so that its room on the disk is free
// again before the process ends; on Windows, files that are open cannot be removed. Nothing of it may be used any
// more, by no goroutine, and nothing else can be made.
func (d *Dir) Release() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	var errs []error
	for f, unmap := range d.open {
		if unmap != nil {
			errs = append(errs, unmap())
		}
		errs = append(errs, f.Close())
	}
	clear(d.open)
	return errors.Join(errs...)
}

// Close removes the directory with all that is in it. Nothing that was made in it may be used any more; mapped arrays
// that were neither freed nor released stay readable to goroutines that have not ended yet, which can make no new
// files.
func (d *Dir) Close() error {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	err := os.RemoveAll(d.path)
	unlocked := d.lock.Close()
	if err != nil { // some systems keep the name of a removed file while it is open, here that of the lock
		err = os.RemoveAll(d.path)
	}
	return errors.Join(err, unlocked)
}
