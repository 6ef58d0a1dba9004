package bolt

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// maxGroup is how many changes share one commit at most; more would make the first of them wait for the others' work.
const maxGroup = 512

// The wait for more changes takes no longer than the commit before it, within these bounds.
const (
	minGather = 2 * time.Millisecond
	maxGather = 10 * time.Millisecond
)

// group gathers changes while a commit is on its way to the disk, and makes the next commit of all of them. Under
// load it also waits a moment for those whom the last commit has answered to come again: two half-full commits,
// taking turns, would cost nearly twice as much. A change that comes alone is committed at once.
type group struct {
	file    *handle
	damage  *damageLog
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
	*view
	tallies tallies
	wrote   bool
}

func newWriteTx(tx *bbolt.Tx, sums *pageSums) (*writeTx, error) {
	t := &writeTx{view: newView(tx, sums)}
	if err := t.check(metaBucket, talliesKey, false); err != nil {
		return nil, err
	}
	var err error
	t.tallies, _, err = decodeTallies(tx.Bucket(metaBucket).Get(talliesKey))
	return t, err
}

// errUnchanged: a key is to hold what it does.
var errUnchanged = errors.New("unchanged")

// update replaces what a key holds, nil for nothing, by what change makes of it, unless that is errUnchanged.
func (t *writeTx) update(bucket, key []byte, change func(before []byte) (after []byte, err error)) error {
	before, sum, err := t.lookUp(bucket, key, false)
	if err != nil {
		return err
	}
	after, err := change(before)
	switch {
	case err == errUnchanged:
		return nil
	case err != nil:
		return err
	case after == nil:
		return t.remove(bucket, key)
	case before != nil:
		t.tallies.of(bucket).remove(sum)
	}
	return t.add(bucket, key, after)
}

// isFree returns ErrExists if there is such a key.
func (t *writeTx) isFree(bucket, key []byte) error {
	if there, err := t.get(bucket, key); err != nil || there == nil {
		return err
	}
	return account.ErrExists
}

func (t *writeTx) put(bucket, key, payload []byte) error {
	if payload == nil {
		payload = []byte{}
	}
	return t.update(bucket, key, func([]byte) ([]byte, error) { return payload, nil })
}

// add is put for a key that isFree has just found to be free.
func (t *writeTx) add(bucket, key, payload []byte) error {
	value, sum := seal(bucket, key, payload)
	t.tallies.of(bucket).add(sum)
	t.wrote = true
	return t.tx.Bucket(bucket).Put(key, value)
}

// remove also needs the pages beside: bbolt merges what has become small.
func (t *writeTx) remove(bucket, key []byte) error {
	before, sum, err := t.lookUp(bucket, key, true)
	if err != nil || before == nil {
		return err
	}
	t.tallies.of(bucket).remove(sum)
	t.wrote = true
	return t.tx.Bucket(bucket).Delete(key)
}

func newGroup(file *handle, damage *damageLog) *group {
	g := &group{file: file, damage: damage, wanted: 1, wake: make(chan struct{}, 1), done: make(chan struct{})}
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
	debug.SetPanicOnFault(true) // a mapped file may be cut short
	for range g.wake {
		for {
			batch, left, closed := g.take()
			if len(batch) == 0 {
				if left > 0 {
					continue // the callers of all those gave up
				}
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

// take returns changes that wait, without those whose callers gave up, and how many wait still.
func (g *group) take() (batch []*change, left int, closed bool) {
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
	return batch, rest, g.closed
}

// errNothing rolls back a transaction in which nothing was written, which spares the disk.
var errNothing = errors.New("nothing written")

// commit runs the changes in one transaction. One that fails after it has written is taken out, and the others
// run again.
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

func (g *group) update(batch []*change, failed *int) error {
	tx, err := g.file.begin(true)
	if err != nil {
		g.damage.see(err)
		return err
	}
	if err = g.runAll(tx, batch, failed); err == nil {
		err = g.file.commit(tx)
	}
	if endErr := g.file.end(tx); endErr != nil {
		g.damage.see(endErr)
		return endErr
	}
	if errors.Is(err, errNothing) {
		return nil
	}
	g.damage.see(err)
	g.damage.see(g.follow())
	return err
}

// runAll runs the changes, and writes down how many records there are then.
func (g *group) runAll(tx *bbolt.Tx, batch []*change, failed *int) (err error) {
	defer asError(&err)
	t, err := newWriteTx(tx, g.file.sums)
	if err != nil {
		return err
	}
	wrote := false
	for i, c := range batch {
		t.wrote = false
		c.err = runChange(c, t)
		g.damage.see(c.err)
		if c.err != nil && t.wrote {
			*failed = i
			return c.err
		}
		wrote = wrote || t.wrote
	}
	if !wrote {
		return errNothing
	}
	return tx.Bucket(metaBucket).Put(talliesKey, t.tallies.encode(tx.ID()))
}

// follow learns which pages the commit wrote, and does so too where it failed: a failed one may have got as far
// as to be seen.
func (g *group) follow() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = g.file.lose("what a change wrote cannot be read", p)
		}
	}()
	tx, err := g.file.begin(false)
	if err != nil {
		return g.file.lose("what a change wrote cannot be read", err)
	}
	return errors.Join(g.file.sums.follow(tx), g.file.end(tx))
}

// runChange turns a panic into an error of this change alone. What it may have written is rolled back.
func runChange(c *change, t *writeTx) (err error) {
	defer asError(&err)
	return c.run(t)
}
