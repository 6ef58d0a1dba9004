package usage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// MaxUnits is the largest number of units of a request. It keeps sums far from the largest number.
const MaxUnits = 1 << 32

// Limits are the quotas that a request is compared with. Both may be nil.
type Limits struct{ Account, Organization *account.Limits }

// minutes reports whether the use of single minutes has to be kept.
func (l Limits) minutes() bool { return l.Account.HasMinutes() || l.Organization.HasMinutes() }

// Counter counts for one account. A cached access token keeps its account's Counter.
type Counter struct {
	tally
	meter        *Meter
	organization *organization
	used         int64 // when a request was last counted, in Unix seconds
	gone         bool  // another Counter has taken its place
}

// Entry is a request that was counted. The zero Entry, and one of a nil Counter, count nothing.
type Entry struct {
	counter *Counter
	scopes  account.ScopeSet
	limits  Limits
	unix    int64
}

// Exceeded is the error for a request beyond a quota.
type Exceeded struct {
	Subject
	Quota account.Quota
	// Remaining is how much is left of it: more than 0 if a request asks for several units at once.
	Remaining int64
	// Reset is the time until the next window begins, in whole seconds, at least 1.
	Reset time.Duration
	// Length is that of the window.
	Length time.Duration
}

// Error names the quota, for the operator.
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

// errUnsettled: the clock was set again and again while a request asked the store.
var errUnsettled = errors.New("how much of the quotas is used is not known: the clock is being set")

// Admit counts a request under scopes, with 1 unit, unless it is beyond a quota: then it counts as refused, and the
// error is an *Exceeded. Any other error means that what was used is not known and the store did not answer. unix is
// the present time in seconds. Only the first request after a start, or after quotas were added, asks the store.
func (c *Counter) Admit(ctx context.Context, scopes account.ScopeSet, limits Limits, unix int64) (Entry, error) {
	if c == nil || scopes == 0 {
		return Entry{}, nil
	}
	e := Entry{counter: c, scopes: scopes, limits: limits, unix: unix}
	for range 3 {
		over, known := e.take(1, 1)
		switch {
		case known && over == nil:
			return e, nil
		case known:
			return Entry{}, over
		}
		if err := c.meter.load(ctx, c.Subject, limits); err != nil {
			return Entry{}, fmt.Errorf("asking the store how much of the quotas is used: %w", err)
		}
		e.unix = c.meter.now().Unix()
	}
	return Entry{}, errUnsettled
}

// take counts requests and units if no quota forbids it. If one does, a request counts as refused. known is false if it
// is not known how much is used.
func (e *Entry) take(requests, units int64) (over *Exceeded, known bool) {
	c, turn := e.lock()
	defer e.unlock()
	o := c.organization
	unix, known := c.ready(e.limits.Account, e.unix)
	if e.limits.Organization != nil {
		var also bool
		unix, also = o.ready(e.limits.Organization, unix)
		known = known && also
	}
	if !known {
		return nil, false
	}
	e.unix = unix
	over = c.exceeded(e.scopes, requests, units, unix)
	if e.limits.Organization != nil {
		if other := o.exceeded(e.scopes, requests, units, unix); over == nil || other != nil && other.Reset > over.Reset {
			over = other
		}
	}
	switch {
	case over == nil:
		e.add(turn, unix, account.Usage{Requests: requests, Units: units})
	case requests > 0:
		e.add(turn, unix, account.Usage{Refused: 1})
	}
	return over, true
}

// lock locks the account's Counter, and its organization if that has quotas.
func (e *Entry) lock() (c *Counter, turn uint32) {
	for {
		c = e.counter
		c.mu.Lock()
		if !c.gone {
			break
		}
		c.mu.Unlock()
		e.counter = c.meter.Counter(c.Organization, c.Account)
	}
	c.used = e.unix
	turn = c.organization.turn.Load() & 1
	if e.limits.Organization != nil {
		c.organization.mu.Lock()
	}
	return c, turn
}

func (e *Entry) unlock() {
	if e.limits.Organization != nil {
		e.counter.organization.mu.Unlock()
	}
	e.counter.mu.Unlock()
}

// add counts while everything is locked.
func (e *Entry) add(turn uint32, unix int64, u account.Usage) {
	minute := e.limits.minutes()
	e.counter.add(turn, e.scopes, unix, minute, u)
	if e.limits.Organization != nil {
		e.counter.organization.add(turn, e.scopes, unix, minute, u)
	}
}

// count adds to what was counted, whatever the quotas say.
func (e *Entry) count(unix int64, u account.Usage) {
	_, turn := e.lock()
	defer e.unlock()
	e.add(turn, unix, u)
}

// Charge sets the units of a request, instead of 1, unless they are beyond a quota: then the whole request counts as
// refused, and the error is an *Exceeded. It is called once at most, with 0 to MaxUnits units. The units belong to the
// moment at which they become known.
func (e *Entry) Charge(units int64) error {
	units = min(max(units, 0), MaxUnits)
	if e.counter == nil || units == 1 {
		return nil
	}
	more := *e
	more.unix = e.counter.meter.now().Unix()
	over, known := more.take(0, units-1)
	switch {
	case !known: // the clock was set, or the quotas changed, since the request was admitted
		more.count(more.unix, account.Usage{Units: units - 1})
	case over != nil:
		e.count(e.unix, account.Usage{Requests: -1, Refused: 1, Units: -1})
		e.counter = nil
		return over
	}
	return nil
}

// Count sets the units of a request, instead of 1, when the work is done: they are counted even if a quota is exceeded.
func (e *Entry) Count(units int64) {
	units = min(max(units, 0), MaxUnits)
	if e.counter != nil && units != 1 {
		e.count(e.counter.meter.now().Unix(), account.Usage{Units: units - 1})
	}
}

// Failed counts that the response has a status of 500 or more.
func (e *Entry) Failed() {
	if e.counter != nil {
		e.count(e.unix, account.Usage{Errors: 1})
	}
}
