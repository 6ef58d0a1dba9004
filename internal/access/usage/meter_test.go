package usage_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/store"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// world is a real store that can be made to fail, and a clock that can be set.
type world struct {
	usage.Store
	clock atomic.Int64
	calls atomic.Int64 // of AddUsage

	mu     sync.Mutex
	before error // of AddUsage, which then adds nothing
	after  error // of AddUsage, which has added all the same
	down   error // of AddUsage and Totals
	events []usage.Reached
}

var errDown = errors.New("the store is down")

func newWorld(t testing.TB) *world {
	t.Helper()
	s := must(store.OpenSQLite(filepath.Join(t.TempDir(), "usage.db"), zap.NewNop()))
	t.Cleanup(func() { _ = s.Close() })
	w := &world{Store: s}
	w.set(noon)
	return w
}

func (w *world) now() time.Time   { return time.Unix(0, w.clock.Load()).UTC() }
func (w *world) set(at time.Time) { w.clock.Store(at.UnixNano()) }

func (w *world) meter() *usage.Meter {
	return usage.NewMeter(w, w.now, func(r usage.Reached) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.events = append(w.events, r)
	})
}

// fail sets what the next calls return.
func (w *world) fail(before, after, down error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before, w.after, w.down = before, after, down
}

func (w *world) AddUsage(ctx context.Context, f usage.Flush) error {
	w.calls.Add(1)
	w.mu.Lock()
	before, after := errors.Join(w.before, w.down), w.after
	w.mu.Unlock()
	if before != nil {
		return before
	}
	return errors.Join(w.Store.AddUsage(ctx, f), after)
}

func (w *world) Totals(ctx context.Context, organization string, accounts []string, at time.Time) ([]usage.Total, error) {
	w.mu.Lock()
	down := w.down
	w.mu.Unlock()
	if down != nil {
		return nil, down
	}
	return w.Store.Totals(ctx, organization, accounts, at)
}

// sum is what the store has of an organization.
func (w *world) sum(organization string) (u account.Usage) {
	for _, row := range must(w.Usage(context.Background(), usage.Query{Organization: organization, Step: account.StepMonth,
		From: noon.AddDate(0, -3, 0), To: noon.AddDate(0, 3, 0), Limit: 10_000})) {
		u = u.Add(row.Usage)
	}
	return u
}

// limits are those of one quota.
func limits(scope string, unit account.Unit, window account.Window, limit int64) *account.Limits {
	return account.NewLimits([]account.Quota{{Scope: scope, Unit: unit, Window: window, Limit: limit}})
}

// daily is an account's quota of requests a day.
func daily(limit int64) usage.Limits {
	return usage.Limits{Account: limits("TILE", account.UnitRequests, account.WindowDay, limit)}
}

var (
	tile = account.ScopeTile.Set()
	both = tile | account.ScopeDirection.Set()
)

// admit counts a request now, and reports whether it passed.
func (w *world) admit(t testing.TB, c *usage.Counter, l usage.Limits) bool {
	t.Helper()
	_, err := c.Admit(context.Background(), tile, l, w.now().Unix())
	if _, exceeded := errors.AsType[*usage.Exceeded](err); err != nil && !exceeded {
		t.Errorf("Admit: %v", err)
	}
	return err == nil
}

// passed makes n requests and returns how many passed.
func (w *world) passed(t testing.TB, n int, c *usage.Counter, l usage.Limits) (passed int) {
	t.Helper()
	for range n {
		if w.admit(t, c, l) {
			passed++
		}
	}
	return passed
}

func flush(t testing.TB, m *usage.Meter) {
	t.Helper()
	if err := m.Flush(context.Background()); err != nil {
		t.Fatalf("Flush: %v", err)
	}
}

