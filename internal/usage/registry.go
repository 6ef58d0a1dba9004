package usage

import (
	"sync"
	"time"
)

const (
	// forgetEvery is about how often Counters that nobody keeps any more are looked for.
	forgetEvery = time.Minute
	// forgetSlack is for requests that are under way when their token expires. Those that take longer are counted all
	// the same.
	forgetSlack = 10 * time.Minute
)

// registry is the Counters and ledgers that somebody may use. Of an account that is not used for long, or that was
// deleted, nothing stays.
type registry struct {
	mu            sync.Mutex // for all of it
	counters      map[Subject]*Counter
	organizations map[string]*ledger
	lease         time.Duration
	look          time.Duration // when to look for what is not used any more, after the meter was born
}

func newRegistry() registry {
	return registry{counters: make(map[Subject]*Counter), organizations: make(map[string]*ledger)}
}

// Counter returns the one of an account, which is the same for as long as somebody may keep it (KeptFor).
func (m *Meter) Counter(organization, id string) *Counter {
	r := &m.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	subject := Subject{organization, id}
	c := r.counters[subject]
	if c == nil {
		all := r.organizations[organization]
		if all == nil {
			all = newLedger(m, Subject{Organization: organization})
			r.organizations[organization] = all
		}
		c = &Counter{ledger: newLedger(m, subject), organization: all}
		r.counters[subject] = c
	}
	c.until = max(c.until, m.age()+r.lease+forgetSlack)
	return c
}

// KeptFor says for how long a Counter that is asked for from now on may be kept. It never shortens.
func (m *Meter) KeptFor(d time.Duration) {
	m.registry.mu.Lock()
	defer m.registry.mu.Unlock()
	m.registry.lease = max(m.registry.lease, d)
}

// age is for how long the meter has been there, by a clock that nobody sets.
func (m *Meter) age() time.Duration { return m.steady().Sub(m.born) }

// forget gives up Counters that nobody keeps any more, where the store has all that they counted, and organizations
// without any. A request that is still under way with one counts for the one that took its place (heir).
func (m *Meter) forget() {
	r := &m.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	now := m.age()
	if now < r.look {
		return
	}
	r.look = now + forgetEvery
	used := make(map[*ledger]bool, len(r.organizations))
	for subject, c := range r.counters {
		if c.until < now && !c.dirty.Load() && c.settled() {
			c.forgotten = true
			delete(r.counters, subject)
			continue
		}
		used[c.organization] = true
	}
	for name, l := range r.organizations {
		if !used[l] && l.settled() {
			l.forgotten = true
			delete(r.organizations, name)
		}
	}
}

// settled reports whether no flush has anything to do with a ledger.
func (l *ledger) settled() bool { return !l.waits && !l.asks }

// heir is the Counter of the same account that others use: two of one account would be two in a flush.
func (c *Counter) heir() *Counter {
	if c.forgotten {
		return c.meter.Counter(c.Organization, c.Account)
	}
	return c
}
