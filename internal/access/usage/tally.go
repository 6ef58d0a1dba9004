package usage

import (
	"cmp"
	"math/bits"
	"sync"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// clockTolerance is by how many seconds the time of a request may be before that of others of the same account. A clock
// that is set back further returns to the earlier window.
const clockTolerance = 5

// tally holds the counts of one account, or of one organization as a whole, and the use of its quotas.
type tally struct {
	Subject
	mu sync.Mutex
	// counts are the counts that the store does not have, by parity (see organization.flushes).
	counts [2][]count

	// The next fields are for subjects with quotas. known is whether windows have the use in the store.
	limits   *account.Limits
	known    bool
	windows  [len(account.AllWindows)]window
	reported map[account.Quota]reported
}

// count is the usage under one scope in one minute or hour.
type count struct {
	scope  int
	start  int64 // Unix seconds
	minute bool
	account.Usage
}

// window is the use in the current minute, day or month.
type window struct {
	start, end int64 // Unix seconds
	// latest is the latest start so far, even if the clock was set back since: only later windows are surely unused.
	latest int64
	used   []used // by the bit of the scope
}

type used struct{ requests, units int64 }

func (w *window) has(unix int64) bool { return w.start <= unix && unix < w.end }

// begin initializes a tally. started is when the process started.
func (t *tally) begin(s Subject, started time.Time) {
	t.Subject = s
	for i, w := range account.AllWindows {
		start, _ := w.Span(started)
		t.windows[i].latest = start.Unix()
	}
}

// reported is a level of a quota that was reported for a window.
type reported struct {
	start int64
	level int
}

// ready updates the windows for a request. It returns the time at which the request counts, and false if the use must
// be read from the store first.
func (t *tally) ready(limits *account.Limits, unix int64) (int64, bool) {
	if t.limits = limits; limits == nil {
		t.known = false
		return unix, true
	}
	for i := range t.windows {
		w := &t.windows[i]
		if w.has(unix) {
			continue
		}
		if unix < w.start && w.start-unix <= clockTolerance {
			unix = w.start // another request has started the window
			continue
		}
		start, end := account.AllWindows[i].Span(time.Unix(unix, 0))
		if start.Unix() <= w.latest {
			t.known = false // the clock was set back: the window may have been used before
		}
		clear(w.used)
		w.start, w.end, w.latest = start.Unix(), end.Unix(), max(w.latest, start.Unix())
	}
	return unix, t.known
}

// use sets the use to the totals in the store plus the counts since.
func (t *tally) use(totals []Total) {
	for i := range t.windows {
		clear(t.windows[i].used)
	}
	for _, total := range totals {
		// Only quotas for all scopes count AnyScope, and scopes that are no longer declared.
		scope := bits.TrailingZeros64(uint64(cmp.Or(total.Scope.Set(), account.AnyScope)))
		for i, w := range account.AllWindows {
			if total.Account == t.Account && w == total.Window {
				t.windows[i].spend(scope, account.Usage{Requests: total.Requests, Units: total.Units})
			}
		}
	}
	for _, counts := range t.counts {
		for _, n := range counts {
			t.spend(n.scope, n.start, n.Usage)
		}
	}
	t.known = true
}

// add adds usage under scopes at a time.
func (t *tally) add(parity uint32, scopes account.ScopeSet, unix int64, minute bool, u account.Usage) {
	start := unix - unix%3600
	if minute {
		start = unix - unix%60
	}
	for ; scopes != 0; scopes &= scopes - 1 {
		scope := bits.TrailingZeros64(uint64(scopes))
		t.spend(scope, unix, u)
		t.counts[parity] = gather(t.counts[parity], count{scope, start, minute, u})
	}
}

// spend adds to the use in the current windows.
func (t *tally) spend(scope int, unix int64, u account.Usage) {
	for i := range t.windows {
		if w := &t.windows[i]; w.has(unix) {
			w.spend(scope, u)
		}
	}
}

func (w *window) spend(scope int, u account.Usage) {
	if missing := scope + 1 - len(w.used); missing > 0 {
		w.used = append(w.used, make([]used, missing)...)
	}
	w.used[scope].requests += u.Requests
	w.used[scope].units += u.Units
}

// gather adds a count to a list. The latest ones are at its end.
func gather(list []count, n count) []count {
	for i := len(list) - 1; i >= 0; i-- {
		if have := &list[i]; have.scope == n.scope && have.start == n.start && have.minute == n.minute {
			have.Usage = have.Add(n.Usage)
			return list
		}
	}
	return append(list, n)
}

// exceeded compares a request with the quotas. If it exceeds several, the one that resets last is returned.
func (t *tally) exceeded(scopes account.ScopeSet, requests, units, unix int64) (worst *Exceeded) {
	if t.limits == nil {
		return nil
	}
	for i, q := range t.limits.Quotas {
		counted := t.limits.Scopes[i]
		n := int64(bits.OnesCount64(uint64(counted & scopes)))
		if q.Unit == account.UnitUnits {
			n *= units
		} else {
			n *= requests
		}
		w := t.window(q)
		left := q.Limit - w.usedOf(q, counted)
		reset := time.Duration(w.end-unix) * time.Second
		if n > 0 && n > left && (worst == nil || reset > worst.Reset) {
			worst = &Exceeded{Subject: t.Subject, Quota: q, Remaining: max(left, 0), Reset: reset,
				Length: time.Duration(w.end-w.start) * time.Second}
		}
	}
	return worst
}

func (t *tally) window(q account.Quota) *window {
	for i, w := range account.AllWindows {
		if w == q.Window {
			return &t.windows[i]
		}
	}
	panic("a quota has an unknown window") // account.CheckQuotas refuses it
}

// usedOf returns the use of a quota for these scopes.
func (w *window) usedOf(q account.Quota, scopes account.ScopeSet) (sum int64) {
	for i, of := range w.used {
		switch {
		case scopes&(1<<i) == 0:
		case q.Unit == account.UnitUnits:
			sum += of.units
		default:
			sum += of.requests
		}
	}
	return sum
}

// Levels of quotas that are reported, in percent.
const (
	warnLevel = 80
	fullLevel = 100
)

// level returns the highest level that the use of a quota has reached, 0 for none.
func (t *tally) level(i int) (level int, used int64) {
	q := t.limits.Quotas[i]
	used = t.window(q).usedOf(q, t.limits.Scopes[i])
	switch {
	case q.Limit == 0:
		return 0, used // nothing is allowed, so there is nothing to report
	case used >= q.Limit:
		return fullLevel, used
	case used >= (q.Limit*warnLevel+99)/100:
		return warnLevel, used
	}
	return 0, used
}

// isClose reports whether a quota is nearly used up.
func (t *tally) isClose() bool {
	if t.limits == nil || !t.known {
		return false
	}
	for i := range t.limits.Quotas {
		if level, _ := t.level(i); level != 0 {
			return true
		}
	}
	return false
}

// reached returns the levels that were reached since its last call, each once in a window.
func (t *tally) reached() (list []Reached) {
	if t.limits == nil || !t.known {
		return nil
	}
	for i, q := range t.limits.Quotas {
		reached, used := t.level(i)
		w := t.window(q)
		last := t.reported[q]
		for _, level := range []int{warnLevel, fullLevel} {
			if level > reached || last.start == w.start && last.level >= level || last.start > w.start {
				continue
			}
			if t.reported == nil {
				t.reported = make(map[account.Quota]reported)
			}
			t.reported[q] = reported{w.start, level}
			list = append(list, Reached{Mark: Mark{t.Subject, q, w.start, level}, Used: used,
				End: time.Unix(w.end, 0).UTC()})
		}
	}
	return list
}
