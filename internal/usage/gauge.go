package usage

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// clockTolerance is how many seconds clocks may differ without one of them having been set.
const clockTolerance = 5

// unknown is the base of a span that the store has not been asked about: more than any limit.
const unknown = math.MaxInt64 / 2

// gauge is how much is used of one kind: of a scope or all, requests or units, in a minute, day or month.
type gauge struct {
	window account.Window
	meter  *Meter
	span   atomic.Pointer[span]
	noted  reading // of the present round
}

// span is the use in one window. What is used is base + reserved, and never more than what is admitted at any time.
//
// A request is reserved, then added to cells of its Counter, and then counted. A flush reads counted first, and the
// cells after that: what it read as counted is in the store's total then, so that base = total - counted leaves
// reserved - counted for those requests that are not in the total, or more.
type span struct {
	start, end        int64     // Unix seconds
	latest            int64     // the latest start of all spans that the gauge had
	begun             time.Time // by a clock that nobody sets
	begunUnix         int64     // the same by the other
	base              atomic.Int64
	reserved, counted atomic.Int64
}

// reading is what a flush read of a span.
type reading struct {
	span           *span
	counted, total int64
}

func newGauge(m *Meter, window account.Window) *gauge {
	g := &gauge{window: window, meter: m}
	s := g.newSpan(m.now().Unix())
	s.latest = s.start
	s.base.Store(unknown)
	g.span.Store(s)
	return g
}

func (g *gauge) newSpan(unix int64) *span {
	start, end := g.window.Span(time.Unix(unix, 0))
	return &span{start: start.Unix(), end: end.Unix(), begun: g.meter.steady(), begunUnix: unix}
}

// follows reports whether time went by between two spans, rather than that the clock was set.
func (s *span) follows(before *span) bool {
	passed := s.begun.Sub(before.begun)
	off := time.Duration(s.begunUnix-before.begunUnix)*time.Second - passed
	return off.Abs() <= clockTolerance*time.Second+passed/1000
}

func (s *span) has(unix int64) bool { return s.start <= unix && unix < s.end }

// at returns the present span. It has the moment of a request, unless the clock was set meanwhile, or is set back by a
// little at the beginning of a window.
func (g *gauge) at(unix int64) *span {
	s := g.span.Load()
	if s.has(unix) {
		return s
	}
	return g.roll(s, unix)
}

func (g *gauge) roll(s *span, unix int64) *span {
	now := g.meter.now().Unix()
	if unix > now && unix-now <= clockTolerance {
		now = unix // another window has begun, which this one is not to stay behind
	}
	for now >= s.end || s.start-now > clockTolerance {
		next := g.newSpan(now)
		next.latest = max(s.latest, next.start)
		if next.start <= s.latest || !next.follows(s) {
			next.base.Store(unknown) // the clock was set, so this window may have been counted in before
		}
		g.span.CompareAndSwap(s, next)
		s = g.span.Load()
	}
	return s
}

// tracked is a quota of an account or organization, with the gauge that it is compared with.
type tracked struct {
	*gauge
	ledger *ledger
	quota  account.Quota
	scopes account.ScopeSet
	units  bool
	told   int64 // the beginning of a window and the level that was reached in it, in the lowest 8 bits
}

// outcome is what came of comparing a request with a quota.
type outcome int

const (
	taken     outcome = iota
	beyond            // the quota, or nothing is known of its use
	elsewhere         // than in the present window
)

// amount is how much of a quota a request needs.
func (q *tracked) amount(scopes account.ScopeSet, requests, units int64) int64 {
	n := int64(bits.OnesCount8(uint8(q.scopes & scopes)))
	if q.units {
		return n * units
	}
	return n * requests
}

// take reserves n, if the quota has that left.
func (q *tracked) take(n, unix int64) outcome {
	s := q.at(unix)
	if !s.has(unix) {
		return elsewhere
	}
	for {
		reserved := s.reserved.Load()
		if n > 0 && s.base.Load()+reserved+n > q.quota.Limit {
			return beyond
		}
		if s.reserved.CompareAndSwap(reserved, reserved+n) {
			return taken
		}
	}
}

// give returns n that was taken. Nothing is to be done in a window that is over.
func (q *tracked) give(n, unix int64) {
	if s := q.span.Load(); s.has(unix) {
		s.reserved.Add(-n)
	}
}

// count notes that the cells hold n that was taken, or with a negative one that they will not for long.
func (q *tracked) count(n, unix int64) {
	if s := q.span.Load(); s.has(unix) {
		s.counted.Add(n)
	}
}

// plan is the quotas of an account or organization.
type plan struct {
	limits  *account.Limits
	quotas  []*tracked
	minutes bool // there is one for minutes
}

// plan returns the one for limits. Gauges of quotas that were there before are kept, all others have to ask the store.
func (l *ledger) plan(limits *account.Limits) *plan {
	if p := l.planned.Load(); p.limits == limits {
		return p
	}
	return l.replan(limits)
}

func (l *ledger) replan(limits *account.Limits) *plan {
	l.planning.Lock()
	defer l.planning.Unlock()
	old := l.planned.Load()
	if old.limits == limits {
		return old
	}
	p := &plan{limits: limits}
	if limits != nil {
		p.quotas = make([]*tracked, len(limits.Quotas))
	}
	for i := range p.quotas {
		q := &tracked{ledger: l, quota: limits.Quotas[i], scopes: limits.Scopes[i]}
		q.units = q.quota.Unit == account.UnitUnits
		if q.gauge = old.find(q.quota); q.gauge == nil {
			q.gauge = newGauge(l.meter, q.quota.Window)
		}
		p.quotas[i] = q
		p.minutes = p.minutes || q.quota.Window == account.WindowMinute
	}
	l.planned.Store(p)
	return p
}

// find returns the gauge of a quota for the same, whatever the limit.
func (p *plan) find(quota account.Quota) *gauge {
	for _, q := range p.quotas {
		if quota.Limit = q.quota.Limit; quota == q.quota {
			return q.gauge
		}
	}
	return nil
}
