package usage_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// TestUnknownOutcome: a flush that may have arrived is repeated as it was, and newer counts wait. One that certainly
// did not is made anew.
func TestUnknownOutcome(t *testing.T) {
	for _, test := range []struct {
		name      string
		err, then error // the first, and those after it
		late      bool
		same      bool
	}{
		{"lost before", errLost, errLost, false, true},
		{"lost after", errLost, errLost, true, true},
		{"lost after, then unchanged", errLost, errUnchanged, true, true},
		{"unchanged", errUnchanged, errUnchanged, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newShaky()
			m := s.meter()
			c := m.Counter("org", "x")
			s.away(test.err, test.late)
			for range 3 {
				_, _ = s.admit(c, usage.Limits{}, 2)
				if err := m.Flush(t.Context()); err == nil {
					t.Error("no error")
				}
				s.Step(time.Hour)
				s.away(test.then, false)
			}
			failed := s.sent()
			for _, f := range failed[1:] {
				if same := f.Number == failed[0].Number; same != test.same || same && !reflect.DeepEqual(f, failed[0]) {
					t.Errorf("flush %+v after %+v", f, failed[0])
				}
			}
			s.away(nil, false)
			flush(t, m)
			if u := s.used(t, "org", "x"); u.Requests != 6 {
				t.Errorf("used %+v", u)
			}
			if rows := s.rows(t, "org", account.StepHour); len(rows) != 3 {
				t.Errorf("rows %+v", rows)
			}
		})
	}
}

// TestWaitingIsBounded: what waits for a store that is away is bounded by hours, and nothing of it gets lost.
func TestWaitingIsBounded(t *testing.T) {
	for _, err := range []error{errLost, errUnchanged} {
		s := newShaky()
		m := s.meter()
		c, limited := m.Counter("org", "x"), m.Counter("org", "y")
		limits := quota("*", account.UnitRequests, account.WindowMinute, 1<<30)
		_, _ = s.admit(limited, limits, 1)
		s.away(err, false)
		for range 100 {
			_, _ = s.admit(c, usage.Limits{}, 1)
			_, _ = s.admit(limited, limits, 1)
			_ = m.Flush(t.Context())
			s.pass(time.Hour)
		}
		s.sent()
		s.away(nil, false)
		flush(t, m)
		if x, y := s.used(t, "org", "x"), s.used(t, "org", "y"); x.Requests != 100 || y.Requests != 101 {
			t.Errorf("used %+v and %+v", x, y)
		}
		for _, f := range s.sent() {
			if len(f.Hours) > 3*26 || len(f.Minutes) > 3 {
				t.Errorf("a flush of %d hours and %d minutes", len(f.Hours), len(f.Minutes))
			}
		}
	}
}

// TestKill: a process that ends without a flush loses what was counted since the last one, and nothing else.
func TestKill(t *testing.T) {
	s := newShaky()
	killed := s.meter()
	_, _ = s.admit(killed.Counter("org", "x"), daily(100), 30)
	flush(t, killed)
	_, _ = s.admit(killed.Counter("org", "x"), daily(100), 20)
	if passed, _ := s.admit(s.meter().Counter("org", "x"), daily(100), 100); passed != 70 {
		t.Errorf("%d passed after 30 of 100", passed)
	}
	if u := s.used(t, "org", "x"); u.Requests != 30 {
		t.Errorf("used %+v", u)
	}
}

