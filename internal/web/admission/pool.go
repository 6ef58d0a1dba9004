// Package admission shares scarce resources between requests: processors, memory for bodies, calls of upstream
// services. Each is shared fairly between organizations, and within an organization between its accounts, so that many
// requests of one do not delay those of others. A request that would wait too long is refused with an OverloadError.
//
// Start with Pool; Bodies and Processors use it. Rates limits how often clients and accounts may ask. Quotas are in
// package usage.
package admission

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Caller identifies whose share a request uses.
type Caller struct{ Organization, Account string }

// Pool is a number of units, such as slots or bytes, that requests hold for a while. If there are not enough, requests
// wait, and get units by hierarchical start-time fair queuing (Goyal, Vin and Cheng 1996): next is the organization
// that has used the least since it began to compete, within it the account for which the same is true, and within that
// the first request.
//
// While no request waits, taking and releasing a few units costs one atomic operation each.
type Pool struct {
	// few is the number of units up to which a request is not limited by what its caller holds. Beyond it, an account
	// holds no more than is left free: half of the units if it is the only one, a third if there are two, and so on (the
	// dynamic thresholds of Choudhury and Hahne 1998). An organization holds no more than twice what is left free: two
	// thirds of the units if it is the only one.
	few int64
	// refused, if not nil, is called for each request that is refused with an OverloadError.
	refused func()
	// nominal is the assumed cost of a request until it is known.
	nominal int64

	size   atomic.Int64
	free   atomic.Int64
	queued atomic.Int64 // requests that wait
	mean   atomic.Int64 // time for which units are held, in nanoseconds

	mu   sync.Mutex
	root node // its children are organizations, whose children are accounts
}

// waiter is a request that waits.
type waiter struct {
	from    int64 // units that it already holds
	units   int64
	granted chan struct{} // closed when it gets its units
	has     bool          // whether it has them
	again   bool          // whether it waits again (Yield)
}

// NewSlots returns a pool of slots that are held for a short time, or yielded regularly (Yield). nominal is the assumed
// cost of a request until it is known. refused, if not nil, is called for each request that is refused.
func NewSlots(slots int, nominal int64, refused func()) *Pool {
	return newPool(int64(slots), nominal, math.MaxInt64, refused)
}

// NewBudget returns a pool of units that may be held for long, such as by a slow client. So that no caller holds all,
// an account holds no more than is left free, and an organization no more than twice that. Requests for at most few
// units are exempt.
func NewBudget(units, few int64, refused func()) *Pool { return newPool(units, 0, few, refused) }

func newPool(size, nominal, few int64, refused func()) *Pool {
	p := &Pool{few: few, refused: refused, nominal: nominal}
	p.size.Store(size)
	p.free.Store(size)
	return p
}

// Resize changes the number of units. It takes none from requests that hold them.
func (p *Pool) Resize(size int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free.Add(size - p.size.Swap(size))
	p.dispatch()
}

// Held is the number of units in use.
func (p *Pool) Held() int64 { return p.size.Load() - p.free.Load() }

// Waiting is the number of requests that wait.
func (p *Pool) Waiting() int64 { return p.queued.Load() }

// OverloadError is the error for a request that would have to wait too long.
type OverloadError struct {
	// RetryAfter is when the client should try again, in whole seconds.
	RetryAfter time.Duration
}

// Error implements error.
func (e *OverloadError) Error() string {
	return fmt.Sprintf("too many requests are under way; try again in %v", e.RetryAfter)
}

func (p *Pool) overloaded(wait time.Duration) error {
	if p.refused != nil {
		p.refused()
	}
	return &OverloadError{max(time.Second, wait.Round(time.Second))}
}

// Acquire takes units for a request, and waits for them no longer than limit. A request for more units than there are
// gets them when none are in use. The error is that of the context, or an *OverloadError, which is returned at once if
// the queue of the account is longer than limit.
func (p *Pool) Acquire(ctx context.Context, c Caller, units int64, limit time.Duration) error {
	return p.Grow(ctx, c, 0, units, limit)
}

// Grow is Acquire for a request that already holds some units, and needs more. After an error, it holds what it held
// before.
func (p *Pool) Grow(ctx context.Context, c Caller, from, to int64, limit time.Duration) error {
	if to <= p.few && p.queued.Load() == 0 && p.take(to-from) {
		return nil
	}
	p.mu.Lock()
	a := p.account(c)
	if expected := p.expected(a); expected > limit {
		p.mu.Unlock()
		return p.overloaded(expected)
	}
	return p.await(ctx, c, a, &waiter{from: from, units: to}, len(a.queue), limit)
}

// TryGrow is Grow without waiting. It reports whether it succeeded.
func (p *Pool) TryGrow(c Caller, from, to int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.grant(p.account(c), from, to)
}

