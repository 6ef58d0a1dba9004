package usage

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// Counter counts for one account. Whoever keeps an access token keeps its account's Counter with it.
//
// Requests add to its cells, each flush takes what they hold. The counts of a minute are kept apart from those of the
// minute before and after, so that a flush knows the minute, and with it the hour, of what it takes.
type Counter struct {
	*ledger      // of the account
	organization *ledger
	until        time.Duration // when nobody keeps it any more, after the meter was born; for the registry

	dirty   atomic.Bool // in the list of the meter, or about to be
	next    *Counter    // in that list
	minutes [2]atomic.Int64
	cells   [len(account.AllScopes)][2]cell // by scope, and by whether the minute is odd

	mu    sync.Mutex // for what follows, and for emptying cells
	aside []waiting  // that is of no minute of the cells, with start in seconds
}

// cell holds counts that were not flushed yet. The units are the requests and extra, so that a request adds once.
type cell struct{ requests, refused, errors, extra atomic.Int64 }

// half returns which cells a minute uses.
func (c *Counter) half(minute int64) int64 {
	odd := minute & 1
	if c.minutes[odd].Load() != minute {
		c.begin(minute, odd)
	}
	return odd
}

// begin gives cells to another minute. Mostly they are empty, but a clock that was set, or a process that was stopped,
// may leave what no flush took.
func (c *Counter) begin(minute, odd int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.minutes[odd].Load()
	if was == minute {
		return
	}
	for scope := range c.cells {
		if u := c.cells[scope][odd].empty(); u != (account.Usage{}) {
			c.aside = gather(c.aside, waiting{scope, was * 60, u}, mostHours, true)
		}
	}
	c.minutes[odd].Store(minute)
}

// pass counts a request.
func (c *Counter) pass(scopes account.ScopeSet, minute int64) {
	c.each(scopes, c.half(minute), func(cell *cell) { cell.requests.Add(1) })
}

// refuse counts a request that was refused.
func (c *Counter) refuse(scopes account.ScopeSet, minute int64) {
	c.each(scopes, c.half(minute), func(cell *cell) { cell.refused.Add(1) })
}

// extra counts units beyond one for each request.
func (c *Counter) extra(scopes account.ScopeSet, minute, units int64) {
	c.each(scopes, c.half(minute), func(cell *cell) { cell.extra.Add(units) })
}

// fail counts that a request of a minute was answered 5xx. After a long time it is an error of a later minute.
func (c *Counter) fail(scopes account.ScopeSet, minute int64) {
	c.each(scopes, minute&1, func(cell *cell) { cell.errors.Add(1) })
}

func (c *Counter) each(scopes account.ScopeSet, odd int64, add func(*cell)) {
	for ; scopes != 0; scopes &= scopes - 1 {
		add(&c.cells[bits.TrailingZeros8(uint8(scopes))][odd])
	}
	c.touch()
}

// takeBack counts a request of a minute as refused that had passed. It may be long ago, so the minute is written down:
// taken from another one, whose window may be another, it would make room there.
func (c *Counter) takeBack(scopes account.ScopeSet, minute int64) {
	c.mu.Lock()
	for ; scopes != 0; scopes &= scopes - 1 {
		w := waiting{bits.TrailingZeros8(uint8(scopes)), minute * 60, account.Usage{Requests: -1, Refused: 1, Units: -1}}
		c.aside = gather(c.aside, w, mostHours, true)
	}
	c.mu.Unlock()
	c.touch()
}

// touch puts the counter into the list of those that the next flush drains. What was counted before is drained then.
func (c *Counter) touch() {
	if !c.dirty.Load() {
		c.enlist()
	}
}

func (c *Counter) enlist() {
	if !c.dirty.CompareAndSwap(false, true) {
		return
	}
	for list := &c.meter.changed; ; {
		c.next = list.Load()
		if list.CompareAndSwap(c.next, c) {
			return
		}
	}
}

// drain takes what was counted, and hands it on by scope and minute.
func (c *Counter) drain(take func(scope int, minute int64, u account.Usage)) {
	c.dirty.Store(false) // before the cells are read: what is added later enlists the counter again
	c.mu.Lock()
	defer c.mu.Unlock()
	for odd := range c.minutes {
		minute := c.minutes[odd].Load()
		for scope := range c.cells {
			if u := c.cells[scope][odd].empty(); u != (account.Usage{}) {
				take(scope, minute, u)
			}
		}
	}
	for _, w := range c.aside {
		take(w.scope, w.start/60, w.Usage)
	}
	c.aside = c.aside[:0]
}

func (c *cell) empty() account.Usage {
	u := account.Usage{Requests: swap(&c.requests), Refused: swap(&c.refused), Errors: swap(&c.errors),
		Units: swap(&c.extra)}
	u.Units += u.Requests
	return u
}

// swap empties a count. Most are empty, and reading is cheaper than writing.
func swap(n *atomic.Int64) int64 {
	if n.Load() == 0 {
		return 0
	}
	return n.Swap(0)
}