func same[T any](t testing.TB, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// must returns a value that comes without an error.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// TestCounts: requests, refusals, errors and units arrive in the store, under every scope, and once.
func TestCounts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.meter()
	c := m.Counter("org", "sa_a")
	e := must(c.Admit(t.Context(), both, usage.Limits{}, w.now().Unix()))
	e.Failed()
	same(t, "Charge", nil, e.Charge(7))
	late := must(c.Admit(t.Context(), tile, usage.Limits{}, w.now().Unix()))
	late.Count(100)
	same(t, "passed of a quota of nothing", false, w.admit(t, c, daily(0)))
	flush(t, m)
	calls := w.calls.Load()
	flush(t, m)
	same(t, "calls of the store when nothing was counted", calls, w.calls.Load())
	day := noon.Truncate(24 * time.Hour)
	same(t, "rows", []usage.Row{
		{Start: day, Account: "sa_a", Scope: "DIRECTION", Usage: account.Usage{Requests: 1, Errors: 1, Units: 7}},
		{Start: day, Account: "sa_a", Scope: "TILE", Usage: account.Usage{Requests: 2, Refused: 1, Errors: 1, Units: 107}},
	}, must(w.Usage(t.Context(), usage.Query{Organization: "org", Step: account.StepDay, From: day, To: noon, Limit: 10})))
	zero := must((*usage.Counter)(nil).Admit(t.Context(), tile, usage.Limits{}, 0))
	zero.Failed()
	zero.Count(5)
	same(t, "Charge of an entry that counts nothing", nil, zero.Charge(5))
}

// TestExact: of concurrent requests exactly as many pass as the quotas of the account and of the organization allow, also
// while counts are flushed and after a restart.
func TestExact(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := daily(1000)
	l.Organization = limits("*", account.UnitRequests, account.WindowMonth, 2500)
	passed := make([]atomic.Int64, 4) // by account
	for range 3 {                     // as after a restart, what was flushed is known
		m := w.meter()
		ctx, stop := context.WithCancel(t.Context())
		var flushes, all sync.WaitGroup
		flushes.Go(func() {
			for ctx.Err() == nil {
				_ = m.Flush(ctx)
			}
		})
		for i := range 16 {
			all.Go(func() {
				passed[i%4].Add(int64(w.passed(t, 200, m.Counter("org", fmt.Sprint("sa_", i%4)), l)))
			})
		}
		all.Wait()
		stop()
		flushes.Wait()
		flush(t, m)
	}
	total := int64(0)
	for i := range passed {
		n := passed[i].Load()
		if total += n; n > 1000 {
			t.Errorf("account %d passed %d times", i, n)
		}
	}
	same(t, "passed", 2500, total)
	same(t, "in the store", account.Usage{Requests: 2500, Refused: 3*16*200 - 2500, Units: 2500}, w.sum("org"))
}

// TestWindows: a quota begins anew with its minute, day or month.
func TestWindows(t *testing.T) {
	t.Parallel()
	for window, next := range map[account.Window]time.Time{
		account.WindowMinute: noon.Add(time.Minute), account.WindowDay: noon.Add(12 * time.Hour),
		account.WindowMonth: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC),
	} {
		w := newWorld(t)
		c, l := w.meter().Counter("org", "sa_a"), usage.Limits{Account: limits("*", account.UnitUnits, window, 3)}
		same(t, "passed", 3, w.passed(t, 5, c, l))
		_, err := c.Admit(t.Context(), tile, l, w.now().Unix())
		over, _ := errors.AsType[*usage.Exceeded](err)
		if over == nil || over.Reset != next.Sub(w.now()) || over.Remaining != 0 || over.Account != "sa_a" {
			t.Errorf("%s: error %+v", window, over)
		}
		w.set(next.Add(-time.Second))
		same(t, "passed in the last second", false, w.admit(t, c, l))
		w.set(next)
		same(t, "passed in the next window", 3, w.passed(t, 5, c, l))
	}
}

