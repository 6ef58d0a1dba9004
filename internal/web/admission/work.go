package admission

import (
	"context"
	"sync/atomic"
	"time"
)

// briefWork is the work after which a request counts as heavy: about 2 ms. Work is counted in arcs that a route search
// settles, about three per microsecond. Other work is converted.
const briefWork = 8 << 10

// Processors shares the processors between requests with much work. All but one processor may be used at a time: one is
// left for the rest of the server, which would otherwise wait for the Go scheduler to poll the network, for 10 ms and
// more.
//
// A heavy request needs one of a few places for heavy ones to continue, which bounds the memory of such requests. From
// then on, it yields its processor whenever a request that has used less waits, or a brief one of its own account.
type Processors struct {
	working, heavy *Pool
	limit          atomic.Int64 // time.Duration
}

// placesBeside is the number of places for heavy requests beyond the number of processors. The last place stays free,
// since a budget leaves as much free as the next account gets.
const placesBeside = 9

// NewProcessors returns a Processors. No wait is longer than limit. refused may be nil.
func NewProcessors(processors int, limit time.Duration, refused func()) *Processors {
	atWork := max(1, processors-1)
	p := &Processors{
		working: NewSlots(atWork, briefWork, refused),
		heavy:   NewBudget(int64(atWork)+placesBeside, 0, refused),
	}
	p.SetLimit(limit)
	return p
}

// SetLimit changes how long a request may wait before it is refused.
func (p *Processors) SetLimit(limit time.Duration) { p.limit.Store(int64(limit)) }

// Waiting is the number of requests that wait.
func (p *Processors) Waiting() int64 { return p.working.Waiting() + p.heavy.Waiting() }

// Work counts the work of one request. It is for one goroutine at a time. The zero value counts nothing.
type Work struct {
	processors *Processors
	ctx        context.Context
	caller     Caller
	flow       Caller // whose processors it uses: the caller's, or those of the caller's heavy requests
	working    bool   // whether it has a processor
	heavy      bool   // whether it has a place for heavy requests
	used       int64  // since it got the processor, or last yielded
	since      time.Time
}

// Begin starts the work of a request, and waits for a processor if all are busy. End must follow. The error is an
// *OverloadError or that of the context.
func (w *Work) Begin(ctx context.Context, p *Processors, c Caller) error {
	*w = Work{processors: p, ctx: ctx, caller: c, flow: c}
	return w.enter(w.limit())
}

// Spend counts work that has been done or begins now. Call it about once per millisecond. After an error, which is an
// *OverloadError or that of the context, the request must stop.
func (w *Work) Spend(work int64) error {
	if !w.working {
		return nil
	}
	w.used += work
	switch {
	case w.heavy:
		if err := w.yield(); err != nil {
			return err
		}
	case w.used > briefWork:
		return w.becomeHeavy()
	}
	return w.ctx.Err()
}

// End ends the work.
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

// leave returns the processor.
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

// yield lets another request work if it is next.
func (w *Work) yield() error {
	used := w.used
	w.used, w.working = 0, false
	err := w.processors.working.Yield(w.ctx, w.flow, used, w.limit())
	w.working = err == nil
	return err
}

// Interface guard
