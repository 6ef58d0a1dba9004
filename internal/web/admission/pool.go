// Package admission decides which request may use what there is little of: processors, memory for bodies, places at
// another service. Each is shared fairly between organizations, and what an organization gets between its accounts, so
// that no number of requests or accounts of one organization keeps another waiting, and nobody waits longer than a
// limit.
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

// Caller is for whom a share is counted.
type Caller struct{ Organization, Account string }

// Pool is a number of units, such as slots or bytes, that requests hold for a while. Where there are not enough for
// all, callers get them in turn by hierarchical start-time fair queuing (Goyal, Vin and Cheng 1996): the next units go
// to the organization that has used the least since it began to compete, within it to the account of which the same
// is true, and within an account to the request that came first.
//
// While nobody waits, it costs one atomic operation to take a few units and one to give them back.
type Pool struct {
	// few is how many units a request may take without regard to what its caller holds. Of more, an account holds no more
	// than what is left free beside it: half of the units where it is alone, a third where there are two, and so on (the
	// dynamic thresholds of Choudhury and Hahne 1998). An organization holds no more than twice what is left free, two
	// thirds of the units where it is alone, however many accounts it has.
	few int64
	// refused, where it is set, is called for each request that is refused with an OverloadError.
	refused func()
	// nominal is what a request is taken to use until it has said what it did.
	nominal int64

	size   atomic.Int64
	free   atomic.Int64
	queued atomic.Int64 // requests that wait
	mean   atomic.Int64 // of the time for which units are held, in nanoseconds

	mu   sync.Mutex
	root node // its children are organizations, whose children are accounts
}

// waiter is a request that waits.
type waiter struct {
	from    int64 // units that it holds already, of those that it wants
	units   int64
	granted chan struct{} // closed when it gets its units
	has     bool          // whether it has got them
	again   bool          // whether it has had them before (Yield)
}

// NewSlots returns a pool of slots that are soon given back, or given up for others when that is asked for (Yield). A
// slot is taken to cost its caller so much until its holder says what it has used. refused, unless it is nil, is
// called for each request that is refused.
func NewSlots(slots int, nominal int64, refused func()) *Pool {
	return newPool(int64(slots), nominal, math.MaxInt64, refused)
}

// NewBudget returns a pool of units that are held for a long time, or for as long as a client pleases that sends a
// body. So that none can hold all, an account holds no more than what is left free beside it, and an organization no
// more than twice that. Requests for few units are exempt.
func NewBudget(units, few int64, refused func()) *Pool { return newPool(units, 0, few, refused) }

func newPool(size, nominal, few int64, refused func()) *Pool {
	p := &Pool{few: few, refused: refused, nominal: nominal}
	p.size.Store(size)
	p.free.Store(size)
	return p
}

// Resize changes how many units there are. Those that are held stay so.
func (p *Pool) Resize(size int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free.Add(size - p.size.Swap(size))
	p.dispatch()
}

// Held is how many units are held.
func (p *Pool) Held() int64 { return p.size.Load() - p.free.Load() }

// Waiting is how many requests wait.
func (p *Pool) Waiting() int64 { return p.queued.Load() }

// OverloadError is the refusal of a request that would have to wait for too long.
type OverloadError struct {
	// RetryAfter is when it is worth to try again, in whole seconds.
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

// Acquire takes units for a request, all at once, and waits for them no longer than limit. More units than there are
// can be had while nobody holds any. The error is an *OverloadError, at once where the queue of the account is longer
// than the limit already, or the context's.
func (p *Pool) Acquire(ctx context.Context, c Caller, units int64, limit time.Duration) error {
	return p.Grow(ctx, c, 0, units, limit)
}

// Grow is Acquire for a request that holds so many units already, and wants so many altogether. Where it returns an
// error, the request holds what it held before.
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

// TryGrow is Grow if that can be had without waiting.
func (p *Pool) TryGrow(c Caller, from, to int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.grant(p.account(c), from, to)
}

// Release gives units back. used is what the request did with them, in the unit of NewSlots' nominal cost.
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

// Reduce gives back a part of what a request acquired, so that it holds so many units less than before.
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

// Yield gives a slot up for a while if others wait whose turn it is, and waits for another, as Acquire does. used is
// what the request has done since it got the slot, or since it last called Yield. Where it returns an error, the
// request has no slot any more.
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
	// It goes before all others of its account: what it has done so far takes memory.
	return p.await(ctx, c, a, &waiter{units: 1, again: true}, 0, limit)
}

// Observe tells for how long a request held what it acquired. From that the waits of others are estimated.
func (p *Pool) Observe(held time.Duration) {
	const past = 8 // how many requests of the past weigh as much as the present one
	mean := p.mean.Load()
	if mean == 0 {
		p.mean.CompareAndSwap(0, int64(held))
		return
	}
	p.mean.CompareAndSwap(mean, mean+(int64(held)-mean)/past) // one of two at once is enough
}

// expected is how long another request of an account would wait for those of the same account that wait already, if
// units come back as they did so far, and each organization that waits, and each account of this one, gets its turn.
// mu is held.
func (p *Pool) expected(a *node) time.Duration {
	var ahead int64
	for _, w := range a.queue {
		ahead += w.units - w.from
	}
	turns := float64(len(p.root.waiting)) * float64(len(a.parent.waiting))
	return time.Duration(float64(ahead) * turns * float64(p.mean.Load()) / float64(max(1, p.Held())))
}

// await puts a request at a place of its account's queue and waits until it has its units. mu is held, and given up.
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
	if w.has { // in the same moment
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

// dispatch gives units to those who wait, as far as there are any. mu is held.
func (p *Pool) dispatch() {
	for p.queued.Load() > 0 && p.free.Load() > 0 {
		a := p.next(&p.root)
		if a == nil {
			return
		}
		w, began := a.queue[0], [...]int64{a.start, a.parent.start}
		if !p.grant(a, w.from, w.units) {
			continue // one that found nobody waiting was faster
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

// next returns the account below n that is to be served next, of those that may have what they wait for; nil if there
// is none. mu is held.
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

// may reports whether an account may have so many units instead of those that the request holds. mu is held.
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

// grant gives an account units if it may have them. mu is held.
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

// take takes units if so many are free.
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
