package boltstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"go.etcd.io/bbolt"
)

var (
	errForeign = errors.New("it is not a database of caddy-maps, or it is damaged; name another path, or restore a backup")
	errCut     = errors.New("a part of the file is missing; restore a backup")
)

// inspect looks through a file that is there, without changing it: whether it is whole, of this program, and of a format
// that this version knows. bbolt itself trusts what it finds, and ends the process over a damaged page.
func inspect(path string) (err error) {
	// Reading a part of a mapped file that is not there is a fault.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer asError(&err)
	db, err := bbolt.Open(path, fileMode, &bbolt.Options{ReadOnly: true, Timeout: lockTimeout, NoStatistics: true})
	if err != nil {
		return openError(err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return db.View(func(tx *bbolt.Tx) error {
		if tx.Size() > info.Size() {
			return errCut
		}
		if err := checkFormat(tx); err != nil {
			return err
		}
		return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(_, _ []byte) error { return nil })
		})
	})
}

func checkFormat(tx *bbolt.Tx) error {
	meta := tx.Bucket(metaBucket)
	if meta == nil {
		if first, _ := tx.Cursor().First(); first == nil {
			return nil // made, but never written to
		}
		return errForeign
	}
	value := meta.Get(formatKey)
	if len(value) != 8 {
		return errForeign
	}
	if found := binary.BigEndian.Uint64(value); found != format {
		return fmt.Errorf("it has format %d, and this version of caddy-maps knows format %d only; use the version that wrote it", found, format)
	}
	for _, name := range allBuckets {
		if tx.Bucket(name) == nil {
			return errForeign
		}
	}
	return nil
}
