package usage

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// flushSize is about how many counts one flush has. More wait for the next, which follows at once.
const flushSize = 20_000

// books are what rounds hand from one to the next.
type books struct {
	node    string
	number  uint64
	pending *attempt   // a flush of which it is not known whether it arrived
	waiting []*ledger  // that have counts
	asking  []*ledger  // whose use is to be asked for, as far as they have quotas
	asked   []*tracked // which requests wait for; of a plan that may have been replaced
}

// round hands everything that was counted before it began to the store. All who want that at the same time share one,
// and one follows the other.
type round struct {
	done chan struct{}
	err  error
}

// attempt is a flush, as it is sent and, as long as its outcome is not known, sent again.
type attempt struct {
	flush    Flush
	ledgers  []*ledger // whose counts it has
	readings map[Subject][]*tracked
	more     bool // there is more than fits
	inDoubt  bool // it was sent, and may have arrived
}

// Flush hands what was counted so far to the store, and returns when it is there. It is also written down then which
// levels were reached, as far as that can be done.
func (m *Meter) Flush(ctx context.Context) error {
	err := m.join().wait(ctx)
	m.tell(ctx)
	return err
}

// ask asks the store how much of quotas is used.
func (m *Meter) ask(ctx context.Context, quotas []*tracked) error {
	return m.join(quotas...).wait(ctx)
}

// join returns the next round, which will ask for the use of quotas too.
func (m *Meter) join(quotas ...*tracked) *round {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wanted = append(m.wanted, quotas...)
	if m.next == nil {
		m.next = &round{done: make(chan struct{})}
		go m.play(m.next)
	}
	return m.next
}

