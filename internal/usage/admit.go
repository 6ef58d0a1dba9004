package usage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// MaxUnits is the largest number of units of a request. It keeps the sums of all requests far from what does not fit.
const MaxUnits = 1 << 32

// Limits are the quotas that a request is compared with. Both may be nil.
type Limits struct{ Account, Organization *account.Limits }

// Entry is a request that was counted. The zero Entry, and one of a nil Counter, count nothing.
type Entry struct {
	counter *Counter
	plans   [2]*plan
	scopes  account.ScopeSet
	unix    int64
}

// Exceeded is the error for a request beyond a quota: of several the one that is so for longest.
type Exceeded struct {
	Subject
	Quota account.Quota
	// Remaining is how much is left of it: more than 0 where a request asks for several units at once.
	Remaining int64
	// Reset is when the next window begins, in whole seconds from now, at least 1.
	Reset time.Duration
	// Length is that of the window.
	Length time.Duration
}

// Error says whose quota it is. It is written when somebody reads it: most refusals are only counted.
func (e *Exceeded) Error() string {
	whose := "account"
	if e.Account == "" {
		whose = "organization"
	}
	if e.Remaining > 0 {
		return fmt.Sprintf("the request needs more than the %d left of the %s's quota of %v", e.Remaining, whose, e.Quota)
	}
	return "the " + whose + "'s quota of " + e.Quota.String() + " is used up"
}

// Admit counts a request under scopes, with 1 unit, unless it is beyond a quota: then it counts as refused, and the
// error is an Exceeded. Any other error means that what was used is not known yet, and the store could not be asked.
// unix is the present time in seconds. It allocates nothing, takes no lock and asks nobody, but for the first request
// after a start or after a quota was added. What it returns is never wrapped.
func (c *Counter) Admit(ctx context.Context, scopes account.ScopeSet, limits Limits, unix int64) (Entry, error) {
	if c == nil || scopes == 0 {
		return Entry{}, nil
	}
	e := Entry{counter: c, scopes: scopes, unix: unix}
	e.plans[0] = c.plan(limits.Account)
	e.plans[1] = c.organization.plan(limits.Organization)
	quotas := len(e.plans[0].quotas)+len(e.plans[1].quotas) != 0
	if quotas && !e.take(1, 1) {
		if err := e.takeSlowly(ctx, 1, 1); err != nil {
			if _, exceeded := errors.AsType[*Exceeded](err); exceeded {
				c.refuse(scopes, e.unix/60)
			}
			return Entry{}, err
		}
	}
	c.pass(scopes, e.unix/60)
	if quotas {
		e.count(1, 1)
	}
	return e, nil
}

// Charge sets the units of a request, instead of 1, unless they are beyond a quota: then the whole request counts as
// refused instead, and the error is an Exceeded. After any other error, which is for want of the store, it goes on to
// count with 1. It is to be called once at most, with 0 to MaxUnits units; less or more count as those. They are units
// of the moment in which they become known, even if the window in which the request was admitted is over, and compared
// with the quotas that it was admitted with.
func (e *Entry) Charge(units int64) error {
	c := e.counter
	units = min(max(units, 0), MaxUnits)
	if c == nil || units == 1 {
		return nil
	}
	more := *e
	more.unix = c.meter.now().Unix()
	if !more.take(0, units-1) {
		err := more.takeSlowly(context.Background(), 0, units-1)
		if _, exceeded := errors.AsType[*Exceeded](err); exceeded {
			e.count(-1, -1)
			c.takeBack(e.scopes, e.unix/60)
			e.give(1, 1)
			e.counter = nil
		}
		if err != nil {
			return err
		}
	}
	c.extra(e.scopes, more.unix/60, units-1)
	more.count(0, units-1)
	return nil
}

// Failed counts that the request was answered 5xx.
func (e *Entry) Failed() {
	if e.counter != nil {
		e.counter.fail(e.scopes, e.unix/60)
	}
}

// take reserves so many requests and units for each scope, of all quotas or of none.
func (e *Entry) take(requests, units int64) bool {
	for i, p := range &e.plans {
		for j, q := range p.quotas {
			n := q.amount(e.scopes, requests, units)
			if n == 0 || q.take(n, e.unix) == taken {
				continue
			}
			for k, p := range e.plans[:i+1] {
				quotas := p.quotas
				if k == i {
					quotas = quotas[:j]
				}
				for _, q := range quotas {
					q.give(q.amount(e.scopes, requests, units), e.unix)
				}
			}
			return false
		}
	}
	return true
}

// give returns what take reserved.
func (e *Entry) give(requests, units int64) {
	for _, p := range &e.plans {
		for _, q := range p.quotas {
			q.give(q.amount(e.scopes, requests, units), e.unix)
		}
	}
}

// count notes what cells hold of what take reserved.
func (e *Entry) count(requests, units int64) {
	for _, p := range &e.plans {
		for _, q := range p.quotas {
			if n := q.amount(e.scopes, requests, units); n != 0 {
				q.count(n, e.unix)
			}
		}
	}
}

// takeSlowly finds out why take failed, does what can be done about it and tries again. An Exceeded that it returns is
// not counted yet.
func (e *Entry) takeSlowly(ctx context.Context, requests, units int64) error {
	meter := e.counter.meter
	for asked := 0; ; {
		exceeded, ask := e.judge(requests, units)
		switch {
		case exceeded != nil:
			return exceeded
		case len(ask) > 0 && asked == mostAsked:
			return errClock
		case len(ask) > 0:
			asked++
			if err := meter.ask(ctx, ask); err != nil {
				return fmt.Errorf("asking the store how much of the quotas is used: %w", err)
			}
			e.unix = meter.now().Unix()
		}
		if e.take(requests, units) {
			return nil
		}
	}
}

// mostAsked is how often a request asks the store. Once is enough, unless the clock is set meanwhile.
const mostAsked = 10

var errClock = errors.New("how much of the quotas is used is not known: the clock goes back and forth")

// judge compares a request with its quotas. It moves a request into the present windows, which others may have begun
// meanwhile. ask are those of whose use nothing is known.
func (e *Entry) judge(requests, units int64) (worst *Exceeded, ask []*tracked) {
	for _, p := range &e.plans {
		for _, q := range p.quotas {
			n := q.amount(e.scopes, requests, units)
			if n == 0 {
				continue
			}
			s := q.at(e.unix)
			e.unix = min(max(e.unix, s.start), s.end-1)
			if n < 0 {
				continue // what is returned is always taken
			}
			base := s.base.Load()
			if base == unknown {
				ask = append(ask, q)
				continue
			}
			left := q.quota.Limit - base - s.reserved.Load()
			reset := time.Duration(s.end-e.unix) * time.Second
			if n > left && (worst == nil || reset > worst.Reset) {
				worst = &Exceeded{Subject: q.ledger.Subject, Quota: q.quota, Remaining: max(left, 0), Reset: reset,
					Length: time.Duration(s.end-s.start) * time.Second}
			}
		}
	}
	return worst, ask
}
