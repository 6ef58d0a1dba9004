package usage

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// TestCounts: requests, refusals, errors and units arrive in the store, under every scope, and once.
func TestCounts(t *testing.T) {
	w := newWorld(t)
	m := w.meter()
	c := m.Counter("org", "sa_a")
	e, err := c.Admit(t.Context(), both, Limits{}, w.unix())
	if err != nil {
		t.Fatal(err)
	}
	e.Failed()
	if err := e.Charge(7); err != nil {
		t.Fatal(err)
	}
	late, err := c.Admit(t.Context(), tile, Limits{}, w.unix())
	if err != nil {
		t.Fatal(err)
	}
	late.Count(100)
	none := Limits{Account: limits(quota("TILE", account.UnitRequests, account.WindowDay, 0))}
	if admit(t, c, tile, none, w.unix()) {
		t.Error("a request passed a quota of nothing")
	}
	flush(t, m)
	flush(t, m)
	rows, err := w.Usage(t.Context(), Query{Organization: "org", Step: account.StepDay, From: noon.Truncate(24 * time.Hour),
		To: noon, Limit: 10})
	want := []Row{
		{noon.Truncate(24 * time.Hour), "sa_a", "DIRECTION", account.Usage{Requests: 1, Errors: 1, Units: 7}},
		{noon.Truncate(24 * time.Hour), "sa_a", "TILE", account.Usage{Requests: 2, Refused: 1, Errors: 1, Units: 107}},
	}
	if diff := cmp.Diff(want, rows); err != nil || diff != "" {
		t.Errorf("error %v, (-want +got):\n%s", err, diff)
	}
	var zero Entry
	zero.Failed()
	zero.Count(5)
	if err := zero.Charge(5); err != nil {
		t.Error(err)
	}
	if _, err := (*Counter)(nil).Admit(t.Context(), tile, Limits{}, 0); err != nil {
		t.Error(err)
	}
}

// TestExact: of many requests at the same time exactly as many pass as the quotas of the account and of the organization
// allow, also while counts are flushed and after a restart.
func TestExact(t *testing.T) {
	w := newWorld(t)
	organization := limits(quota("*", account.UnitRequests, account.WindowMonth, 2500))
	own := limits(quota("TILE", account.UnitRequests, account.WindowDay, 1000))
	passed := map[string]int{}
	for range 3 { // as after a restart, what was flushed is known
		m := w.meter()
		ctx, stop := context.WithCancel(t.Context())
		var flushes, all sync.WaitGroup
		flushes.Go(func() {
			for ctx.Err() == nil {
				_ = m.Flush(t.Context())
			}
		})
		var mu sync.Mutex
		for _, id := range []string{"sa_a", "sa_b", "sa_c", "sa_d"} {
			for range 4 {
				all.Go(func() {
					c := m.Counter("org", id)
					for range 200 {
						if admit(t, c, tile, Limits{own, organization}, w.unix()) {
							mu.Lock()
							passed[id]++
							mu.Unlock()
						}
					}
				})
			}
		}
		all.Wait()
		stop()
		flushes.Wait()
		flush(t, m)
	}
	total := 0
	for id, n := range passed {
		total += n
		if n > 1000 {
			t.Errorf("%s passed %d times", id, n)
		}
	}
	sum := w.sum(t, "org")
	if total != 2500 || sum.Requests != 2500 || sum.Requests+sum.Refused != 3*4*4*200 {
		t.Errorf("%d requests passed, the store has %+v", total, sum)
	}
}

// TestWindows: a quota begins anew with its minute, day or month.
func TestWindows(t *testing.T) {
	for window, next := range map[account.Window]time.Time{
		account.WindowMinute: noon.Add(time.Minute), account.WindowDay: noon.Add(12 * time.Hour),
		account.WindowMonth: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC),
	} {
		t.Run(string(window), func(t *testing.T) {
			w := newWorld(t)
			m := w.meter()
			c, l := m.Counter("org", "sa_a"), Limits{Account: limits(quota("*", account.UnitUnits, window, 3))}
			for i := range 5 {
				if passed := admit(t, c, tile, l, w.unix()); passed != (i < 3) {
					t.Errorf("request %d passed: %v", i, passed)
				}
			}
			_, err := c.Admit(t.Context(), tile, l, w.unix())
			over, _ := errors.AsType[*Exceeded](err)
			if over == nil || over.Reset != next.Sub(w.now()) || over.Remaining != 0 || over.Account != "sa_a" {
				t.Errorf("error %+v", over)
			}
			w.set(next.Add(-time.Second))
			if admit(t, c, tile, l, w.unix()) {
				t.Error("one passed in the last second")
			}
			w.set(next)
			if !admit(t, c, tile, l, w.unix()) {
				t.Error("none passed in the next window")
			}
			if m = w.meter(); window == account.WindowMinute { // after a restart the minute is known, too
				flush(t, m)
			}
		})
	}
}

