package bolt

import (
	"errors"
	"os"
	"sync/atomic"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/mapsedge/caddy-maps/internal/store/boltfile"
)

// handle begins transactions of a file that may be damaged meanwhile. bbolt holds its locks for ever where a
// panic ends the begin or the end of a transaction, so that all others would wait for ever.
type handle struct {
	db   *bbolt.DB
	sums *pageSums
	// heads is the file once more, of which the heads are read rather than mapped: what is missing is then no fault
	// of memory.
	heads    *os.File
	pageSize int64
	lost     atomic.Pointer[damage] // why there can be no transactions any more
}

func newHandle(db *bbolt.DB) (*handle, error) {
	heads, err := os.Open(db.Path())
	if err != nil {
		return nil, err
	}
	return &handle{db: db, sums: newPageSums(), heads: heads, pageSize: int64(db.Info().PageSize)}, nil
}

// begin begins a transaction, which sees all that was confirmed before.
func (h *handle) begin(writable bool) (tx *bbolt.Tx, err error) {
	if lost := h.lost.Load(); lost != nil {
		return nil, *lost
	}
	if !boltfile.HasHead(h.heads, h.pageSize) {
		return nil, damaged("the heads of the file are damaged")
	}
	confirmed := h.sums.last()
	defer func() {
		if p := recover(); p != nil {
			err = h.lose("the heads of the file cannot be read", p)
		}
	}()
	tx, err = h.db.Begin(writable)
	if errors.Is(err, bolterrors.ErrDatabaseNotOpen) {
		return nil, errClosed
	}
	if err != nil {
		return nil, err
	}
	state := tx.ID()
	if writable {
		state--
	}
	if state < confirmed {
		return nil, errors.Join(damaged("the newest head of the file is damaged"), h.end(tx))
	}
	return tx, nil
}

// end gives back what a transaction holds, if it has not ended. Not by tx.rollback, which bbolt's own functions
// fall back on: that looks for free pages in the whole file, in a goroutine of its own, in which a damaged page
// would end the process. So the pages that a failed commit took are not used again before the next start.
func (h *handle) end(tx *bbolt.Tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = h.lose("a change could not be ended", p)
		}
	}()
	if err := tx.Rollback(); !errors.Is(err, bolterrors.ErrTxClosed) {
		return err
	}
	return nil
}

// commit commits a transaction, which is to be ended whatever becomes of it.
func (h *handle) commit(tx *bbolt.Tx) (err error) {
	defer asError(&err)
	if err := h.sums.checkFree(mapped(tx), tx.ID()-1); err != nil {
		return err
	}
	return tx.Commit()
}

// lose gives up the file until the server is started again.
func (h *handle) lose(what string, p any) error {
	lost := damaged("%s, and nothing can be read or changed before the server is started again: %v", what, p)
	h.lost.CompareAndSwap(nil, &lost)
	h.sums.lose()
	return lost
}

// close closes the file. One that was lost stays open, since bbolt would wait for its locks for ever.
func (h *handle) close() error {
	if h.lost.Load() != nil {
		return nil //nolint:nilerr // what was lost has been said already
	}
	return errors.Join(h.db.Close(), h.heads.Close())
}
