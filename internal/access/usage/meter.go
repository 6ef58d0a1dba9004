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
	// DefaultFlush is how often counts are handed to the store, and so what a kill may lose.
	DefaultFlush = 10 * time.Second
	// closeFlush is the same for organizations in which a quota is nearly used up.
	closeFlush = time.Second
	// sweepEvery is how often old usage is removed.
	sweepEvery = time.Minute
	// storeTimeout bounds a call of the store.
	storeTimeout = 5 * time.Second
	// idleAfter is how long the counter of an account that is not used is kept.
	idleAfter = 10 * 60 // seconds
	// flushSize is about how many counts one flush holds. More follow in the next, at once.
	flushSize = 20_000
)

// Meter counts what accounts use, in memory, and compares it with their quotas. It belongs to one Store, and outlives
// configurations as that does.
//
// A request locks its account's Counter, and, if the organization has quotas, the organization for a moment. What was
// counted waits there until a flush takes it. How much of a quota is used is what the store said after the last flush,
// and what was counted since: exact on one server, and on several up to what the others have not flushed yet.
type Meter struct {
	store Store
	now   func() time.Time // by the clock that all servers share
	hear  func(Reached)
	node  string // tells this process apart in the store
	start time.Time

	every atomic.Int64 // time.Duration between two flushes
	keep  atomic.Pointer[Retention]

	mu            sync.Mutex
	organizations map[string]*organization

	// flushing is held while a flush or a look at the totals goes on. What follows belongs to its holder.
	flushing chan struct{}
	number   uint64
	pending  *Flush // was sent, and may have arrived

	failing atomic.Int64 // since when the store does not take the counts, in Unix nanoseconds; 0 if it does
}

// organization is what is counted for an organization as a whole, and the Counters of its accounts.
type organization struct {
	tally
	// turn tells counts that the next flush takes (even or odd) from those that come after it. It changes while no
	// Counter is locked, so that a request counts for its account and for its organization in the same turn.
	turn     atomic.Uint32
	counters map[string]*Counter // by account; guarded by Meter.mu
}

// Reached says that a quota was used to the level of its mark: 80 or 100 percent.
type Reached struct {
	Mark
	Used int64
	End  time.Time // of the window
}

// NewMeter begins to count for a store, by a clock that all processes with that store share. hear, which may be nil, is
// told when a level of a quota was reached; it must not block.
func NewMeter(store Store, now func() time.Time, hear func(Reached)) *Meter {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	m := &Meter{store: store, now: now, hear: hear, node: hex.EncodeToString(id[:]), start: now(),
		organizations: make(map[string]*organization), flushing: make(chan struct{}, 1)}
	m.Configure(DefaultFlush, DefaultRetention)
	return m
}

// Configure sets how often counts are handed to the store, and how long the store keeps them.
func (m *Meter) Configure(every time.Duration, keep Retention) {
	m.every.Store(int64(every))
	m.keep.Store(&keep)
}

// Counter returns the one of an account.
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

// Run flushes and sweeps until ctx ends. What was counted since the last flush is left to Flush then. failed hears of
// what cannot be done; it is tried again.
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
		all := time.Since(flushed) > time.Duration(m.every.Load())-closeFlush/2 // ticks come early and late
		if all {
			flushed = time.Now()
		}
		if err := m.flush(ctx, all); err != nil && ctx.Err() == nil {
			failed("handing usage to the store", err)
		}
		if time.Since(swept) >= sweepEvery {
			swept = time.Now()
			if err := m.store.SweepUsage(ctx, *m.keep.Load()); err != nil && ctx.Err() == nil {
				failed("removing old usage", err)
			}
		}
	}
}

// Flush hands everything that was counted before the call to the store.
func (m *Meter) Flush(ctx context.Context) error { return m.flush(ctx, true) }

// Waiting is how long the store has not taken what was counted; 0 if it does.
func (m *Meter) Waiting() time.Duration {
	if since := m.failing.Load(); since != 0 {
		return time.Since(time.Unix(0, since))
	}
	return 0
}

// Unflushed is how many requests the store does not have yet. A request that counts under two scopes is two. It waits
// for a flush that is under way.
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
			for _, turn := range c.counts {
				for _, n := range turn {
					requests += n.Requests
				}
			}
			c.mu.Unlock()
		}
	}
	return requests
}
