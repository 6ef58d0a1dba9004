package usage_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
	"github.com/mapsedge/caddy-maps/internal/usage/usagetest"
)

var (
	errLost      = errors.New("connection reset")
	errUnchanged = errors.Join(errors.New("connection refused"), account.ErrUnchanged)
	start        = time.Date(2027, 3, 14, 15, 9, 26, 0, time.UTC)
)

// shaky is a store that fails as it is told, and writes down what it is asked.
type shaky struct {
	usage.Store
	clock
	steady clock // that is not set

	mu      sync.Mutex
	fail    error // of all calls, until it is nil again
	late    bool  // the call is made, and its answer lost
	slow    time.Duration
	flushes []usage.Flush
	folds   []time.Time
	more    int // how many folds have more to do

	failMarks atomic.Bool // with errLost, whatever else there is
}

// clock is a clock that tests set.
type clock struct{ at atomic.Int64 }

func (c *clock) Now() time.Time        { return time.Unix(0, c.at.Load()).UTC() }
func (c *clock) Set(at time.Time)      { c.at.Store(at.UnixNano()) }
func (c *clock) Step(by time.Duration) { c.at.Add(int64(by)) }

func newShaky() *shaky { return newShakyOn(usagetest.NewMemory()) }

func newShakyOn(store usage.Store) *shaky {
	s := &shaky{Store: store}
	s.Set(start)
	s.steady.Set(start)
	return s
}

// pass lets time go by.
func (s *shaky) pass(d time.Duration) {
	s.Step(d)
	s.steady.Step(d)
}

// away makes the store fail from now on.
func (s *shaky) away(err error, late bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail, s.late = err, late
}

func (s *shaky) AddUsage(ctx context.Context, f *usage.Flush) ([]usage.Total, error) {
	s.mu.Lock()
	fail, late := s.fail, s.late
	kept := *f
	kept.Hours, kept.Minutes, kept.Ask = slices.Clone(f.Hours), slices.Clone(f.Minutes), slices.Clone(f.Ask)
	s.flushes = append(s.flushes, kept)
	s.mu.Unlock()
	time.Sleep(s.slow)
	if fail != nil && !late {
		return nil, fail
	}
	totals, err := s.Store.AddUsage(ctx, f)
	return totals, errors.Join(err, fail)
}

func (s *shaky) FoldUsage(ctx context.Context, now time.Time, keep usage.Retention) (bool, error) {
	s.mu.Lock()
	s.folds = append(s.folds, now)
	s.more--
	more, fail := s.more >= 0, s.fail
	s.mu.Unlock()
	if fail != nil {
		return false, fail
	}
	_, err := s.Store.FoldUsage(ctx, now, keep)
	return more, err
}

func (s *shaky) MarkQuota(ctx context.Context, mark usage.Mark) (bool, error) {
	s.mu.Lock()
	fail := s.fail
	s.mu.Unlock()
	if s.failMarks.Load() {
		fail = errLost
	}
	if fail != nil {
		return false, fail
	}
	return s.Store.MarkQuota(ctx, mark)
}

// sent returns the flushes since the last call.
func (s *shaky) sent() []usage.Flush {
	s.mu.Lock()
	defer s.mu.Unlock()
	flushes := s.flushes
	s.flushes = nil
	return flushes
}

func (s *shaky) meter() *usage.Meter { return s.meterFor(nil) }

func (s *shaky) meterFor(hear func(usage.Reached)) *usage.Meter {
	m := usage.NewMeter(s, s.Now, hear)
	m.SetSteady(s.steady.Now)
	return m
}

// used is what the store says an account used since ever.
func (s *shaky) used(t testing.TB, organization, id string) account.Usage {
	t.Helper()
	var sum account.Usage
	for _, row := range s.rows(t, organization, account.StepMonth) {
		if row.Account == id {
			sum = sum.Add(row.Usage)
		}
	}
	return sum
}

func (s *shaky) rows(t testing.TB, organization string, step account.Step) []usage.Row {
	t.Helper()
	rows, err := s.Usage(context.Background(), usage.Query{Organization: organization, Step: step,
		To: time.Unix(1<<40, 0), Limit: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// admit makes n requests, and returns how many passed and the last error.
func (s *shaky) admit(c *usage.Counter, limits usage.Limits, n int) (passed int, last error) {
	for range n {
		if _, err := c.Admit(context.Background(), tile, limits, s.Now().Unix()); err != nil {
			last = err
		} else {
			passed++
		}
	}
	return passed, last
}

func flush(t testing.TB, meters ...*usage.Meter) {
	t.Helper()
	for _, m := range meters {
		if err := m.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
}

// quota is one of an account.
func quota(scope string, unit account.Unit, window account.Window, limit int64) usage.Limits {
	q := account.Quota{Scope: scope, Unit: unit, Window: window, Limit: limit}
	return usage.Limits{Account: account.NewLimits([]account.Quota{q})}
}

func daily(limit int64) usage.Limits {
	return quota("*", account.UnitRequests, account.WindowDay, limit)
}

func isExceeded(err error) bool {
	var exceeded *usage.Exceeded
	return errors.As(err, &exceeded)
}
