package admission

import (
	"context"
	"sync/atomic"
	"time"
)

// Work is counted in arcs settled by a route search; about three of them take a microsecond. Other work is converted.
const (
	// briefWork is what a request may do before it counts as heavy: some two milliseconds.
	briefWork = 8 << 10
)

// Processors shares the processors between the requests that need them for long enough to be felt. All but one may be
// at work at a time: a processor is left for everything else that the server does, which would otherwise wait for the
// Go scheduler to look at the network, for ten milliseconds and more.
//
// A request that turns out to be heavy goes on when it gets one of some places for those, so that no more than a few
// hold the memory that much work needs. From then on it makes way whenever others wait that have used less, or a brief
// request of its own account.
type Processors struct {
	working, heavy *Pool
	limit          atomic.Int64 // time.Duration
}

// placesBeside is how many requests may have a place for heavy ones beside those that are at work. The last place is
// always free, since a budget leaves as much free as the next account gets.
const placesBeside = 9

// NewProcessors returns a Processors for so many processors. Nobody waits longer than limit at once. refused may be
// nil.
func NewProcessors(processors int, limit time.Duration, refused func()) *Processors {
	atWork := max(1, processors-1)
	p := &Processors{
		working: NewSlots(atWork, briefWork, refused),
		heavy:   NewBudget(int64(atWork)+placesBeside, 0, refused),
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
	caller     Caller
	flow       Caller // for whom its turns to work are counted: the caller, or its heavy requests
	working    bool   // whether it has a slot to work
	heavy      bool   // whether it has a place for heavy requests
	used       int64  // since it got the slot to work, or was last asked to make way
	since      time.Time
}

// Begin starts the work of a request, which waits for a processor where all are busy. End must follow. The error is an
// *OverloadError or the context's.
func (w *Work) Begin(ctx context.Context, p *Processors, c Caller) error {
	*w = Work{processors: p, ctx: ctx, caller: c, flow: c}
	return w.enter(w.limit())
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
	w.leave()
	if w.heavy {
		w.heavy = false
		w.processors.heavy.Release(w.caller, 1, 0)
		w.processors.heavy.Observe(time.Since(w.since))
	}
}

func (w *Work) limit() time.Duration { return time.Duration(w.processors.limit.Load()) }

// enter waits for a processor.
func (w *Work) enter(limit time.Duration) error {
	err := w.processors.working.Acquire(w.ctx, w.flow, 1, limit)
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
	began, limit := time.Now(), w.limit()
	if err := w.processors.heavy.Acquire(w.ctx, w.caller, 1, limit); err != nil {
		return err
	}
	w.heavy, w.since = true, time.Now()
	w.flow.Account += " heavy"
	return w.enter(limit - w.since.Sub(began))
}

// makeWay lets others work for a while, if there are any who should.
func (w *Work) makeWay() error {
	used := w.used
	w.used, w.working = 0, false
	err := w.processors.working.Yield(w.ctx, w.flow, used, w.limit())
	w.working = err == nil
	return err
}

// Interface guard
