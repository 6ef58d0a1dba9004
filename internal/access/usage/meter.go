package usage

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// DefaultFlush is the default flush interval. A kill loses the counts since the last flush.
	DefaultFlush = 10 * time.Second
	// closeFlush is the flush interval of organizations with a quota that is nearly used up.
	closeFlush = time.Second
	// sweepEvery is how often old usage is removed.
	sweepEvery = time.Minute
	// storeTimeout is the timeout of a call of the store.
	storeTimeout = 5 * time.Second
	// idleAfter is how long the Counter of an idle account is kept.
	idleAfter = 10 * 60 // seconds
	// flushSize is the approximate number of counts in one flush. Further counts follow in the next one, at once.
	flushSize = 20_000
)

// Meter counts the use of accounts in memory, and compares it with their quotas. It belongs to one Store, and lives as
// long as that.
//
// A request locks its account's Counter, and the organization if that has quotas. Counts stay there until a flush takes
// them. The use of a quota is the total in the store at the last flush plus the counts since. On one server it is
// exact. On several, it lacks the counts that others have not flushed.
type Meter struct {
	store  Store
	now    func() time.Time // by the clock that all servers share
	notify func(Reached)
	node   string // identifies this process in the store
	start  time.Time

	every atomic.Int64 // time.Duration between two flushes
	keep  atomic.Pointer[Retention]

	mu            sync.Mutex
	organizations map[string]*organization

	// flushing is a lock for flushes and for reading totals. It guards the next two fields.
	flushing chan struct{}
	number   uint64
	pending  *Flush // sent without success; it may have arrived

	failing atomic.Int64 // when flushes began to fail, in Unix nanoseconds; 0 if they succeed
}

// organization counts for an organization as a whole, and has the Counters of its accounts.
type organization struct {
	tally
	// flushes is the number of flushes. Its parity separates counts that the next flush takes from later ones, so that a
	// request counts for its account and for its organization in the same flush.
	flushes  atomic.Uint32
	counters map[string]*Counter // by account; guarded by Meter.mu
}

// Reached is the event that the use of a quota has reached the level of its mark: 80 or 100 percent.
type Reached struct {
	Mark
	Used int64
	End  time.Time // of the window
}

// NewMeter returns a Meter for a store, with the clock that all processes with that store share. It calls notify, which
// may be nil and must not block, when a level of a quota is reached.
func NewMeter(store Store, now func() time.Time, notify func(Reached)) *Meter {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never returns an error
	m := &Meter{store: store, now: now, notify: notify, node: hex.EncodeToString(id[:]), start: now(),
		organizations: make(map[string]*organization), flushing: make(chan struct{}, 1)}
	m.Configure(DefaultFlush, DefaultRetention)
	return m
}

// Configure sets the flush interval, and how long the store keeps usage.
func (m *Meter) Configure(every time.Duration, keep Retention) {
	m.every.Store(int64(every))
	m.keep.Store(&keep)
}

// Counter returns the Counter of an account.
func (m *Meter) Counter(name, id string) *Counter {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.organizations[name]
	if o == nil {
		o = &organization{counters: make(map[string]*Counter)}
		o.begin(Subject{Organization: name}, m.start)
		m.organizations[name] = o
	}
	c := o.counters[id]
	if c == nil {
		c = &Counter{meter: m, organization: o, used: m.now().Unix()}
		c.begin(Subject{name, id}, m.start)
		o.counters[id] = c
	}
	return c
}

// Run flushes, and removes old usage, until ctx ends. Call Flush afterwards for the last counts. It calls failed with
// each error, and tries again.
func (m *Meter) Run(ctx context.Context, failed func(what string, err error)) {
	ticker := time.NewTicker(closeFlush)
	defer ticker.Stop()
	flushed, swept := time.Now(), time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		all := time.Since(flushed) > time.Duration(m.every.Load())-closeFlush/2 // ticks can be early or late
		if all {
			flushed = time.Now()
		}
		if err := m.flush(ctx, all); err != nil && ctx.Err() == nil {
			failed("flushing usage to the store", err)
		}
		if time.Since(swept) >= sweepEvery {
			swept = time.Now()
			if err := m.store.SweepUsage(ctx, *m.keep.Load()); err != nil && ctx.Err() == nil {
				failed("removing old usage", err)
			}
		}
	}
}

// Flush sends all counts from before the call to the store.
func (m *Meter) Flush(ctx context.Context) error { return m.flush(ctx, true) }

// Waiting is how long flushes have been failing; 0 if they succeed.
func (m *Meter) Waiting() time.Duration {
	if since := m.failing.Load(); since != 0 {
		return time.Since(time.Unix(0, since))
	}
	return 0
}

// Unflushed returns the number of requests that the store does not have yet. A request under two scopes counts twice.
// It waits for a running flush.
func (m *Meter) Unflushed() (requests int64) {
	m.flushing <- struct{}{}
	defer m.end()
	if m.pending != nil {
		for _, n := range m.pending.Counts {
			requests += n.Requests
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, o := range m.organizations {
		for _, c := range o.counters {
			c.mu.Lock()
			for _, counts := range c.counts {
				for _, n := range counts {
					requests += n.Requests
				}
			}
			c.mu.Unlock()
		}
	}
	return requests
}