// TestManyAccounts: more than one flush takes arrives in several, in order, with the totals of each organization.
func TestManyAccounts(t *testing.T) {
	const accounts = 30_000
	s := newShaky()
	m := s.meter()
	limits := usage.Limits{Organization: daily(accounts + 2).Account}
	last, twice := m.Counter("org", "z"), daily(2)
	_, _ = s.admit(last, twice, 1)
	for i := range accounts {
		c := m.Counter("org", time.Duration(i).String())
		if _, err := c.Admit(t.Context(), tile, limits, s.Now().Unix()); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = s.admit(last, twice, 1)
	s.sent()
	flush(t, m)
	flushes := s.sent()
	if passed, err := s.admit(last, twice, 1); passed != 0 {
		t.Errorf("beyond the quota %d passed, %v", passed, err)
	}
	if len(flushes) != 2 || flushes[0].Number >= flushes[1].Number {
		t.Fatalf("%d flushes", len(flushes))
	}
	sum := int64(0)
	for _, f := range flushes {
		for i, c := range f.Hours {
			if c.Account != "" {
				sum += c.Requests
			} else if c.Requests != accounts+1 {
				t.Errorf("the organization used %d", c.Requests)
			}
			if i > 0 && f.Hours[i-1].Account >= c.Account {
				t.Fatalf("%v after %v", c, f.Hours[i-1])
			}
		}
	}
	if sum != accounts+1 {
		t.Errorf("%d requests", sum)
	}
}

// TestRun: counts are handed over each second, folded each minute until there is no more to do, and Waiting tells since
// when the store does not take them.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShaky()
		m := usage.NewMeter(s, time.Now, nil)
		c := m.Counter("org", "x")
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { m.Run(ctx) })
		count := func() {
			if _, err := c.Admit(ctx, tile, usage.Limits{}, time.Now().Unix()); err != nil {
				t.Error(err)
			}
		}
		used := func(want int64) {
			t.Helper()
			if u := s.used(t, "org", "x"); u.Requests != want {
				t.Errorf("used %+v, want %d", u, want)
			}
		}
		count()
		time.Sleep(time.Second + 1)
		used(1)
		s.away(errLost, false)
		count()
		time.Sleep(10 * time.Second)
		if w := m.Waiting(); w < 8*time.Second || w > 10*time.Second {
			t.Errorf("counts wait for %v", w)
		}
		s.away(nil, false)
		time.Sleep(time.Second)
		if used(2); m.Waiting() != 0 {
			t.Errorf("counts wait for %v", m.Waiting())
		}
		s.mu.Lock()
		s.more = 2
		s.mu.Unlock()
		time.Sleep(10 * time.Minute)
		stop()
		running.Wait()
		if n := len(s.folds); n < 8 || n > 22 || len(slices.Compact(s.folds)) != n-2 {
			t.Errorf("folded at %v", s.folds)
		}
		count()
		used(2)
		flush(t, m)
		used(3)
	})
}

// TestEntries: what counts, and under what.
func TestEntries(t *testing.T) {
	none := usage.Limits{}
	for _, test := range []struct {
		name string
		do   func(c *usage.Counter, s *shaky) error
		want account.Usage
	}{
		{"nil", func(*usage.Counter, *shaky) error {
			e, err := (*usage.Counter)(nil).Admit(context.Background(), tile, none, 0)
			e.Failed()
			return errors.Join(err, e.Charge(5))
		}, account.Usage{}},
		{"no scope", func(c *usage.Counter, s *shaky) error {
			_, err := c.Admit(context.Background(), 0, none, s.Now().Unix())
			return err
		}, account.Usage{}},
		{"failed", func(c *usage.Counter, s *shaky) error {
			e, err := c.Admit(context.Background(), tile, none, s.Now().Unix())
			e.Failed()
			return err
		}, account.Usage{Requests: 1, Units: 1, Errors: 1}},
		{"units", func(c *usage.Counter, s *shaky) error {
			e, err := c.Admit(context.Background(), tile, none, s.Now().Unix())
			return errors.Join(err, e.Charge(12))
		}, account.Usage{Requests: 1, Units: 12}},
		{"no units", func(c *usage.Counter, s *shaky) error {
			e, err := c.Admit(context.Background(), tile, daily(5), s.Now().Unix())
			return errors.Join(err, e.Charge(-3))
		}, account.Usage{Requests: 1}},
		{"units beyond the quota, known late", func(c *usage.Counter, s *shaky) error {
			limits := quota("*", account.UnitUnits, account.WindowDay, 5)
			e, err := c.Admit(context.Background(), tile, limits, s.Now().Unix())
			e.Count(12)
			if _, err := c.Admit(context.Background(), tile, limits, s.Now().Unix()); !isExceeded(err) {
				return errors.Join(errors.New("there is something left"), err)
			}
			return err
		}, account.Usage{Requests: 1, Units: 12, Refused: 1}},
		{"too many units", func(c *usage.Counter, s *shaky) error {
			e, err := c.Admit(context.Background(), tile, none, s.Now().Unix())
			return errors.Join(err, e.Charge(1<<62))
		}, account.Usage{Requests: 1, Units: usage.MaxUnits}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newShaky()
			m := s.meter()
			if err := test.do(m.Counter("org", "x"), s); err != nil {
				t.Fatal(err)
			}
			if n := m.Pending(); n != test.want.Requests {
				t.Errorf("%d requests are pending, want %d", n, test.want.Requests)
			}
			flush(t, m)
			if n := m.Pending(); n != 0 {
				t.Errorf("%d requests are pending after a flush", n)
			}
			if u := s.used(t, "org", "x"); u != test.want {
				t.Errorf("used %+v, want %+v", u, test.want)
			}
		})
	}
}