func (r *round) wait(ctx context.Context) error {
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// play is on its own, so that nobody who waits for a round ends it for the others by going away.
func (m *Meter) play(r *round) {
	m.turn <- struct{}{}
	m.mu.Lock()
	m.next = nil
	m.asked = m.wanted
	m.wanted = nil
	m.mu.Unlock()

	began := m.age()
	r.err = m.handOver()
	switch {
	case r.err == nil || m.pending == nil && len(m.waiting) == 0:
		m.unsettled.Store(0)
		m.report(context.Background(), TaskFlush, nil)
	default:
		m.unsettled.CompareAndSwap(0, max(int64(began), 1))
		m.report(context.Background(), TaskFlush, r.err)
	}
	if m.pending == nil {
		m.forget()
	}
	<-m.turn
	close(r.done)
}

func (m *Meter) handOver() error {
	if m.pending != nil {
		m.drain(m.takeChanged()) // no Counter may wait for long
		if err := m.settle(); err != nil {
			return err
		}
	}
	for more := true; more; {
		a := m.form()
		if a == nil {
			return nil
		}
		m.pending, more = a, a.more
		if err := m.settle(); err != nil {
			return err
		}
	}
	return nil
}

// form drains Counters and makes a flush of what waits. It returns nil where there is nothing to do.
func (m *Meter) form() *attempt {
	at := m.now()
	changed := m.takeChanged()
	for _, c := range changed {
		m.wantTotals(c.ledger)
		m.wantTotals(c.organization)
	}
	for _, l := range m.waiting {
		m.wantTotals(l)
	}
	a := &attempt{readings: make(map[Subject][]*tracked, len(m.asking))}
	for _, l := range m.asking {
		l.asks = false
		a.note(l.planned.Load().quotas)
	}
	m.asking = nil
	a.note(m.asked)
	m.drain(changed)
	// A request that was noted as counted had enlisted its Counter before. Those that were not in the list when it was
	// taken are in it by now.
	later := m.takeChanged()
	m.drain(later)
	for _, c := range later {
		m.wantTotals(c.ledger)
		m.wantTotals(c.organization)
	}

	a.flush = Flush{Node: m.node, Number: m.number + 1, At: at}
	m.fill(a)
	for _, l := range m.waiting { // for the next flush, after which the store's total is right
		delete(a.readings, l.Subject)
	}
	a.flush.Ask = slices.SortedFunc(maps.Keys(a.readings), Subject.compare)
	m.asked = slices.DeleteFunc(m.asked, func(q *tracked) bool { return a.readings[q.ledger.Subject] != nil })
	if len(a.ledgers)+len(a.flush.Ask) == 0 {
		return nil
	}
	m.number++
	return a
}

// note reads what is counted of quotas, of each gauge once.
func (a *attempt) note(quotas []*tracked) {
	for _, q := range quotas {
		noted := a.readings[q.ledger.Subject]
		if !slices.ContainsFunc(noted, func(other *tracked) bool { return other.gauge == q.gauge }) {
			s := q.span.Load()
			q.noted = reading{span: s, counted: s.counted.Load()}
			a.readings[q.ledger.Subject] = append(noted, q)
		}
	}
}

// fill puts what waits into a flush, up to its size, and all that one subject has.
func (m *Meter) fill(a *attempt) {
	slices.SortFunc(m.waiting, func(a, b *ledger) int { return a.compare(b.Subject) })
	a.flush.Hours = make([]Count, 0, min(2*len(m.waiting), flushSize))
	n := 0
	for ; n < len(m.waiting) && len(a.flush.Hours) < flushSize; n++ {
		l := m.waiting[n]
		l.waits = false
		l.hours, l.sentHours = l.sentHours[:0], l.hours
		l.minutes, l.sentMinutes = l.sentMinutes[:0], l.minutes
		a.flush.Hours = l.list(a.flush.Hours, l.sentHours)
		a.flush.Minutes = l.list(a.flush.Minutes, l.sentMinutes)
	}
	a.ledgers = slices.Clone(m.waiting[:n])
	m.waiting = slices.Delete(m.waiting, 0, n)
	a.more = len(m.waiting) > 0
}

// list appends counts by scope and start.
func (l *ledger) list(counts []Count, list []waiting) []Count {
	slices.SortFunc(list, func(a, b waiting) int {
		return cmp.Or(cmp.Compare(account.AllScopes[a.scope], account.AllScopes[b.scope]), cmp.Compare(a.start, b.start))
	})
	for _, w := range list {
		if w.Usage != (account.Usage{}) {
			counts = append(counts, Count{l.Subject, account.AllScopes[w.scope], w.start, w.Usage})
		}
	}
	return counts
}

// settle sends the pending flush. An error leaves it pending, unless it is certain that nothing was added,
// by this call and those before.
func (m *Meter) settle() error {
	ctx, cancel := context.WithTimeout(context.Background(), storePatience)
	defer cancel()
	a := m.pending
	totals, err := m.store.AddUsage(ctx, &a.flush)
	switch {
	case err == nil:
		m.pending = nil
		a.apply(totals)
	case errors.Is(err, account.ErrUnchanged) && !a.inDoubt:
		m.pending = nil
		for _, l := range a.ledgers {
			l.restore()
			m.enter(l)
		}
	case len(a.ledgers) == 0:
		m.pending = nil // it only asked
	case !errors.Is(err, account.ErrUnchanged):
		a.inDoubt = true
	}
	return err
}

// apply sets what is used of quotas to what the store says.
func (a *attempt) apply(totals []Total) {
	for _, t := range totals {
		for _, q := range a.readings[t.Subject] {
			if q.window != t.Window || q.scopes&t.Scope.Set() == 0 {
				continue
			}
			if q.units {
				q.noted.total += t.Units
			} else {
				q.noted.total += t.Requests
			}
		}
	}
	unix := a.flush.At.Unix()
	for _, quotas := range a.readings {
		for _, q := range quotas {
			if s := q.noted.span; s.has(unix) {
				s.base.Store(q.noted.total - q.noted.counted)
				q.reached(s, q.noted.total)
			}
			q.noted = reading{}
		}
	}
}

// takeChanged empties the list of Counters that were added to.
func (m *Meter) takeChanged() (counters []*Counter) {
	for c := m.changed.Swap(nil); c != nil; c = c.next {
		counters = append(counters, c)
	}
	return counters
}

// drain moves what Counters hold to the ledgers of their accounts and organizations.
func (m *Meter) drain(counters []*Counter) {
	for _, c := range counters {
		heir := c.heir()
		c.drain(func(scope int, minute int64, u account.Usage) {
			for _, l := range []*ledger{heir.ledger, heir.organization} {
				l.add(scope, minute, u)
				m.enter(l)
			}
		})
	}
}

func (m *Meter) enter(l *ledger) {
	if !l.waits {
		l.waits = true
		m.waiting = append(m.waiting, l)
	}
}

func (m *Meter) wantTotals(l *ledger) {
	if !l.asks && !l.forgotten {
		l.asks = true
		m.asking = append(m.asking, l)
	}
}
