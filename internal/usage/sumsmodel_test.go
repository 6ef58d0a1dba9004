package usage_test

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// spanKey is one row, or for no account the sum of an organization.
type spanKey struct {
	usage.Subject
	scope account.Scope
	step  account.Step
	start int64
}

// end is that of the span.
func (k spanKey) end() time.Time {
	_, end := k.step.Span(time.Unix(k.start, 0))
	return end
}

func (k spanKey) ofOrganization() spanKey {
	k.Account = ""
	return k
}

// longer is the row of the next step that a row is a part of.
func (k spanKey) longer() (spanKey, bool) {
	i := slices.Index(steps, k.step) + 1
	if i == len(steps) {
		return k, false
	}
	start, _ := steps[i].Span(time.Unix(k.start, 0))
	k.step, k.start = steps[i], start.Unix()
	return k, true
}

// steps are those that rows are listed by.
var steps = []account.Step{account.StepHour, account.StepDay, account.StepMonth}

// bounds are the least and the most that a row may hold. They differ where a node was killed, which may or may not have
// handed over what it had counted.
type bounds struct{ low, high account.Usage }

func (b bounds) add(c bounds) bounds { return bounds{b.low.Add(c.low), b.high.Add(c.high)} }

func (b bounds) contain(u account.Usage) bool {
	within := func(low, n, high int64) bool { return low <= n && n <= high }
	return within(b.low.Requests, u.Requests, b.high.Requests) && within(b.low.Refused, u.Refused, b.high.Refused) &&
		within(b.low.Errors, u.Errors, b.high.Errors) && within(b.low.Units, u.Units, b.high.Units)
}

// anything are the bounds of a row that was removed: what is counted in it later, or taken back, begins with nothing.
var anything = bounds{
	account.Usage{Requests: -unbounded, Refused: -unbounded, Errors: -unbounded, Units: -unbounded},
	account.Usage{Requests: unbounded, Refused: unbounded, Errors: unbounded, Units: unbounded},
}

const unbounded = 1 << 40

func (b bounds) bounded() bool { return b.high.Units < unbounded/2 }

// model is what ought to be counted.
type model struct {
	kept map[spanKey]bounds
	// open is by node what was counted since it last handed over all: the sums of what was taken back, and of the rest.
	open []map[spanKey]bounds
}

func newModel(nodes int) *model {
	m := &model{kept: map[spanKey]bounds{}, open: make([]map[spanKey]bounds, nodes)}
	for i := range m.open {
		m.open[i] = map[spanKey]bounds{}
	}
	return m
}

// add counts on a node, for each of the scopes.
func (m *model) add(node int, s usage.Subject, scopes account.ScopeSet, at time.Time, u account.Usage) {
	signs := bounds{
		account.Usage{Requests: min(u.Requests, 0), Units: min(u.Units, 0)},
		account.Usage{Requests: max(u.Requests, 0), Refused: u.Refused, Errors: u.Errors, Units: max(u.Units, 0)},
	}
	for _, s := range []usage.Subject{s, {Organization: s.Organization}} {
		for _, scope := range account.AllScopes {
			for _, step := range steps {
				if start, _ := step.Span(at); scopes.Has(scope.Set()) {
					k := spanKey{s, scope, step, start.Unix()}
					m.open[node][k] = m.open[node][k].add(signs)
				}
			}
		}
	}
}

// handedOver says that the store has all that a node counted.
func (m *model) handedOver(node int) {
	for k, b := range m.open[node] {
		sum := b.low.Add(b.high)
		m.kept[k] = m.kept[k].add(bounds{sum, sum})
	}
	clear(m.open[node])
}

// killed says that a node is gone.
func (m *model) killed(node int) {
	for k, b := range m.open[node] {
		m.kept[k] = m.kept[k].add(b)
	}
	clear(m.open[node])
}

// folded says that the store removed what was over for longer than it has to be kept.
func (m *model) folded(now time.Time, keep usage.Retention) {
	for _, spans := range append(m.open, nil) {
		for k := range spans {
			m.kept[k] = m.kept[k].add(bounds{}) // it may be in the store already
		}
	}
	for k := range m.kept {
		if gone(k, now, keep) {
			m.kept[k] = anything
		}
	}
}

func gone(k spanKey, now time.Time, keep usage.Retention) bool {
	age := map[account.Step]time.Duration{account.StepHour: keep.Hours, account.StepDay: keep.Days,
		account.StepMonth: math.MaxInt64}[k.step]
	return k.end().Before(now.Add(-age))
}

// all is what the store holds of each row, if nothing was handed over or everything.
func (m *model) all() map[spanKey]bounds {
	sums := maps.Clone(m.kept)
	for _, spans := range m.open {
		for k, b := range spans {
			sums[k] = sums[k].add(b)
		}
	}
	return sums
}

// used is how much of a quota was used in the window of a moment, as a node knows that is the only one.
func (m *model) used(s usage.Subject, q account.Quota, at time.Time) (low, high int64) {
	start, _ := q.Window.Span(at)
	for _, scope := range account.AllScopes {
		if q.Scope != "*" && q.Scope != string(scope) {
			continue
		}
		k := spanKey{s, scope, account.Step(q.Window), start.Unix()}
		b := m.kept[k]
		for _, spans := range m.open {
			sum := spans[k].low.Add(spans[k].high)
			b = b.add(bounds{sum, sum})
		}
		if q.Unit == account.UnitUnits {
			low, high = low+b.low.Units, high+b.high.Units
		} else {
			low, high = low+b.low.Requests, high+b.high.Requests
		}
	}
	return low, high
}
