package admission

import (
	"context"
	"sync/atomic"
	"time"
)

// Meter counts the work of a request. Where Spend returns an error, the request has to stop with it.
type Meter interface {
	Spend(work int64) error
}

// Work is counted in arcs settled by a route search; about three of them take a microsecond. Other work is converted.
const (
	// briefWork is what a request may do before it counts as heavy: some two milliseconds.
	briefWork = 8 << 10
	// usualWork is what a heavy request is taken to do as long as nothing is known of it.
	usualWork = 16 << 10
)

// Processors shares the processors between the requests that need them for long enough to be felt. All but one may be
// at work at a time: a processor is left for everything else that the server does, which would otherwise wait for the
// Go scheduler to look at the network, for ten milliseconds and more.
//
// A request that turns out to be heavy goes on when it gets one of some places for those, so that no more than a few
// hold the memory that much work needs. From then on it makes way whenever another account waits that has done less,
// or a brief request of its own.
type Processors struct {
	working, heavy *Pool
	limit          atomic.Int64 // time.Duration
}

// NewProcessors returns a Processors for so many processors. Nobody waits longer than limit at once. refused may be
// nil.
func NewProcessors(processors int, limit time.Duration, refused func()) *Processors {
	p := &Processors{
		working: NewSlots(max(1, processors-1), briefWork, refused),
		heavy:   NewSlots(max(1, processors-1), usualWork, refused),
	}
	p.SetLimit(limit)
	return p
}

// SetLimit changes how long a request waits at most before it is refused.
func (p *Processors) SetLimit(limit time.Duration) { p.limit.Store(int64(limit)) }

// Waiting is how many requests wait.
func (p *Processors) Waiting() int64 { return p.working.Waiting() + p.heavy.Waiting() }

// Work is what one request does. It is for one goroutine at a time. The zero value does not count.
type Work struct {
	processors *Processors
	ctx        context.Context
	account    string
	flow       string // what its turns to work are counted for: its account, or the heavy requests of that
	working    bool   // whether it has a slot to work
	heavy      bool   // whether it has a heavy one as well
	used       int64  // since it got the slot to work, or was last asked to make way
	since      time.Time
	took       time.Duration // for how long it has held a heavy slot, up to since
}

// Begin starts the work of a request, which waits for a processor where all are busy. End must follow. The error is an
// *OverloadError or the context's.
func (w *Work) Begin(ctx context.Context, p *Processors, account string) error {
	*w = Work{processors: p, ctx: ctx, account: account, flow: account}
	return w.enter()
}

// Spend counts work that has been done, or is about to be. It should be called about once in a millisecond. Where it
// returns an error, an *OverloadError or the context's, the request has to stop.
func (w *Work) Spend(work int64) error {
	if !w.working {
		return nil
	}
	w.used += work
	switch {
	case w.heavy:
		if err := w.makeWay(); err != nil {
			return err
		}
	case w.used > briefWork:
		return w.becomeHeavy()
	}
	return w.ctx.Err()
}

// End is the end of the work, whether it was done or not.
func (w *Work) End() {
	used := w.used
	w.leave()
	if w.heavy {
		w.heavy = false
		w.processors.heavy.Release(w.account, 1, used)
		w.processors.heavy.Observe(w.took + time.Since(w.since))
	}
}

func (w *Work) limit() time.Duration { return time.Duration(w.processors.limit.Load()) }

// enter waits for a processor.
func (w *Work) enter() error {
	err := w.processors.working.Acquire(w.ctx, w.flow, 1, w.limit())
	w.working = err == nil
	return err
}

// leave gives the processor back.
func (w *Work) leave() {
	if w.working {
		w.processors.working.Release(w.flow, 1, w.used)
		w.working, w.used = false, 0
	}
}

func (w *Work) becomeHeavy() error {
	w.leave()
	if err := w.processors.heavy.Acquire(w.ctx, w.account, 1, w.limit()); err != nil {
		return err
	}
	w.heavy, w.since = true, time.Now()
	w.flow = w.account + " heavy"
	return w.enter()
}

// makeWay lets others work for a while, if there are any who should.
func (w *Work) makeWay() error {
	p, used := w.processors, w.used
	if p.heavy.Contended(w.account, used) {
		return w.makeWayForHeavy()
	}
	w.used, w.working = 0, false
	err := p.working.Yield(w.ctx, w.flow, used, w.limit())
	w.working = err == nil
	return err
}

// makeWayForHeavy is makeWay for another one that is heavy, too.
func (w *Work) makeWayForHeavy() error {
	w.leave()
	w.took += time.Since(w.since)
	w.heavy = false
	if err := w.processors.heavy.Yield(w.ctx, w.account, 0, w.limit()); err != nil {
		return err
	}
	w.heavy, w.since = true, time.Now()
	return w.enter()
}

// Interface guard
var _ Meter = (*Work)(nil)