// TestScopes: a quota counts the scopes that it names, and a request once for each.
func TestScopes(t *testing.T) {
	w := newWorld(t)
	c := w.meter().Counter("org", "sa_a")
	l := Limits{Account: limits(quota("*", account.UnitRequests, account.WindowDay, 5),
		quota("DIRECTION", account.UnitRequests, account.WindowDay, 1))}
	for i, step := range []struct {
		scopes account.ScopeSet
		passes bool
	}{{both, true}, {both, false}, {tile, true}, {account.ScopeONM.Set(), true}, {tile, true}, {tile, false}} {
		if passed := admit(t, c, step.scopes, l, w.unix()); passed != step.passes {
			t.Errorf("request %d passed: %v", i, passed)
		}
	}
	_, err := c.Admit(t.Context(), both, l, w.unix())
	if over, _ := errors.AsType[*Exceeded](err); over == nil || over.Quota.Scope != "*" && over.Quota.Scope != "DIRECTION" {
		t.Errorf("error %v", err)
	}
}

// TestCharge: units beyond a quota turn the whole request into a refused one, in its own window.
func TestCharge(t *testing.T) {
	w := newWorld(t)
	m := w.meter()
	c := m.Counter("org", "sa_a")
	l := Limits{Account: limits(quota("TILE", account.UnitUnits, account.WindowMinute, 10)),
		Organization: limits(quota("TILE", account.UnitUnits, account.WindowDay, 100))}
	charge := func(units int64) error {
		e, err := c.Admit(t.Context(), tile, l, w.unix())
		if err != nil {
			return err
		}
		return e.Charge(units)
	}
	for i, step := range []struct {
		units  int64
		passes bool
	}{{6, true}, {5, false}, {4, true}, {1, false}} {
		if err := charge(step.units); (err == nil) != step.passes {
			t.Errorf("charge %d of %d: %v", i, step.units, err)
		}
	}
	flush(t, m)
	if got := w.sum(t, "org"); got != (account.Usage{Requests: 2, Refused: 2, Units: 10}) {
		t.Errorf("the store has %+v", got)
	}
	// What is taken back in a later minute makes no room there.
	w.set(noon.Add(time.Minute))
	e, err := c.Admit(t.Context(), tile, l, w.unix())
	if err != nil {
		t.Fatal(err)
	}
	w.set(noon.Add(2 * time.Minute))
	if err := charge(8); err != nil {
		t.Fatal(err)
	}
	if err := e.Charge(4); err == nil {
		t.Error("12 of 10 units passed")
	}
	if err := charge(3); err == nil {
		t.Error("11 of 10 units passed")
	}
	if err := charge(2); err != nil {
		t.Error(err)
	}
}

// TestChangedQuotas: other limits take effect with the next request, with what was used before they were set.
func TestChangedQuotas(t *testing.T) {
	w := newWorld(t)
	c := w.meter().Counter("org", "sa_a")
	for range 5 {
		admit(t, c, tile, Limits{}, w.unix())
	}
	day := func(limit int64) Limits {
		return Limits{Account: limits(quota("TILE", account.UnitRequests, account.WindowDay, limit))}
	}
	for i, step := range []struct {
		limits Limits
		passes bool
	}{{day(6), true}, {day(6), false}, {day(8), true}, {day(3), false}, {Limits{}, true}, {day(9), true}, {day(9), false},
		{Limits{Organization: day(10).Account}, true}, {Limits{Organization: day(10).Account}, false}} {
		if passed := admit(t, c, tile, step.limits, w.unix()); passed != step.passes {
			t.Errorf("request %d passed: %v", i, passed)
		}
	}
}

