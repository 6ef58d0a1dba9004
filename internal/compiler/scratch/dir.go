// Package scratch keeps what a build cannot hold in memory in temporary files: arrays in mapped files, lists that are
// sorted there, texts of which each is kept once.
//
// The pages of a mapped file are the file's: the system writes them out and takes them back where memory is short, so
// they do not count as memory that the build needs. What is on the heap is for the callers to bound; Dir.Memory says
// by how much.
package scratch

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gofrs/flock"
)

// Dir is a directory of temporary files. It is safe for use by several goroutines; what is made in it is not, unless it
// says so.
type Dir struct {
	// Memory is how many bytes of anonymous memory the build may take in all. It never changes what is built.
	Memory int64

	path       string
	lock       *flock.Flock // held until Close, or as long as this process lives
	mu         sync.Mutex
	files      int
	closed     bool
	open       map[*mapping]bool
	size, peak int64
}

const suffix = ".build"

// Open makes a directory for one build in a parent directory, and removes those that builds of the same name have left
// there that were killed. Close removes it.
func Open(parent, name string, memory int64) (*Dir, error) {
	removeAbandoned(parent, name)
	for {
		path, err := os.MkdirTemp(parent, "."+name+".*"+suffix)
		if err != nil {
			return nil, fmt.Errorf("temporary files: %w", err)
		}
		lock, err := lockDir(path, os.O_CREATE|os.O_RDWR)
		if lock != nil {
			return &Dir{Memory: memory, path: path, lock: lock, open: map[*mapping]bool{}}, nil
		}
		os.RemoveAll(path)
		if err != nil {
			return nil, fmt.Errorf("temporary files: %w", err)
		}
	}
}

// lockDir locks a directory by a file that is opened with some flags. It returns nil where another build has the lock,
// or had it and removed the directory.
func lockDir(path string, flags int) (*flock.Flock, error) {
	lock := flock.New(filepath.Join(path, "lock"), flock.SetFlag(flags))
	locked, err := lock.TryLock()
	if _, removed := os.Stat(lock.Path()); locked && removed == nil {
		return lock, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return nil, errors.Join(err, lock.Close())
}

// removeAbandoned removes the directories of builds that are no more. What cannot be removed stays.
func removeAbandoned(parent, name string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return // making a new one there says what is wrong
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "."+name+".") && strings.HasSuffix(e.Name(), suffix) && e.IsDir() {
			path := filepath.Join(parent, e.Name())
			_ = os.Remove(path) // it is empty if its build was killed before it could lock it
			// A lock must not be made here: its build may be removing the directory.
			if lock, _ := lockDir(path, os.O_RDWR); lock != nil {
				_ = removeDir(path, lock)
			}
		}
	}
}

// removeDir removes a directory and gives up its lock.
func removeDir(path string, lock *flock.Flock) error {
	err := os.RemoveAll(path)
	unlocked := lock.Close()
	if err != nil { // some systems do not remove files that are open
		err = os.RemoveAll(path)
	}
	return errors.Join(err, unlocked)
}

// SortMemory is how much memory, in bytes, each of the sorters may work on of which a few are in use at a time.
func (d *Dir) SortMemory() int64 { return max(d.Memory/32, 1<<20) }

// Path is where the directory is.
func (d *Dir) Path() string { return d.path }

// Size is how many bytes the temporary files take now.
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

// create makes the file of a mapping.
func (d *Dir) create(m *mapping) (err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return os.ErrClosed
	}
	d.files++
	m.file, err = os.Create(filepath.Join(d.path, fmt.Sprintf("%s.%d", m.name, d.files)))
	if err == nil {
		d.open[m] = true
	}
	return err
}

// Release unmaps and closes all that was made in the directory and not freed, so that its room on the disk is free
// again before the process ends; on Windows, files that are open cannot be removed. Nothing of it may be used any
// more, by no goroutine, and nothing else can be made.
func (d *Dir) Release() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	var errs []error
	for m := range d.open {
		errs = append(errs, m.unmap(), m.file.Close())
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
	return removeDir(d.path, d.lock)
}
