package usage

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	mathrand "math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// flushEvery is how often counts are handed to the store, and so what a crash may lose.
	flushEvery = time.Second
	// foldEvery is about how often hours that are over are summed up. Processes do so at different moments, as one does
	// it for all.
	foldEvery = time.Minute
	// storePatience bounds any other call of the store than those that fold, so that Counters are drained often even where
	// the store does not answer.
	storePatience = 5 * time.Second
	// foldPatience bounds one call that folds, which takes about a second.
	foldPatience = 30 * time.Second
)

// Meter counts what accounts use, in memory, and compares it with their quotas. It belongs to one Store, and outlives
// configurations as that does.
type Meter struct {
	store Store
	now   func() time.Time // by the clock of all processes, which may be set
	hear  func(Reached)
	// outcome is told what came of each task; it may be nil.
	outcome func(Task, error)

	steady func() time.Time // by a clock that nobody sets
	born   time.Time        // by that clock

	registry  registry
	changed   atomic.Pointer[Counter]
	keep      atomic.Pointer[Retention]
	unsettled atomic.Int64 // since when counts wait for a store that does not take them, after born; 0 if it does

	mu     sync.Mutex // for what follows
	next   *round     // the round that has not begun yet
	wanted []*tracked // whose use is to be asked for in it
	due    []Reached  // levels that were reached, and are not written down yet

	turn chan struct{} // holds one element while a round goes on, to which what follows belongs
	books
}

// NewMeter begins to count for a store, by a clock that all processes with that store share. hear, which may be nil,
// is told when a level of a quota was reached; it must not block.
func NewMeter(store Store, now func() time.Time, hear func(Reached)) *Meter {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	m := &Meter{store: store, now: now, hear: hear, turn: make(chan struct{}, 1), steady: time.Now,
		registry: newRegistry()}
	m.born = m.steady()
	m.node = hex.EncodeToString(id[:])
	m.Keep(DefaultRetention)
	return m
}

// Task is what a Meter has its Store do again and again.
type Task int

// The tasks. A flush fails as long as counts wait for it.
const (
	TaskFlush Task = iota
	TaskFold
	TaskMark
	Tasks // how many there are
)

// OnOutcome sets the function that hears how each task went, in particular again and again that it fails. It must not
// block, and is to be set before the Meter is used.
func (m *Meter) OnOutcome(outcome func(Task, error)) { m.outcome = outcome }

// report tells of a task, unless it was given up because the Meter ends.
func (m *Meter) report(ctx context.Context, task Task, err error) {
	if m.outcome != nil && ctx.Err() == nil {
		m.outcome(task, err)
	}
}

// Run flushes each second and folds from time to time, until ctx ends. What was counted since the last flush is left to
// Flush then.
func (m *Meter) Run(ctx context.Context) {
	var tasks sync.WaitGroup
	tasks.Go(func() { m.tend(ctx) })
	defer tasks.Wait()
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			_ = m.join().wait(ctx) // play tells of a store that is away
		}
	}
}

// tend does what may take its time: writing down that levels were reached, and folding.
func (m *Meter) tend(ctx context.Context) {
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	foldAt := time.Now().Add(mathrand.N(foldEvery))
	for {
		m.tell(ctx)
		if !time.Now().Before(foldAt) {
			if m.fold(ctx) {
				continue
			}
			foldAt = time.Now().Add(foldEvery/2 + mathrand.N(foldEvery))
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// fold reports whether there is more to do at once.
func (m *Meter) fold(ctx context.Context) bool {
	bounded, cancel := context.WithTimeout(ctx, foldPatience)
	defer cancel()
	more, err := m.store.FoldUsage(bounded, m.now(), *m.keep.Load())
	m.report(ctx, TaskFold, err)
	return more && err == nil
}

// Keep sets for how long the store keeps hours and days.
func (m *Meter) Keep(r Retention) { m.keep.Store(&r) }

// Waiting is for how long the oldest count has been waiting to be handed over, beyond the second that it always does;
// 0 while the store takes them.
func (m *Meter) Waiting() time.Duration {
	if since := m.unsettled.Load(); since != 0 {
		return m.age() - time.Duration(since)
	}
	return 0
}

// Pending is how many requests were counted that the store has not taken yet. One that counts under two scopes is two.
func (m *Meter) Pending() (requests int64) {
	m.turn <- struct{}{}
	defer func() { <-m.turn }()
	m.drain(m.takeChanged())
	add := func(l *ledger, counts []waiting) {
		if l.Account == "" {
			return // the sum of others
		}
		for _, w := range counts {
			requests += w.Requests
		}
	}
	for _, l := range m.waiting {
		add(l, l.hours)
	}
	if m.pending != nil {
		for _, l := range m.pending.ledgers {
			add(l, l.sentHours)
		}
	}
	return requests
}