// TestLostAnswers: counts are added once, whether the store failed before or after it added them.
func TestLostAnswers(t *testing.T) {
	w := newWorld(t)
	m := w.meter()
	l := Limits{Account: limits(quota("TILE", account.UnitRequests, account.WindowDay, 100))}
	for i, failing := range []func(){
		func() { w.fail(errAway, nil, false) }, func() { w.fail(nil, errAway, false) }, func() { w.fail(nil, nil, true) },
	} {
		c := m.Counter("org", "sa_a")
		for range 10 {
			admit(t, c, tile, l, w.unix())
		}
		failing()
		if m.Flush(t.Context()) == nil {
			t.Error("a flush that failed says nothing")
		}
		for range 10 { // known quotas need no store
			if !admit(t, c, tile, l, w.unix()) {
				t.Error("a request was refused while the store was away")
			}
		}
		if m.Flush(t.Context()) == nil || m.Waiting() <= 0 {
			t.Errorf("a flush that failed again says nothing, waiting %v", m.Waiting())
		}
		w.fail(nil, nil, false)
		flush(t, m)
		if got := w.sum(t, "org"); got.Requests != int64(20*(i+1)) || m.Waiting() != 0 || m.Unflushed() != 0 {
			t.Errorf("after failure %d the store has %+v, unflushed %d", i, got, m.Unflushed())
		}
	}
	w.fail(nil, nil, true)
	if _, err := m.Counter("org", "sa_b").Admit(t.Context(), tile, l, w.unix()); !errors.Is(err, errAway) {
		t.Errorf("the first request of an account with quotas, without the store: %v", err)
	}
	if !admit(t, m.Counter("org", "sa_c"), tile, Limits{}, w.unix()) {
		t.Error("a request without quotas needs the store")
	}
	w.fail(nil, nil, false)
	for n := range 42 {
		if passed := admit(t, m.Counter("org", "sa_a"), tile, l, w.unix()); passed != (n < 40) {
			t.Errorf("request %d after that passed: %v", n, passed)
		}
	}
}

// TestNodes: what other nodes have flushed counts after the next flush.
func TestNodes(t *testing.T) {
	w := newWorld(t)
	a, b := w.meter(), w.meter()
	l := Limits{Account: limits(quota("TILE", account.UnitRequests, account.WindowDay, 10))}
	for range 4 {
		admit(t, a.Counter("org", "sa_a"), tile, l, w.unix())
		admit(t, b.Counter("org", "sa_a"), tile, l, w.unix())
	}
	flush(t, a)
	flush(t, b)
	flush(t, a)
	passed := 0
	for range 10 {
		if admit(t, a.Counter("org", "sa_a"), tile, l, w.unix()) {
			passed++
		}
	}
	if passed != 2 {
		t.Errorf("%d requests passed of the 2 that were left", passed)
	}
}

// TestClockIsSet: neither a clock that is set back nor one that jumps ahead and returns lets more requests pass than a
// window may have.
func TestClockIsSet(t *testing.T) {
	w := newWorld(t)
	m := w.meter()
	l := Limits{Account: limits(quota("TILE", account.UnitRequests, account.WindowDay, 10))}
	passed := map[int]int{}
	for _, hours := range []int{0, 24, 0, 24, 402 * 24, 0, 24, -48, 0} {
		at := noon.Add(time.Duration(hours) * time.Hour)
		w.set(at)
		for range 7 {
			if admit(t, m.Counter("org", "sa_a"), tile, l, w.unix()) {
				passed[hours]++
			}
		}
	}
	if diff := cmp.Diff(map[int]int{0: 10, 24: 10, 402 * 24: 7, -48: 7}, passed); diff != "" {
		t.Errorf("passed by the day (-want +got):\n%s", diff)
	}
	// A request that is a little late stays in the window that others have begun.
	c := m.Counter("org", "sa_b")
	w.set(noon.Add(12 * time.Hour))
	for i := range 12 {
		if got := admit(t, c, tile, l, w.unix()-int64(i%3)); got != (i < 10) {
			t.Errorf("request %d passed: %v", i, got)
		}
	}
}

// TestReached: 80 and 100% are told once in a window, over all nodes and restarts.
func TestReached(t *testing.T) {
	w := newWorld(t)
	l := Limits{Account: limits(quota("TILE", account.UnitRequests, account.WindowDay, 10)),
		Organization: limits(quota("*", account.UnitUnits, account.WindowMonth, 1000))}
	for range 2 {
		m := w.meter()
		for range 7 {
			admit(t, m.Counter("org", "sa_a"), tile, l, w.unix())
		}
		flush(t, m)
	}
	w.set(noon.Add(24 * time.Hour))
	m := w.meter()
	for range 8 {
		admit(t, m.Counter("org", "sa_a"), tile, l, w.unix())
		flush(t, m)
	}
	var levels []int
	for _, r := range w.heard {
		levels = append(levels, r.Level)
		if r.Account != "sa_a" || r.Used < 8 || !r.End.After(noon) {
			t.Errorf("%+v", r)
		}
	}
	if diff := cmp.Diff([]int{80, 100, 80}, levels); diff != "" {
		t.Errorf("levels (-want +got):\n%s", diff)
	}
}

