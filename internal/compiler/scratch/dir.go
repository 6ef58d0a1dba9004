// Package scratch keeps data that may not fit into memory in temporary files: arrays (Array), sorted lists (Sorter,
// Records), sets (Ranks) and texts that are stored once (Texts, StringTable). Begin at Dir and Array.
//
// The files are memory-mapped. When memory is short, the system writes pages out and frees them, so they are not memory
// that a build needs. Callers bound what they keep on the heap; Dir.Memory says how much there is.
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

// Dir is a directory of temporary files. It is safe for concurrent use. What is made in it is not, unless documented.
type Dir struct {
	// Memory is how many bytes of anonymous memory the build may take in all. It never changes the result.
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

// Open makes a directory for one build in a parent directory. It removes the directories that killed builds of the same
// name left there. Close removes the new one.
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

// lockDir locks a directory by a file that is opened with some flags. It returns nil if another build has the lock, or
// had it and removed the directory.
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

// removeAbandoned removes the directories of builds that were killed, as far as it can.
func removeAbandoned(parent, name string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return // making a new one there returns the error
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "."+name+".") && strings.HasSuffix(e.Name(), suffix) && e.IsDir() {
			path := filepath.Join(parent, e.Name())
			_ = os.Remove(path) // if it is empty: its build was killed before it could lock it
			// This must not create a lock: another build may be removing the directory.
			if lock, _ := lockDir(path, os.O_RDWR); lock != nil {
				_ = removeDir(path, lock)
			}
		}
	}
}

// removeDir removes a directory and releases its lock.
func removeDir(path string, lock *flock.Flock) error {
	err := os.RemoveAll(path)
	unlocked := lock.Close()
	if err != nil { // some systems do not remove open files
		err = os.RemoveAll(path)
	}
	return errors.Join(err, unlocked)
}

// SortMemory returns how many bytes of memory each Sorter may work on, where a few are in use at a time.
func (d *Dir) SortMemory() int64 { return max(d.Memory/32, 1<<20) }

// Path returns the path of the directory.
func (d *Dir) Path() string { return d.path }

// Size returns how many bytes the temporary files take now.
func (d *Dir) Size() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.size
}

// Peak returns the greatest Size so far.
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

// Release unmaps and closes all files in the directory, so that their space on the disk is free before the process
// ends. After it, no goroutine may use what was made in the directory, and nothing else can be made there.
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

// Close removes the directory and its files. Goroutines that have not ended yet can still read mapped arrays that were
// neither freed nor released, and can make no new files.
func (d *Dir) Close() error {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	return removeDir(d.path, d.lock)
}