// TestQuotas makes requests that pass or not: a quota counts the scopes that it names, and a request once for each.
// Units beyond it turn the whole request into a refused one. Other limits take effect with the next request, with what
// was used before they were set.
func TestQuotas(t *testing.T) {
	t.Parallel()
	type step struct {
		scopes account.ScopeSet
		units  int64
		limits usage.Limits
		passes bool
	}
	scopes := usage.Limits{Account: account.NewLimits([]account.Quota{
		{Scope: "*", Unit: account.UnitRequests, Window: account.WindowDay, Limit: 5},
		{Scope: "DIRECTION", Unit: account.UnitRequests, Window: account.WindowDay, Limit: 1}})}
	units := usage.Limits{Account: limits("TILE", account.UnitUnits, account.WindowMinute, 10),
		Organization: limits("TILE", account.UnitUnits, account.WindowDay, 100)}
	own := must(account.DeclareScopes("ORDERS"))
	orders := usage.Limits{Account: account.NewLimits([]account.Quota{
		{Scope: "ORDERS", Unit: account.UnitRequests, Window: account.WindowDay, Limit: 1},
		{Scope: "GONE", Unit: account.UnitRequests, Window: account.WindowDay, Limit: 0}, // is for nothing any more
		{Scope: "*", Unit: account.UnitUnits, Window: account.WindowMonth, Limit: 4}})}
	none, ofOrganization := usage.Limits{}, usage.Limits{Organization: daily(10).Account}
	for name, steps := range map[string][]step{
		"scopes": {{both, 1, scopes, true}, {both, 1, scopes, false}, {tile, 1, scopes, true},
			{account.ScopeONM.Set(), 1, scopes, true}, {tile, 1, scopes, true}, {tile, 1, scopes, false}},
		"own scopes and any": {{own, 1, orders, true}, {own, 1, orders, false}, {account.AnyScope, 2, orders, true},
			{account.AnyScope, 1, orders, true}, {account.AnyScope, 1, orders, false}},
		"units": {{tile, 6, units, true}, {tile, 5, units, false}, {tile, 4, units, true}, {tile, 1, units, false}},
		"changes": {{tile, 1, none, true}, {tile, 1, none, true}, {tile, 1, daily(3), true}, {tile, 1, daily(3), false},
			{tile, 1, daily(5), true}, {tile, 1, daily(2), false}, {tile, 1, none, true}, {tile, 1, daily(6), true},
			{tile, 1, daily(6), false}, {tile, 1, ofOrganization, true}},
	} {
		w := newWorld(t)
		m := w.meter()
		want := account.Usage{}
		for i, s := range steps {
			e, err := m.Counter("org", "sa_a").Admit(t.Context(), s.scopes, s.limits, w.now().Unix())
			if err == nil {
				err = e.Charge(s.units)
			}
			if (err == nil) != s.passes {
				t.Errorf("%s, request %d: %v", name, i, err)
			}
			u := account.Usage{Requests: 1, Units: s.units}
			if !s.passes {
				u = account.Usage{Refused: 1}
			}
			if want = want.Add(u); s.scopes == both {
				want = want.Add(u)
			}
		}
		flush(t, m)
		same(t, name+": in the store", want, w.sum("org"))
	}
	// What was used of a scope that is no longer declared still counts for all scopes.
	w := newWorld(t)
	at := usage.Count{Subject: usage.Subject{Organization: "org", Account: "sa_a"}, Scope: "GONE", Start: noon.Unix(),
		Usage: account.Usage{Units: 3}}
	if err := w.Store.AddUsage(t.Context(), usage.Flush{Node: "a", Number: 1, Counts: []usage.Count{at}}); err != nil {
		t.Fatal(err)
	}
	c := w.meter().Counter("org", "sa_a")
	for _, want := range []bool{true, false} {
		_, err := c.Admit(t.Context(), account.AnyScope, orders, noon.Unix())
		same(t, "passed after another scope", want, err == nil)
	}
}

