package usage

import (
	"context"
	"errors"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// flush sends the counts to the store: of all organizations, or only of those with a quota that is nearly used up.
func (m *Meter) flush(ctx context.Context, all bool) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	defer m.end()
	m.mu.Lock()
	var chosen []*organization
	for name, o := range m.organizations {
		if all {
			o.forgetIdle(m.now().Unix())
		}
		switch {
		case all && len(o.counters) == 0:
			delete(m.organizations, name)
		case all || o.isClose():
			chosen = append(chosen, o)
		}
	}
	m.mu.Unlock()
	return m.send(chosen)
}

// load reads the use of a subject's quotas, after sending the counts of its organization to the store.
func (m *Meter) load(ctx context.Context, s Subject, limits Limits) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	defer m.end()
	m.mu.Lock()
	o := m.organizations[s.Organization]
	m.mu.Unlock()
	if o == nil {
		return nil // removed just now; the next attempt makes another one
	}
	return m.send([]*organization{o})
}

func (m *Meter) begin(ctx context.Context) error {
	select {
	case m.flushing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (m *Meter) end() { <-m.flushing }

// send sends the counts of organizations to the store, after those of a failed flush.
func (m *Meter) send(organizations []*organization) error {
	err := m.sendPending()
	for len(organizations) > 0 && err == nil {
		var flush Flush
		n := 0
		for ; n < len(organizations) && len(flush.Counts) < flushSize; n++ {
			flush.Counts = append(flush.Counts, organizations[n].drain(m.members(organizations[n]))...)
		}
		if len(flush.Counts) > 0 {
			m.number++
			flush.Node, flush.Number = m.node, m.number
			m.pending = &flush
			err = m.sendPending()
		}
		for _, o := range organizations[:n] {
			if err == nil {
				err = m.refresh(o)
			}
		}
		organizations = organizations[n:]
	}
	if err != nil {
		m.failing.CompareAndSwap(0, time.Now().UnixNano())
		return err
	}
	m.failing.Store(0)
	return nil
}

// sendPending sends the pending flush, if there is one. After an error it is sent again, since it may have arrived.
func (m *Meter) sendPending() error {
	if m.pending == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	if err := m.store.AddUsage(ctx, *m.pending); err != nil {
		return err
	}
	m.pending = nil
	return nil
}

// members returns the Counters of an organization.
func (m *Meter) members(o *organization) []*Counter {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]*Counter, 0, len(o.counters))
	for _, c := range o.counters {
		list = append(list, c)
	}
	return list
}

// drain takes the counts so far. Requests that read the old parity have counted for their organization, too, when their
// Counter can be locked.
func (o *organization) drain(counters []*Counter) (counts []Count) {
	parity := (o.flushes.Add(1) - 1) & 1
	for _, c := range counters {
		c.mu.Lock()
		for _, n := range c.counts[parity] {
			if n.Usage != (account.Usage{}) {
				counts = append(counts, Count{c.Subject, account.ScopeAt(n.scope), n.start, n.minute, n.Usage})
			}
		}
		c.counts[parity] = c.counts[parity][:0]
		c.mu.Unlock()
	}
	o.mu.Lock()
	o.counts[parity] = o.counts[parity][:0]
	o.mu.Unlock()
	return counts
}

// refresh reads the use of the quotas of an organization and its accounts, and reports the levels that were reached.
func (m *Meter) refresh(o *organization) error {
	tallies := []*tally{&o.tally}
	for _, c := range m.members(o) {
		tallies = append(tallies, &c.tally)
	}
	var limited []*tally
	var ids []string
	now := m.now()
	for _, t := range tallies {
		t.mu.Lock()
		if t.limits != nil {
			limited, ids = append(limited, t), append(ids, t.Account)
		}
		t.mu.Unlock()
	}
	if len(limited) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
	defer cancel()
	totals, err := m.store.Totals(ctx, o.Organization, ids, now)
	if err != nil {
		return err
	}
	of := make(map[string][]Total, len(ids))
	for _, total := range totals {
		of[total.Account] = append(of[total.Account], total)
	}
	var reached []Reached
	for _, t := range limited {
		t.mu.Lock()
		if t.isCurrent(now.Unix()) {
			t.use(of[t.Account])
			reached = append(reached, t.reached()...)
		}
		t.mu.Unlock()
	}
	return m.report(reached)
}

// isCurrent reports whether a time is in all current windows, so that its totals are those of the windows.
func (t *tally) isCurrent(unix int64) bool {
	for i := range t.windows {
		if !t.windows[i].has(unix) {
			return false
		}
	}
	return true
}

// report records levels that were reached, and calls Meter.notify for those that no process has recorded before.
func (m *Meter) report(reached []Reached) (err error) {
	for _, r := range reached {
		if m.notify == nil {
			return nil
		}
		ctx, cancel := context.WithTimeout(context.Background(), storeTimeout)
		first, failed := m.store.MarkQuota(ctx, r.Mark)
		cancel()
		if failed != nil {
			err = errors.Join(err, failed)
		} else if first {
			m.notify(r)
		}
	}
	return err
}

// isClose reports whether a quota of the organization or of one of its accounts is nearly used up. Meter.mu is locked.
func (o *organization) isClose() bool {
	tallies := []*tally{&o.tally}
	for _, c := range o.counters {
		tallies = append(tallies, &c.tally)
	}
	for _, t := range tallies {
		t.mu.Lock()
		near := t.isClose()
		t.mu.Unlock()
		if near {
			return true
		}
	}
	return false
}

// forgetIdle removes idle Counters that have nothing to flush. Meter.mu is locked.
func (o *organization) forgetIdle(now int64) {
	for id, c := range o.counters {
		c.mu.Lock()
		if len(c.counts[0])+len(c.counts[1]) == 0 && now-c.used > idleAfter {
			c.replaced = true
			delete(o.counters, id)
		}
		c.mu.Unlock()
	}
}
