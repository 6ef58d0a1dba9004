package boltstore

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// maxGroup is how many changes share one commit at most; more would make the first of them wait for the others' work.
const maxGroup = 512

// The wait for more changes takes no longer than the commit before it, within these bounds.
const (
	minGather = 2 * time.Millisecond
	maxGather = 10 * time.Millisecond
)

// group gathers changes while a commit is on its way to the disk, and makes the next commit of all of them. Under load it
// also waits a moment for those whom the last commit has answered to come again: two half-full commits, taking turns, would
// cost nearly twice as much. A change that comes alone is committed at once.
type group struct {
	db      *bbolt.DB
	mu      sync.Mutex
	waiting []*change
	wanted  int // wake the committer when so many wait
	closed  bool
	wake    chan struct{} // holds one token when enough wait, or at the end
	done    chan struct{} // closed when the last commit is made
}

// change is one call's part of a commit.
type change struct {
	run    func(*writeTx) error
	err    error
	taken  atomic.Bool // by the committer, or by a caller who gave up
	result chan struct{}
}

// writeTx is the part of a transaction that a change sees. A change that fails must do so before it writes, or else all
// the others of the commit have to be run again.
type writeTx struct {
	tx    *bbolt.Tx
	wrote bool
}

func (t *writeTx) get(bucket, key []byte) []byte { return t.tx.Bucket(bucket).Get(key) }

func (t *writeTx) put(bucket, key, value []byte) error {
	t.wrote = true
	return t.tx.Bucket(bucket).Put(key, value)
}

func (t *writeTx) remove(bucket, key []byte) error {
	t.wrote = true
	return t.tx.Bucket(bucket).Delete(key)
}

func newGroup(db *bbolt.DB) *group {
	g := &group{db: db, wanted: 1, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go g.loop()
	return g
}

// do returns when the change is on the disk, or has failed. A context that ends while the change still waits takes it
// back; once its commit has begun, the outcome is awaited, since the caller must know it.
func (g *group) do(ctx context.Context, run func(*writeTx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := &change{run: run, result: make(chan struct{})}
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return errClosed
	}
	g.waiting = append(g.waiting, c)
	enough := len(g.waiting) >= g.wanted
	g.mu.Unlock()
	if enough {
		g.signal()
	}
	select {
	case <-c.result:
	case <-ctx.Done():
		if c.taken.CompareAndSwap(false, true) {
			return ctx.Err()
		}
		<-c.result
	}
	return c.err
}

func (g *group) signal() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

func (g *group) close() {
	g.mu.Lock()
	g.closed = true
	g.mu.Unlock()
	g.signal()
	<-g.done
}

func (g *group) loop() {
	defer close(g.done)
	for range g.wake {
		for {
			batch, closed := g.take()
			if len(batch) == 0 {
				if closed {
					return
				}
				break
			}
			began := time.Now()
			g.commit(batch)
			g.gather(len(batch), min(max(time.Since(began), minGather), maxGather))
		}
	}
}

// gather waits until the callers of the last commit have come again, beside those who wait already, or for as long as
// limit. Then one alone is enough again.
func (g *group) gather(answered int, limit time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wanted = min(answered+len(g.waiting), maxGroup)
	if g.wanted > 1 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		for over := false; !over && !g.closed && len(g.waiting) < g.wanted; {
			g.mu.Unlock()
			select {
			case <-g.wake: // perhaps of before
			case <-timer.C:
				over = true
			}
			g.mu.Lock()
		}
	}
	g.wanted = 1
}

// take returns the changes that wait, without those whose callers gave up.
func (g *group) take() (batch []*change, closed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := min(len(g.waiting), maxGroup)
	for _, c := range g.waiting[:n] {
		if c.taken.CompareAndSwap(false, true) {
			batch = append(batch, c)
		}
	}
	rest := copy(g.waiting, g.waiting[n:])
	clear(g.waiting[rest:])
	g.waiting = g.waiting[:rest]
	return batch, g.closed && rest == 0
}

// errNothing rolls back a transaction in which nothing was written, which spares the disk.
var errNothing = errors.New("nothing written")

// commit runs the changes in one transaction. One that fails after it has written is taken out, and the others run again.
func (g *group) commit(batch []*change) {
	for len(batch) > 0 {
		failed := -1
		err := g.update(batch, &failed)
		if failed >= 0 {
			close(batch[failed].result)
			batch = append(batch[:failed], batch[failed+1:]...)
			continue
		}
		for _, c := range batch {
			// Where the commit failed, even an answer like "not found" may rest on what another change had written.
			if err != nil {
				c.err = err
			}
			close(c.result)
		}
		return
	}
}

func (g *group) update(batch []*change, failed *int) (err error) {
	defer asError(&err)
	err = g.db.Update(func(tx *bbolt.Tx) error {
		t, wrote := &writeTx{tx: tx}, false
		for i, c := range batch {
			t.wrote = false
			c.err = runChange(c, t)
			if c.err != nil && t.wrote {
				*failed = i
				return c.err
			}
			wrote = wrote || t.wrote
		}
		if !wrote {
			return errNothing
		}
		return nil
	})
	switch {
	case errors.Is(err, errNothing):
		return nil
	case errors.Is(err, bolterrors.ErrDatabaseNotOpen):
		return errClosed
	}
	return err
}

// runChange turns a panic into an error of this change alone. What it may have written is rolled back.
func runChange(c *change, t *writeTx) (err error) {
	defer asError(&err)
	return c.run(t)
}