// TestChargeLater: units belong to the minute in which they become known. What is taken back makes no room there.
func TestChargeLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c, l := w.meter().Counter("org", "sa_a"), usage.Limits{Account: limits("TILE", account.UnitUnits, account.WindowMinute, 10)}
	admit := func() *usage.Entry { return new(must(c.Admit(t.Context(), tile, l, w.now().Unix()))) }
	early := admit()
	w.set(noon.Add(time.Minute))
	for i, charge := range []struct {
		entry *usage.Entry
		units int64
		fits  bool
	}{{admit(), 8, true}, {early, 4, false}, {admit(), 3, false}, {admit(), 2, true}} {
		if err := charge.entry.Charge(charge.units); (err == nil) != charge.fits {
			t.Errorf("charge %d: %v", i, err)
		}
	}
}

// TestStoreDown: while the store is down, quotas that are known need no store. Counts are kept for it. See TestSums for
// answers that are lost.
func TestStoreDown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m, l := w.meter(), daily(40)
	c := m.Counter("org", "sa_a")
	same(t, "passed", 10, w.passed(t, 10, c, l))
	w.fail(nil, nil, errDown)
	for range 2 {
		if m.Flush(t.Context()) == nil || m.Waiting() <= 0 {
			t.Errorf("a flush that failed returns no error, waiting %v", m.Waiting())
		}
		same(t, "passed while the store is down", 5, w.passed(t, 5, c, l))
	}
	same(t, "unflushed", 20, m.Unflushed())
	if _, err := m.Counter("org", "sa_b").Admit(t.Context(), tile, l, w.now().Unix()); !errors.Is(err, errDown) {
		t.Errorf("the first request of an account with quotas, without the store: %v", err)
	}
	same(t, "passed without quotas", true, w.admit(t, m.Counter("org", "sa_c"), usage.Limits{}))
	w.fail(nil, nil, nil)
	flush(t, m)
	same(t, "in the store", 21, w.sum("org").Requests)
	if m.Waiting() != 0 || m.Unflushed() != 0 {
		t.Errorf("waiting %v, unflushed %d", m.Waiting(), m.Unflushed())
	}
	same(t, "passed afterwards", 20, w.passed(t, 30, c, l))
}

// TestOvershoot: two servers let no more requests through beyond a quota than docs/run/limits.md says, at any flush interval.
func TestOvershoot(t *testing.T) {
	const rate = 250 // requests per second and server
	for _, seconds := range []int64{1, 10} {
		for name, test := range map[string]struct{ limit, most int64 }{
			// From 80% to the limit takes longer than a flush: what the other server lets through in 2 s.
			"slow": {2 * rate * 8 * seconds, 2 * rate},
			// The quota is used up between two flushes: each server lets all of it through.
			"burst": {rate * seconds / 2, rate * seconds / 2},
		} {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				ctx, stop := context.WithCancel(t.Context())
				var servers, flushing sync.WaitGroup
				passed := make([]int64, 2)
				for i := range passed {
					m := usage.NewMeter(w, time.Now, nil)
					m.Configure(time.Duration(seconds)*time.Second, usage.DefaultRetention)
					flushing.Go(func() { m.Run(ctx, func(what string, err error) { t.Errorf("%s: %v", what, err) }) })
					servers.Go(func() {
						for refused := 0; refused < 20; time.Sleep(time.Second / rate) {
							l := usage.Limits{Account: limits("TILE", account.UnitRequests, account.WindowMonth, test.limit)}
							if _, err := m.Counter("org", "sa_a").Admit(ctx, tile, l, time.Now().Unix()); err == nil {
								passed[i]++
							} else {
								refused++
							}
						}
					})
					time.Sleep(time.Second / rate / 2)
				}
				servers.Wait()
				stop()
				flushing.Wait()
				over := passed[0] + passed[1] - test.limit
				t.Logf("%s, %d s between flushes: %d beyond a quota of %d", name, seconds, over, test.limit)
				if over < 0 || over > test.most {
					t.Errorf("at most %d should be", test.most)
				}
			})
		}
	}
}

