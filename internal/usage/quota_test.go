package usage_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// TestNeverOvershot: many at once, while days pass and counts are flushed, get the quota of each day and no more.
func TestNeverOvershot(t *testing.T) {
	const limit, units, all, days, workers, perDay = 500, 700, 600, 4, 8, 2000
	s := newShaky()
	m := s.meter()
	c, other := m.Counter("org", "a"), m.Counter("org", "b")
	limits := usage.Limits{Organization: daily(all).Account, Account: account.NewLimits([]account.Quota{
		{Scope: "*", Unit: account.UnitRequests, Window: account.WindowDay, Limit: limit},
		{Scope: "*", Unit: account.UnitUnits, Window: account.WindowDay, Limit: units},
	})}
	var asked, passed, refused atomic.Int64
	request := func(c *usage.Counter, units int64) {
		e, err := c.Admit(context.Background(), tile, limits, s.Now().Unix())
		if err == nil {
			err = e.Charge(units)
		}
		switch {
		case err == nil:
			passed.Add(1)
		case isExceeded(err):
			refused.Add(1)
		default:
			t.Error(err)
		}
	}
	stop, flushing := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(flushing)
		for {
			select {
			case <-stop:
				return
			default:
				flush(t, m)
			}
		}
	}()
	var work sync.WaitGroup
	for range workers {
		work.Go(func() {
			for n := asked.Add(1); n <= days*perDay; n = asked.Add(1) {
				if n%2 == 0 {
					request(c, 1+n%5)
				} else {
					request(other, 1)
				}
				if n%perDay == 0 {
					s.Step(24*time.Hour + time.Minute)
				}
			}
		})
	}
	work.Wait()
	close(stop)
	<-flushing
	flush(t, m)
	if passed.Load()+refused.Load() != days*perDay {
		t.Errorf("%d passed, %d refused", passed.Load(), refused.Load())
	}
	a, b := s.used(t, "org", "a"), s.used(t, "org", "b")
	if a.Requests+b.Requests != passed.Load() || a.Refused+b.Refused != refused.Load() {
		t.Errorf("used %+v and %+v, passed %d, refused %d", a, b, passed.Load(), refused.Load())
	}
	byDay := map[time.Time]int64{}
	for _, row := range s.rows(t, "org", account.StepDay) {
		byDay[row.Start] += row.Requests
		if row.Requests > limit || row.Units > units {
			t.Errorf("%s used %+v on one day", row.Account, row.Usage)
		}
	}
	for i := range days {
		// Requests that are refused for their units take a place for a moment.
		if used := byDay[start.Truncate(24*time.Hour).AddDate(0, 0, i)]; used > all || used < all-workers {
			t.Errorf("day %d: %d used of %d", i, used, all)
		}
	}
}

// TestNodes: on several nodes a quota is overshot by what passes until each has flushed, and then no more. A node that
// starts knows what was used before.
func TestNodes(t *testing.T) {
	s := newShaky()
	a, b := s.meter(), s.meter()
	limits := quota("*", account.UnitRequests, account.WindowMonth, 100)
	for _, step := range []struct {
		meter *usage.Meter
		asked int
		want  int
	}{
		{a, 60, 60}, {b, 60, 60}, // b has not heard of those
		{a, 60, 40}, // nor a of its
	} {
		if passed, err := s.admit(step.meter.Counter("org", "x"), limits, step.asked); passed != step.want {
			t.Errorf("%d of %d passed, want %d (%v)", passed, step.asked, step.want, err)
		}
	}
	flush(t, a, b, a)
	for _, m := range []*usage.Meter{a, b, s.meter()} {
		if passed, err := s.admit(m.Counter("org", "x"), limits, 5); passed != 0 || !isExceeded(err) {
			t.Errorf("%d passed beyond the quota, error %v", passed, err)
		}
	}
	s.pass(time.Date(2027, 4, 1, 0, 0, 0, 0, time.UTC).Sub(start))
	s.away(errLost, false)
	if passed, err := s.admit(a.Counter("org", "x"), limits, 200); passed != 100 {
		t.Errorf("%d passed in the next month, without a store; %v", passed, err)
	}
}

