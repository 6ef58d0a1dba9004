package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
)

// maxBatch is how many changes share one commit at most.
const maxBatch = 256

// writer makes all changes of an SQLite file, on one connection. The changes that wait while a commit is on its way to
// the disk share the next one, so that the disk's rate of syncs does not bound the number of changes. One that fails
// leaves the others alone.
type writer struct {
	session *session
	db      *sql.DB
	present func() error // returns an error if what is written would be lost
	calls   chan *call
	closing chan struct{}
	closed  chan struct{}
}

// call is one change.
type call struct {
	run   func(*tx) error
	taken atomic.Bool // by the writer, or by a caller that gave up
	err   error
	done  chan struct{}
}

func newWriter(session *session, db *sql.DB, present func() error) *writer {
	w := &writer{session: session, db: db, present: present, calls: make(chan *call), closing: make(chan struct{}),
		closed: make(chan struct{})}
	go w.loop()
	return w
}

// do returns when the change is on the disk, or has failed. A caller whose context ends takes back a change that still
// waits; the outcome of one that has begun is awaited.
func (w *writer) do(ctx context.Context, run func(*tx) error) error {
	c := &call{run: run, done: make(chan struct{})}
	select {
	case w.calls <- c:
	case <-ctx.Done():
		return ctx.Err()
	case <-w.closed:
		return &Error{err: errClosed}
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		if c.taken.CompareAndSwap(false, true) {
			return ctx.Err()
		}
		<-c.done
	}
	return c.err
}

func (w *writer) close() {
	close(w.closing)
	<-w.closed
}

func (w *writer) loop() {
	defer close(w.closed)
	for {
		select {
		case first := <-w.calls:
			w.commit(w.gather(first))
		case <-w.closing:
			_ = w.session.Close()
			_ = w.db.Close()
			return
		}
	}
}

// gather returns the changes that wait now.
func (w *writer) gather(first *call) []*call {
	batch := []*call{first}
	for len(batch) < maxBatch {
		select {
		case c := <-w.calls:
			batch = append(batch, c)
		default:
			return batch
		}
	}
	return batch
}

func (w *writer) commit(batch []*call) {
	n := 0
	for _, c := range batch {
		if c.taken.CompareAndSwap(false, true) {
			batch[n] = c
			n++
		}
	}
	batch = batch[:n]
	err := w.present()
	if err == nil && n > 0 {
		// A savepoint for each change would cost a copy of every page that it touches. Most batches have none that fails.
		err = w.session.transaction(context.Background(), "BEGIN IMMEDIATE", func(t *tx) error {
			for _, c := range batch {
				if c.err = c.protected(t); c.err != nil && n > 1 {
					return errAgain
				} else if c.err != nil {
					return c.err
				}
			}
			return nil
		})
	}
	if errors.Is(err, errAgain) {
		err = w.session.transaction(context.Background(), "BEGIN IMMEDIATE", func(t *tx) error {
			for _, c := range batch {
				if err := c.attempt(t); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err == nil {
		err = w.present() // before anything is acknowledged
	}
	for _, c := range batch {
		if err != nil {
			c.err = err // even "not found" may rest on what another change of the transaction wrote
		}
		close(c.done)
	}
}

// errAgain: a change of a batch failed, so the batch is undone, and repeated with a savepoint for each change.
var errAgain = errors.New("a change failed")

// attempt runs a change, and undoes it if it fails. The error is that of the whole transaction.
func (c *call) attempt(t *tx) error {
	if _, err := t.exec("SAVEPOINT change"); err != nil {
		return err
	}
	if c.err = c.protected(t); c.err != nil {
		if _, err := t.exec("ROLLBACK TO change"); err != nil {
			return c.err // a full disk, for example, has ended the transaction
		}
	}
	_, err := t.exec("RELEASE change")
	return err
}

// protected turns a panic in one change into its error.
func (c *call) protected(t *tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a change panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return c.run(t)
}