// TestClockIsSet: neither a clock that is set back nor one that jumps ahead and returns lets more requests pass than a
// window may have.
func TestClockIsSet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m, l := w.meter(), daily(10)
	passed := map[int]int{}
	for _, hours := range []int{0, 24, 0, 24, 402 * 24, 0, 24, -48, 0} {
		w.set(noon.Add(time.Duration(hours) * time.Hour))
		passed[hours] += w.passed(t, 7, m.Counter("org", "sa_a"), l)
	}
	same(t, "passed by the day", map[int]int{0: 10, 24: 10, 402 * 24: 7, -48: 7}, passed)
	// A request that is a little late stays in the window that others have begun.
	late := 0
	for i := range 12 {
		w.set(noon.Add(12*time.Hour - time.Duration(i%3)*time.Second))
		late += w.passed(t, 1, m.Counter("org", "sa_b"), l)
	}
	same(t, "passed around midnight", 10, late)
}

// TestReached: 80 and 100% are reported once in a window, over all nodes and restarts.
func TestReached(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := daily(10)
	l.Organization = limits("*", account.UnitUnits, account.WindowMonth, 1000)
	for _, requests := range []int{7, 7, 8} {
		m := w.meter()
		if requests == 8 {
			w.set(noon.Add(24 * time.Hour))
		}
		for range requests {
			w.admit(t, m.Counter("org", "sa_a"), l)
			flush(t, m)
		}
	}
	var levels []int
	for _, r := range w.events {
		if levels = append(levels, r.Level); r.Account != "sa_a" || r.Used < 8 || !r.End.After(noon) {
			t.Errorf("%+v", r)
		}
	}
	same(t, "levels", []int{80, 100, 80}, levels)
}

// TestRun: an organization with a quota that is nearly used up is flushed every second, others at the interval.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		m, l := w.meter(), daily(10)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go m.Run(ctx, func(what string, err error) { t.Errorf("%s: %v", what, err) })
		w.passed(t, 1, m.Counter("far", "sa_a"), l)
		w.passed(t, 9, m.Counter("close", "sa_b"), l)
		for _, step := range []struct {
			wait       time.Duration
			close, far int64
		}{{1100 * time.Millisecond, 9, 0}, {usage.DefaultFlush - 3*time.Second, 9, 0}, {2 * time.Second, 9, 1}} {
			time.Sleep(step.wait)
			synctest.Wait()
			same(t, "in the store", [2]int64{step.close, step.far}, [2]int64{w.sum("close").Requests, w.sum("far").Requests})
		}
	})
}

// TestIdleCounters: what is not used is forgotten, and a request that still holds it counts all the same.
func TestIdleCounters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.meter()
	old := m.Counter("org", "sa_a")
	e := must(old.Admit(t.Context(), tile, usage.Limits{}, w.now().Unix()))
	flush(t, m)
	same(t, "kept while in use", true, m.Counter("org", "sa_a") == old)
	w.set(noon.Add(20 * time.Minute))
	flush(t, m)
	same(t, "kept when idle", false, m.Counter("org", "sa_a") == old)
	e.Failed()
	w.admit(t, old, usage.Limits{})
	flush(t, m)
	same(t, "in the store", account.Usage{Requests: 2, Errors: 1, Units: 2}, w.sum("org"))
}

func BenchmarkAdmit(b *testing.B) {
	w := newWorld(b)
	l := daily(account.MaxQuotaLimit)
	l.Organization = limits("*", account.UnitUnits, account.WindowMonth, account.MaxQuotaLimit)
	c := w.meter().Counter("org", "sa_a")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			w.admit(b, c, l)
		}
	})
}