func TestQuotaChanges(t *testing.T) {
	s := newShaky()
	m := s.meter()
	c := m.Counter("org", "x")
	tiles := quota("TILE", account.UnitRequests, account.WindowDay, 25)
	for i, step := range []struct {
		limits usage.Limits
		want   int // of 10
	}{
		{daily(5), 5}, {daily(12), 7}, {daily(3), 0}, {usage.Limits{}, 10},
		{daily(25), 3}, // those 10 count
		{tiles, 0}, {quota("MATRIX", account.UnitRequests, account.WindowDay, 0), 10},
		{usage.Limits{Organization: daily(40).Account}, 5}, {usage.Limits{Organization: daily(0).Account}, 0},
		{usage.Limits{Account: daily(100).Account, Organization: daily(42).Account}, 2},
	} {
		if passed, err := s.admit(c, step.limits, 10); passed != step.want {
			t.Errorf("step %d: %d passed, want %d; %v", i, passed, step.want, err)
		}
	}
}

// TestFirstRequests: what was used is asked for once for all. Without a store nobody knows it.
func TestFirstRequests(t *testing.T) {
	s := newShaky()
	s.slow = 20 * time.Millisecond
	m := s.meter()
	c := m.Counter("org", "x")
	s.away(errLost, false)
	if passed, err := s.admit(c, daily(10), 1); passed != 0 || !errors.Is(err, errLost) {
		t.Errorf("without a store %d passed, error %v", passed, err)
	}
	s.away(nil, false)
	s.sent()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Admit(gone, tile, daily(10), s.Now().Unix()); !errors.Is(err, context.Canceled) {
		t.Errorf("whoever does not wait gets %v", err)
	}
	var wg sync.WaitGroup
	limits := daily(50)
	for range 50 {
		wg.Go(func() {
			if passed, err := s.admit(c, limits, 1); passed != 1 {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if calls := len(s.sent()); calls > 3 {
		t.Errorf("%d calls of the store", calls)
	}
	flush(t, m)
	if used := s.used(t, "org", "x"); used.Requests != 50 || used.Refused != 0 {
		t.Errorf("used %+v", used)
	}
}

func TestExceeded(t *testing.T) {
	const minute, day = time.Minute, 24 * time.Hour
	for _, test := range []struct {
		name   string
		quota  account.Quota
		scopes account.ScopeSet
		asked  int
		units  int64
		after  time.Duration // the clock is set on between two requests
		want   usage.Exceeded
	}{
		{"minute", account.Quota{Scope: "TILE", Unit: "requests", Window: "minute", Limit: 2}, tile, 2, 1, 0,
			usage.Exceeded{Reset: 34 * time.Second, Length: minute}},
		{"last second", account.Quota{Scope: "*", Unit: "requests", Window: "minute", Limit: 2}, tile, 2, 1,
			33*time.Second + 999*time.Millisecond, usage.Exceeded{Reset: time.Second, Length: minute}},
		{"day", account.Quota{Scope: "*", Unit: "units", Window: "day", Limit: 2}, tile, 2, 1, 0,
			usage.Exceeded{Reset: 8*time.Hour + 50*minute + 34*time.Second, Length: day}},
		{"month", account.Quota{Scope: "*", Unit: "units", Window: "month", Limit: 0}, tile, 0, 1, 0,
			usage.Exceeded{Reset: 17*day + 8*time.Hour + 50*minute + 34*time.Second, Length: 31 * day}},
		{"two scopes", account.Quota{Scope: "*", Unit: "requests", Window: "minute", Limit: 3}, tile | 2, 1, 1, 0,
			usage.Exceeded{Remaining: 1, Reset: 34 * time.Second, Length: minute}},
		{"units", account.Quota{Scope: "TILE", Unit: "units", Window: "minute", Limit: 25}, tile | 2, 2, 10, 0,
			usage.Exceeded{Remaining: 4, Reset: 34 * time.Second, Length: minute}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newShaky()
			m := s.meter()
			c := m.Counter("org", "x")
			limits := usage.Limits{Account: account.NewLimits([]account.Quota{test.quota})}
			ask := func() error {
				e, err := c.Admit(t.Context(), test.scopes, limits, s.Now().Unix())
				if err == nil {
					err = e.Charge(test.units)
				}
				return err
			}
			for range test.asked {
				if err := ask(); err != nil {
					t.Fatal(err)
				}
				flush(t, m)
			}
			s.Step(test.after)
			var got *usage.Exceeded
			if err := ask(); !errors.As(err, &got) {
				t.Fatal(err)
			}
			test.want.Quota, test.want.Subject = test.quota, usage.Subject{Organization: "org", Account: "x"}
			if *got != test.want {
				t.Errorf("%+v, want %+v", *got, test.want)
			}
			flush(t, m)
			scopes := int64(1)
			if test.scopes != tile {
				scopes = 2
			}
			want := account.Usage{Requests: int64(test.asked) * scopes, Refused: scopes,
				Units: int64(test.asked) * scopes * test.units}
			if used := s.used(t, "org", "x"); used != want {
				t.Errorf("used %+v, want %+v", used, want)
			}
			s.Step(got.Reset)
			if err := ask(); isExceeded(err) != (test.quota.Limit == 0) {
				t.Errorf("in the next window: %v", err)
			}
		})
	}
}

// TestLongestQuota: of several that are used up the one is named that is so for longest.
func TestLongestQuota(t *testing.T) {
	s := newShaky()
	list := []account.Quota{{Scope: "*", Unit: "requests", Window: "minute", Limit: 1},
		{Scope: "*", Unit: "units", Window: "month", Limit: 1}, {Scope: "TILE", Unit: "units", Window: "day", Limit: 1}}
	_, err := s.admit(s.meter().Counter("org", "x"), usage.Limits{Organization: account.NewLimits(list)}, 2)
	var got *usage.Exceeded
	if !errors.As(err, &got) || got.Quota != list[1] || got.Subject != (usage.Subject{Organization: "org"}) {
		t.Errorf("%+v", got)
	}
}

// TestClock: what was used in a window is known however the clock got there.
func TestClock(t *testing.T) {
	const day = 24 * time.Hour
	for _, test := range []struct {
		name  string
		steps func(s *shaky, m, other *usage.Meter)
		want  int // what is left of 10 at the end
	}{
		{"back and on", func(s *shaky, m, _ *usage.Meter) {
			_, _ = s.admit(m.Counter("org", "x"), daily(10), 7)
			s.Step(-day)
			_, _ = s.admit(m.Counter("org", "x"), daily(10), 5)
			s.pass(day)
		}, 3},
		{"forth and back", func(s *shaky, m, _ *usage.Meter) {
			_, _ = s.admit(m.Counter("org", "x"), daily(10), 7)
			s.Step(day)
			_, _ = s.admit(m.Counter("org", "x"), daily(10), 5)
			s.Step(-day)
		}, 3},
		{"to where another node was", func(s *shaky, m, other *usage.Meter) {
			s.Step(day)
			_, _ = s.admit(other.Counter("org", "x"), daily(10), 6)
			flush(t, other)
			s.Step(-day)
			_, _ = s.admit(m.Counter("org", "x"), daily(10), 5)
			s.Step(day)
		}, 4},
		{"a little back over midnight", func(s *shaky, m, _ *usage.Meter) {
			s.pass(start.Truncate(day).Add(day).Sub(start))
			_, _ = s.admit(m.Counter("org", "x"), daily(10), 7)
			s.Step(-2 * time.Second)
		}, 3},
		{"units refused after midnight", func(s *shaky, m, _ *usage.Meter) {
			limits := usage.Limits{Account: daily(10).Account,
				Organization: quota("*", account.UnitUnits, account.WindowDay, 50).Account}
			e, err := m.Counter("org", "x").Admit(context.Background(), tile, limits, s.Now().Unix())
			if err != nil {
				t.Error(err)
			}
			s.pass(day)
			_, _ = s.admit(m.Counter("org", "x"), limits, 2)
			if err := e.Charge(1000); !isExceeded(err) {
				t.Error(err)
			}
		}, 8},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newShaky()
			m := s.meter()
			_, _ = s.admit(m.Counter("org", "x"), daily(10), 0)
			test.steps(s, m, s.meter())
			if passed, err := s.admit(m.Counter("org", "x"), daily(10), 20); passed != test.want {
				t.Errorf("%d passed, want %d; %v", passed, test.want, err)
			}
			flush(t, m)
			if passed, err := s.admit(m.Counter("org", "x"), daily(10), 20); passed != 0 {
				t.Errorf("after a flush %d passed; %v", passed, err)
			}
		})
	}
}