// TestRun: an organization with a quota that is nearly used up is flushed every second, others are not, and nothing is
// written when nothing was counted.
func TestRun(t *testing.T) {
	w := newWorld(t)
	m := w.meter()
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { m.Run(ctx, func(what string, err error) { t.Errorf("%s: %v", what, err) }) })
	defer running.Wait()
	defer stop()
	l := Limits{Account: limits(quota("TILE", account.UnitRequests, account.WindowDay, 10))}
	admit(t, m.Counter("far", "sa_a"), tile, l, w.unix())
	for range 9 {
		admit(t, m.Counter("close", "sa_b"), tile, l, w.unix())
	}
	for deadline := time.Now().Add(10 * time.Second); w.sum(t, "close").Requests != 9; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("what is close to its quota was not flushed")
		}
	}
	if got := w.sum(t, "far"); got.Requests != 0 {
		t.Errorf("what is far from its quota was flushed: %+v", got)
	}
	calls := w.calls.Load()
	time.Sleep(2 * closeFlush)
	if more := w.calls.Load() - calls; more != 0 {
		t.Errorf("%d flushes without anything counted", more)
	}
	m.Configure(time.Millisecond, DefaultRetention)
	for deadline := time.Now().Add(10 * time.Second); w.sum(t, "far").Requests != 1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the regular flush did not come")
		}
	}
}

// TestIdleCounters: what is not used is forgotten, and a request that still holds it counts all the same.
func TestIdleCounters(t *testing.T) {
	w := newWorld(t)
	m := w.meter()
	old := m.Counter("org", "sa_a")
	e, err := old.Admit(t.Context(), tile, Limits{}, w.unix())
	if err != nil {
		t.Fatal(err)
	}
	flush(t, m)
	old.mu.Lock()
	old.used -= 2 * idleAfter
	old.mu.Unlock()
	flush(t, m)
	if len(m.organizations) != 0 {
		t.Fatalf("%d organizations are kept", len(m.organizations))
	}
	if m.Counter("org", "sa_a") == old {
		t.Error("the counter is kept")
	}
	e.Failed()
	admit(t, old, tile, Limits{}, w.unix())
	flush(t, m)
	if got := w.sum(t, "org"); got != (account.Usage{Requests: 2, Errors: 1, Units: 2}) {
		t.Errorf("the store has %+v", got)
	}
}

func BenchmarkAdmit(b *testing.B) {
	w := newWorld(b)
	two := []account.Quota{quota("TILE", account.UnitRequests, account.WindowDay, account.MaxQuotaLimit),
		quota("*", account.UnitUnits, account.WindowMonth, account.MaxQuotaLimit)}
	for name, l := range map[string]Limits{"none": {}, "account": {Account: limits(two...)},
		"both": {Account: limits(two...), Organization: limits(two...)}} {
		b.Run("quotas="+name, func(b *testing.B) {
			c := w.meter().Counter("org", "sa_a")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Admit(b.Context(), tile, l, w.unix()); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("parallel/quotas="+name, func(b *testing.B) {
			m := w.meter()
			b.RunParallel(func(pb *testing.PB) {
				c := m.Counter("org", "sa_a")
				for pb.Next() {
					if _, err := c.Admit(b.Context(), tile, l, w.unix()); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

// BenchmarkFlush hands over the counts of 10,000 accounts with a quota.
func BenchmarkFlush(b *testing.B) {
	w := newWorld(b)
	m := w.meter()
	l := Limits{Account: limits(quota("TILE", account.UnitRequests, account.WindowDay, account.MaxQuotaLimit))}
	for b.Loop() {
		b.StopTimer()
		for i := range 10_000 {
			c := m.Counter("org"+string(rune('a'+i%20)), "sa_"+time.Duration(i).String())
			admit(b, c, tile, l, w.unix())
		}
		b.StartTimer()
		flush(b, m)
	}
}
