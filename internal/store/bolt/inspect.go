package bolt

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"go.etcd.io/bbolt"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/store/boltfile"
)

var (
	errForeign = errors.New("it is not a database of caddy-maps, or it is damaged; name another path, or restore a backup")
	errCut     = errors.New("a part of the file is missing; restore a backup")
)

// newPages is how many pages a file has at most in which nothing was ever written. One that is empty and larger
// has lost what it held.
const newPages = 8

// Report is what was found in a file.
type Report struct {
	// Counts is how much of it is as it was written.
	account.Counts
	// Format is that of the file, 0 if its pages are not in order.
	Format uint64
	// Faults are what is damaged; More is how many of them are not named.
	Faults []error
	More   int
}

func (r *Report) fault(err error, limit int) {
	if len(r.Faults) < limit {
		r.Faults = append(r.Faults, err)
	} else {
		r.More++
	}
}

// Verify looks through a store or a backup, without changing it. An error says why that was not possible.
func Verify(path string, maxFaults int) (Report, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return Report{}, err
	case !info.Mode().IsRegular():
		return Report{}, fmt.Errorf("%s: it is not a file", path)
	case info.Size() == 0:
		return Report{}, fmt.Errorf("%s: it is empty", path)
	}
	r, err := verify(path, maxFaults)
	if errors.Is(err, errInUse) {
		err = errors.New("another process has it open; make a backup (`caddy maps backup`) and check that")
	}
	if err != nil {
		return Report{}, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// inspect returns what is wrong with a file, of which the first that is damaged is enough.
func inspect(path string) error {
	r, err := verify(path, 1)
	if err == nil && len(r.Faults) > 0 {
		err = whatToDo(r.Faults[0])
	}
	return err
}

func whatToDo(err error) error {
	if !errors.Is(err, account.ErrDamaged) {
		return err
	}
	return fmt.Errorf("it is damaged (%w); restore a backup; `caddy maps verify-store` shows all that is damaged", err)
}

// verify holds the file's lock meanwhile, so that no server writes to it. bbolt's own functions read but the
// heads of the file before all its pages have been found to be in order.
func verify(path string, maxFaults int) (r Report, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer asError(&err)
	db, err := bbolt.Open(path, fileMode, &bbolt.Options{ReadOnly: true, Timeout: lockTimeout, NoStatistics: true})
	if err != nil {
		return r, openError(err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	f, err := os.Open(path)
	if err != nil {
		return r, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return r, err
	}
	pages, err := boltfile.Open(f, info.Size())
	switch {
	case errors.Is(err, boltfile.ErrCut):
		return r, errCut
	case errors.Is(err, boltfile.ErrForeign):
		return r, errForeign
	case err != nil:
		r.fault(damaged("%w", err), maxFaults)
		return r, nil
	}
	if whole, err := inOrder(pages, &r, maxFaults); !whole || err != nil {
		return r, err
	}
	var isNew bool
	txid := 0
	if err := db.View(func(tx *bbolt.Tx) (err error) {
		txid = tx.ID()
		r.Format, isNew, err = checkFormat(tx)
		return err
	}); err != nil {
		return r, err
	}
	if isNew {
		if pages.High > newPages {
			return r, errForeign
		}
		return r, nil
	}
	return r, records(pages, txid, &r, maxFaults)
}

// inOrder reports whether all pages are in order. Only then are records looked at: bbolt would not find its way
// to them.
func inOrder(pages *boltfile.File, r *Report, maxFaults int) (bool, error) {
	names := map[string]bool{}
	pages.Walk(boltfile.Visitor{
		Bucket: func(name []byte) { names[string(name)] = true },
		Record: func(_, _, _ []byte) error { return nil },
		Fault: func(err error) bool {
			r.fault(damaged("%w", err), maxFaults)
			return true
		},
	})
	if len(names) > 0 && !names[string(metaBucket)] {
		return false, errForeign
	}
	return len(r.Faults) == 0, nil
}

// records looks through all records of a file whose pages are in order.
func records(pages *boltfile.File, txid int, r *Report, maxFaults int) error {
	var newer error
	c := census{sealed: r.Format > unsealed, dated: r.Format > undated, txid: txid}
	pages.Walk(boltfile.Visitor{
		Record: c.record,
		Fault: func(err error) bool {
			if !errors.Is(err, account.ErrDamaged) {
				newer = err
				return false
			}
			r.fault(err, maxFaults)
			return true
		},
	})
	if len(r.Faults) == 0 {
		for _, err := range c.end() {
			r.fault(err, maxFaults)
		}
	}
	r.Counts = c.counts()
	return newer
}

// checkFormat returns the format of a file whose pages are in order, if this version knows it, or that there is
// nothing in it yet.
func checkFormat(tx *bbolt.Tx) (found uint64, isNew bool, err error) {
	if tx.Bucket(metaBucket) == nil {
		if first, _ := tx.Cursor().First(); first == nil {
			return format, true, nil // made, but never written to
		}
		return 0, false, errForeign
	}
	found, ok := formatOf(tx)
	if !ok {
		return 0, false, errForeign
	}
	if found == 0 || found > format {
		return 0, false, fmt.Errorf("it has format %d, and this version of caddy-maps knows format %d and those before "+
			"only; use the version"+
			" that wrote it", found, format)
	}
	for _, name := range bucketsOf(found) {
		if tx.Bucket(name) == nil {
			return 0, false, errForeign
		}
	}
	return found, false, nil
}
