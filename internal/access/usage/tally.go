package usage

import (
	"math/bits"
	"sync"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// clockTolerance is how many seconds a request may be behind others of the same account. A clock that is set back by
// more begins an earlier window again.
const clockTolerance = 5

// tally is what is counted of one account, or of one organization as a whole, and how much of its quotas is used.
type tally struct {
	Subject
	mu sync.Mutex
	// counts are those that the store does not have, by turn (see organization).
	counts [2][]count

	// What follows is kept for a subject with quotas. known is whether windows hold what was used.
	limits  *account.Limits
	known   bool
	windows [len(account.AllWindows)]window
	told    map[account.Quota]told
}

// count is what was counted under one scope in one minute or hour.
type count struct {
	scope  int
	start  int64 // Unix seconds
	minute bool
	account.Usage
}

// window is the use of the present minute, day or month.
type window struct {
	start, end int64 // Unix seconds
	latest     int64 // the latest start so far, also before the clock was set: a later window begins with no use
	used       [len(account.AllScopes)]struct{ requests, units int64 }
}

func (w *window) has(unix int64) bool { return w.start <= unix && unix < w.end }

// begin prepares a tally in a process that started at a moment.
func (t *tally) begin(s Subject, started time.Time) {
	t.Subject = s
	for i, w := range account.AllWindows {
		start, _ := w.Span(started)
		t.windows[i].latest = start.Unix()
	}
}

// told is the level of a quota that was reported for a window.
type told struct {
	start int64
	level int
}

// ready prepares the comparison of a request with quotas. It returns the moment to count the request at, and false if
// what was used has to be asked for first.
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
			unix = w.start // another request has begun the window
			continue
		}
		start, end := account.AllWindows[i].Span(time.Unix(unix, 0))
		if start.Unix() <= w.latest {
			t.known = false // the clock was set: something may have been counted here before
		}
		*w = window{start: start.Unix(), end: end.Unix(), latest: max(w.latest, start.Unix())}
	}
	return unix, t.known
}

// use sets what was used to what the store has, and what was counted since.
func (t *tally) use(totals []Total) {
	for i := range t.windows {
		clear(t.windows[i].used[:])
	}
	for _, total := range totals {
		set := total.Scope.Set()
		for i, w := range account.AllWindows {
			if total.Account == t.Account && w == total.Window && set != 0 {
				used := &t.windows[i].used[bits.TrailingZeros8(uint8(set))]
				used.requests += total.Requests
				used.units += total.Units
			}
		}
	}
	for _, turn := range t.counts {
		for _, n := range turn {
			t.spend(n.scope, n.start, n.Usage)
		}
	}
	t.known = true
}

// add counts something under scopes at a moment.
func (t *tally) add(turn uint32, scopes account.ScopeSet, unix int64, minute bool, u account.Usage) {
	start := unix - unix%3600
	if minute {
		start = unix - unix%60
	}
	for ; scopes != 0; scopes &= scopes - 1 {
		scope := bits.TrailingZeros8(uint8(scopes))
		t.spend(scope, unix, u)
		t.counts[turn] = gather(t.counts[turn], count{scope, start, minute, u})
	}
}

// spend adds to what was used in the present windows.
func (t *tally) spend(scope int, unix int64, u account.Usage) {
	for i := range t.windows {
		if w := &t.windows[i]; w.has(unix) {
			w.used[scope].requests += u.Requests
			w.used[scope].units += u.Units
		}
	}
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

// exceeded compares a request with the quotas. Of several that do not allow it, it returns the one that resets last.
func (t *tally) exceeded(scopes account.ScopeSet, requests, units, unix int64) (worst *Exceeded) {
	if t.limits == nil {
		return nil
	}
	for i, q := range t.limits.Quotas {
		counted := t.limits.Scopes[i]
		n := int64(bits.OnesCount8(uint8(counted & scopes)))
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
	panic("a quota has a window that is not known") // account.CheckQuotas refuses it
}

// usedOf is how much of a quota for these scopes is used.
func (w *window) usedOf(q account.Quota, scopes account.ScopeSet) (used int64) {
	for ; scopes != 0; scopes &= scopes - 1 {
		of := &w.used[bits.TrailingZeros8(uint8(scopes))]
		if q.Unit == account.UnitUnits {
			used += of.units
		} else {
			used += of.requests
		}
	}
	return used
}

// Levels of quotas that are reported, in percent.
const (
	warnLevel = 80
	fullLevel = 100
)

// level is the highest level that the use of a quota has reached; 0 for none.
func (t *tally) level(i int) (level int, used int64) {
	q := t.limits.Quotas[i]
	used = t.window(q).usedOf(q, t.limits.Scopes[i])
	switch {
	case q.Limit == 0:
		return 0, used // nothing is allowed, which is no news
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

// reached returns the levels that were reached since it was called last, each once in a window.
func (t *tally) reached() (list []Reached) {
	if t.limits == nil || !t.known {
		return nil
	}
	for i, q := range t.limits.Quotas {
		reached, used := t.level(i)
		w := t.window(q)
		last := t.told[q]
		for _, level := range []int{warnLevel, fullLevel} {
			if level > reached || last.start == w.start && last.level >= level || last.start > w.start {
				continue
			}
			if t.told == nil {
				t.told = make(map[account.Quota]told)
			}
			t.told[q] = told{w.start, level}
			list = append(list, Reached{Mark: Mark{t.Subject, q, w.start, level}, Used: used,
				End: time.Unix(w.end, 0).UTC()})
		}
	}
	return list
}
