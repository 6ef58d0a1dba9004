package usage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// MaxUnits is the maximum number of units of a request. It prevents overflows of sums.
const MaxUnits = 1 << 32

// Limits are the quotas for a request. Both may be nil.
type Limits struct{ Account, Organization *account.Limits }

// minutes reports whether usage must be kept by the minute.
func (l Limits) minutes() bool { return l.Account.HasMinutes() || l.Organization.HasMinutes() }

// Counter counts the requests of one account. Cached access tokens hold their account's Counter.
type Counter struct {
	tally
	meter        *Meter
	organization *organization
	used         int64 // when a request was last counted, in Unix seconds
	replaced     bool  // by another Counter
}

// Entry is a request that was counted. The zero Entry and that of a nil Counter count nothing.
type Entry struct {
	counter *Counter
	scopes  account.ScopeSet
	limits  Limits
	unix    int64
}

// Exceeded is the error for a request that exceeds a quota.
type Exceeded struct {
	Subject
	Quota account.Quota
	// Remaining is what is left of the quota. It may be more than 0 for a request of several units.
	Remaining int64
	// Reset is the time until the next window begins, in whole seconds, at least 1.
	Reset time.Duration
	// Length is the length of the window.
	Length time.Duration
}

// Error names the quota, for operators.
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

// errUnsettled means that the clock was set several times while a request read the store.
var errUnsettled = errors.New("the use of the quotas is unknown: the clock is being set")

// Admit counts a request under scopes, with 1 unit. If it exceeds a quota, it counts as refused, and the error is an
// *Exceeded. Any other error means that the current use is unknown because the store is unavailable. unix is the
// current time in seconds. Only the first request after a start, or after quotas were added, reads the store.
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
			return Entry{}, fmt.Errorf("reading the use of the quotas: %w", err)
		}
		e.unix = c.meter.now().Unix()
	}
	return Entry{}, errUnsettled
}

// take counts requests and units if no quota is exceeded, and otherwise a request as refused. known is false if the
// current use is unknown.
func (e *Entry) take(requests, units int64) (over *Exceeded, known bool) {
	c, parity := e.lock()
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
		e.add(parity, unix, account.Usage{Requests: requests, Units: units})
	case requests > 0:
		e.add(parity, unix, account.Usage{Refused: 1})
	}
	return over, true
}

// lock locks the account's Counter, and its organization if that has quotas. The counts belong to the returned parity.
func (e *Entry) lock() (c *Counter, parity uint32) {
	for {
		c = e.counter
		c.mu.Lock()
		if !c.replaced {
			break
		}
		c.mu.Unlock()
		e.counter = c.meter.Counter(c.Organization, c.Account)
	}
	c.used = e.unix
	parity = c.organization.flushes.Load() & 1
	if e.limits.Organization != nil {
		c.organization.mu.Lock()
	}
	return c, parity
}

func (e *Entry) unlock() {
	if e.limits.Organization != nil {
		e.counter.organization.mu.Unlock()
	}
	e.counter.mu.Unlock()
}

// add counts while the Entry is locked.
func (e *Entry) add(parity uint32, unix int64, u account.Usage) {
	minute := e.limits.minutes()
	e.counter.add(parity, e.scopes, unix, minute, u)
	if e.limits.Organization != nil {
		e.counter.organization.add(parity, e.scopes, unix, minute, u)
	}
}

// count adds to the counts without a check of quotas.
func (e *Entry) count(unix int64, u account.Usage) {
	_, parity := e.lock()
	defer e.unlock()
	e.add(parity, unix, u)
}

// Charge sets the units of a request, which are 1 before. If they exceed a quota, the whole request counts as refused,
// and the error is an *Exceeded. It is called at most once, with 0 to MaxUnits units, which count in the current
// window.
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

// Count sets the units of a request when its work is done. They count even if they exceed a quota.
func (e *Entry) Count(units int64) {
	units = min(max(units, 0), MaxUnits)
	if e.counter != nil && units != 1 {
		e.count(e.counter.meter.now().Unix(), account.Usage{Units: units - 1})
	}
}

// Failed counts a response with a status of 500 or more.
func (e *Entry) Failed() {
	if e.counter != nil {
		e.count(e.unix, account.Usage{Errors: 1})
	}
}
