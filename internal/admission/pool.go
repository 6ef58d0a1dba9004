// Package admission decides which request may use what there is little of: processors, memory for bodies, places at
// another service. Each is shared fairly between accounts, so that no number of requests of one account keeps another
// waiting, and nobody waits longer than a limit.
package admission

import (
	"container/heap"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Pool is a number of units, such as slots or bytes, that requests hold for a while. Where there are not enough for
// all, accounts get them in turn by start-time fair queuing (Goyal, Vin and Cheng 1996): the next units go to the
// account that has used the least since it began to compete, and within an account to the request that came first.
//
// While nobody waits, it costs one atomic operation to take a few units and one to give them back.
type Pool struct {
	// few is how many units a request may take without regard to what its account holds. Of more, an account holds no more
	// than what is left free beside it: half of the units where it is alone, a third where there are two, and so on (the
	// dynamic thresholds of Choudhury and Hahne 1998).
	few int64
	// refused, where it is set, is called for each request that is refused with an OverloadError.
	refused func()
	// nominal is what a request is taken to use until it has said what it did.
	nominal int64

	size   atomic.Int64
	free   atomic.Int64
	queued atomic.Int64 // requests that wait
	mean   atomic.Int64 // of the time for which units are held, in nanoseconds

	mu      sync.Mutex
	shares  map[string]*share // by account
	waiting shareHeap         // those with requests that wait
	now     int64             // virtual time: that of the account which was served last
	arrived uint64            // how many requests have waited so far
	yielded int               // how many of those that wait have gone some of their way
}

// waiter is a request that waits.
type waiter struct {
	from    int64 // units that it holds already, of those that it wants
	units   int64
	arrived uint64        // its number
	granted chan struct{} // closed when it gets its units
	has     bool          // whether it has got them
	again   bool          // whether it has had them before (Yield)
}

// NewSlots returns a pool of slots that are soon given back, or given up for others when that is asked for (Yield). A
// slot is taken to cost its account so much until its holder says what it has used. refused, unless it is nil, is
// called for each request that is refused.
func NewSlots(slots int, nominal int64, refused func()) *Pool {
	return newPool(int64(slots), nominal, math.MaxInt64, refused)
}

// NewBudget returns a pool of units that are held for as long as somebody else pleases, such as a client that sends a
// body. So that none can hold all, an account holds no more than what is left free beside it, which is half of the
// units at most. That is not asked of requests for few units.
func NewBudget(units, few int64, refused func()) *Pool { return newPool(units, 0, few, refused) }

func newPool(size, nominal, few int64, refused func()) *Pool {
	p := &Pool{few: few, refused: refused, nominal: nominal, shares: make(map[string]*share)}
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

// Acquire takes units for a request of an account, all at once, and waits for them no longer than limit. More units
// than there are can be had while nobody holds any. The error is an *OverloadError, at once where the queue of the
// account is longer than the limit already, or the context's.
func (p *Pool) Acquire(ctx context.Context, account string, units int64, limit time.Duration) error {
	return p.Grow(ctx, account, 0, units, limit)
}

// Grow is Acquire for a request that holds so many units already, and wants so many altogether. Where it returns an
// error, the request holds what it held before.
func (p *Pool) Grow(ctx context.Context, account string, from, to int64, limit time.Duration) error {
	if to <= p.few && p.queued.Load() == 0 && p.take(to-from) {
		return nil
	}
	p.mu.Lock()
	s := p.shareOf(account)
	if expected := p.expected(s); expected > limit {
		p.mu.Unlock()
		return p.overloaded(expected)
	}
	p.arrived++
	return p.await(ctx, s, &waiter{from: from, units: to, arrived: p.arrived}, len(s.queue), limit)
}

// TryGrow is Grow if that can be had without waiting.
func (p *Pool) TryGrow(account string, from, to int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.shareOf(account)
	granted := p.grant(s, from, to)
	p.forget(s)
	return granted
}

// Release gives units back. used is what the request did with them, in the unit of NewSlots' nominal cost.
func (p *Pool) Release(account string, units, used int64) {
	if units <= p.few {
		p.free.Add(units)
		if p.queued.Load() == 0 {
			return
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.shareOf(account)
	if units > p.few {
		p.free.Add(units)
		s.held -= units
	}
	p.charge(s, used-p.nominal)
	p.dispatch()
	p.forget(s)
}

// Reduce gives back a part of what a request acquired, so that it holds so many units less than before.
func (p *Pool) Reduce(account string, from, to int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.shareOf(account)
	switch {
	case to > p.few:
		s.held -= from - to
	case from > p.few:
		s.held -= from
	}
	p.free.Add(from - to)
	p.dispatch()
	p.forget(s)
}

// Contended notes what the holder of a slot has used, and reports whether another account waits that has used less,
// so that it should yield.
func (p *Pool) Contended(account string, used int64) bool {
	if p.queued.Load() == 0 {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.shareOf(account)
	p.charge(s, used)
	return p.mustYield(s)
}

// mustYield is for the holder of a slot. mu is held.
func (p *Pool) mustYield(s *share) bool {
	return len(p.waiting) > 0 && p.waiting[0].used < s.used && p.yielded < maxYielded
}

// Yield gives a slot up for a while if another account waits that has used less, and waits for another, as Acquire
// does. used is what Contended has not been told of. Where it returns an error, the request has no slot any more.
func (p *Pool) Yield(ctx context.Context, account string, used int64, limit time.Duration) error {
	if !p.Contended(account, used) {
		return nil
	}
	p.mu.Lock()
	s := p.shareOf(account)
	if !p.mustYield(s) {
		p.mu.Unlock()
		return nil
	}
	p.free.Add(1)
	p.yielded++
	// It goes before all others of its account: what it has done so far takes memory.
	err := p.await(ctx, s, &waiter{units: 1, again: true}, 0, limit)
	p.mu.Lock()
	p.yielded--
	p.mu.Unlock()
	return err
}

// maxYielded bounds how many requests wait that have gone some of their way, since each holds the memory that it
// works with.
const maxYielded = 8

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

// expected is how long another request of an account would wait for those of the same account that wait already. mu
// is held.
func (p *Pool) expected(s *share) time.Duration {
	var ahead int64
	for _, w := range s.queue {
		ahead += w.units - w.from
	}
	perUnit := float64(p.mean.Load()) / float64(max(1, p.size.Load()))
	return time.Duration(float64(ahead) * perUnit * float64(len(p.waiting)))
}

// await puts a request at a place of its account's queue and waits until it has its units. mu is held, and given up.
func (p *Pool) await(ctx context.Context, s *share, w *waiter, place int, limit time.Duration) error {
	p.enqueue(s, w, place)
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
			p.Reduce(s.account, w.units, w.from)
		} else {
			p.Release(s.account, w.units, 0)
		}
		return err
	}
	defer p.mu.Unlock()
	p.dequeue(s, slices.Index(s.queue, w))
	p.dispatch() // it may have stood before others that need less
	p.forget(s)
	return err
}

// dispatch gives units to those who wait, as far as there are any. mu is held.
func (p *Pool) dispatch() {
	var passed []*share // whose accounts hold as much as they may
	for len(p.waiting) > 0 {
		s := p.waiting[0]
		w, began := s.queue[0], s.used
		if !p.grant(s, w.from, w.units) {
			if w.units <= p.few {
				break
			}
			passed = append(passed, heap.Pop(&p.waiting).(*share))
			continue
		}
		w.has = true
		if w.granted != nil {
			close(w.granted)
		}
		p.now = max(p.now, began)
		if !w.again {
			p.charge(s, p.nominal)
		}
		p.dequeue(s, 0)
	}
	for _, s := range passed {
		heap.Push(&p.waiting, s)
	}
}

// grant gives an account so many units instead of those that the request holds, if it may have them. mu is held.
func (p *Pool) grant(s *share, from, to int64) bool {
	if to <= p.few {
		return p.take(to - from)
	}
	free, held := p.free.Load()+from, s.held
	if from > p.few {
		held -= from
	}
	if held+to > free-to && free < p.size.Load() {
		return false
	}
	p.free.Add(from - to)
	s.held = held + to
	p.charge(s, to-from)
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