// Release returns units. used is the cost of the request, in the unit of the nominal cost of NewSlots.
func (p *Pool) Release(c Caller, units, used int64) {
	if units <= p.few {
		p.free.Add(units)
		if p.queued.Load() == 0 {
			return
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	a := p.account(c)
	if units > p.few {
		p.free.Add(units)
		a.hold(-units)
	}
	p.charge(a, used-p.nominal)
	p.dispatch()
}

// Reduce returns some of the units that a request holds.
func (p *Pool) Reduce(c Caller, from, to int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch a := p.account(c); {
	case to > p.few:
		a.hold(to - from)
	case from > p.few:
		a.hold(-from)
	}
	p.free.Add(from - to)
	p.dispatch()
}

// Yield returns a slot if another caller is next, and waits for another slot as Acquire does. used is the cost of the
// request since it got the slot or last called Yield. After an error, the request has no slot.
func (p *Pool) Yield(ctx context.Context, c Caller, used int64, limit time.Duration) error {
	if p.queued.Load() == 0 {
		return nil
	}
	p.mu.Lock()
	a := p.account(c)
	p.charge(a, used)
	if !a.behind() && !a.parent.behind() {
		p.mu.Unlock()
		return nil
	}
	p.free.Add(1)
	// It is the first of its account, since it already uses memory.
	return p.await(ctx, c, a, &waiter{units: 1, again: true}, 0, limit)
}

// Observe records how long a request held its units, for estimates of waiting times.
func (p *Pool) Observe(held time.Duration) {
	const past = 8 // the weight of past requests, that of the current one being 1
	mean := p.mean.Load()
	if mean == 0 {
		p.mean.CompareAndSwap(0, int64(held))
		return
	}
	p.mean.CompareAndSwap(mean, mean+(int64(held)-mean)/past) // of concurrent ones, one is enough
}

// expected estimates how long a request of an account would wait behind the others of the account, if units are
// returned as before, and each waiting organization, and each waiting account of this one, gets its share. mu is
// locked.
func (p *Pool) expected(a *node) time.Duration {
	var ahead int64
	for _, w := range a.queue {
		ahead += w.units - w.from
	}
	turns := float64(len(p.root.waiting)) * float64(len(a.parent.waiting))
	return time.Duration(float64(ahead) * turns * float64(p.mean.Load()) / float64(max(1, p.Held())))
}

// await inserts a request into the queue of its account and waits for its units. mu is locked, and unlocked here.
func (p *Pool) await(ctx context.Context, c Caller, a *node, w *waiter, place int, limit time.Duration) error {
	p.enqueue(a, w, place)
	p.dispatch()
	if w.has {
		p.mu.Unlock()
		return nil
	}
	w.granted = make(chan struct{})
	p.mu.Unlock()

	timer := time.NewTimer(limit)
	defer timer.Stop()
	var err error
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-timer.C:
		err = p.overloaded(limit)
	}
	p.mu.Lock()
	if w.has { // granted just now
		p.mu.Unlock()
		if w.from > 0 {
			p.Reduce(c, w.units, w.from)
		} else {
			p.Release(c, w.units, 0)
		}
		return err
	}
	defer p.mu.Unlock()
	p.dequeue(a, slices.Index(a.queue, w))
	return err
}

// dispatch grants free units to requests that wait. mu is locked.
func (p *Pool) dispatch() {
	for p.queued.Load() > 0 && p.free.Load() > 0 {
		a := p.next(&p.root)
		if a == nil {
			return
		}
		w, began := a.queue[0], [...]int64{a.start, a.parent.start}
		if !p.grant(a, w.from, w.units) {
			continue // a request that did not have to wait was faster
		}
		a.parent.now, p.root.now = max(a.parent.now, began[0]), max(p.root.now, began[1])
		if !w.again {
			p.charge(a, p.nominal)
		}
		p.dequeue(a, 0)
		w.has = true
		if w.granted != nil {
			close(w.granted)
		}
	}
}

// next returns the account below n that is next, of those that may have the units they wait for; nil if there is none.
// mu is locked.
func (p *Pool) next(n *node) (account *node) {
	if len(n.queue) > 0 {
		if w := n.queue[0]; p.may(n, w.from, w.units) {
			return n
		}
		return nil
	}
	var first *node
	for _, child := range n.waiting {
		if first == nil || child.start < first.start {
			if a := p.next(child); a != nil {
				first, account = child, a
			}
		}
	}
	return account
}

// may reports whether a request of an account may grow from some units to others. mu is locked.
func (p *Pool) may(a *node, from, to int64) bool {
	free, more := p.free.Load()+from, to
	if to <= p.few {
		return free >= to
	}
	if from > p.few {
		more -= from
	}
	left := free - to
	return a.held+more <= left && a.parent.held+more <= 2*left || free >= p.size.Load()
}

// grant grows a request of an account if it may. mu is locked.
func (p *Pool) grant(a *node, from, to int64) bool {
	if to <= p.few {
		return p.take(to - from)
	}
	if !p.may(a, from, to) {
		return false
	}
	p.free.Add(from - to)
	if a.hold(to); from > p.few {
		a.hold(-from)
	}
	p.charge(a, to-from)
	return true
}

// take takes units if they are free.
func (p *Pool) take(units int64) bool {
	for {
		free := p.free.Load()
		if free < units {
			return false
		}
		if p.free.CompareAndSwap(free, free-units) {
			return true
		}
	}
}
