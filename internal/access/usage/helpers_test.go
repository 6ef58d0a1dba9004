package usage

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// The store imports this package, so tests of its internals get one from the external test package.
var openStore func(path string) (interface {
	Store
	Close() error
}, error)

// SetOpenStore is called by the external test package.
func SetOpenStore(open func(path string) (interface {
	Store
	Close() error
}, error)) {
	openStore = open
}

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// world is a real store that can be made to fail, and a clock that can be set.
type world struct {
	Store
	clock atomic.Int64
	calls atomic.Int64 // of AddUsage

	mu     sync.Mutex
	before error // of AddUsage, which then adds nothing
	after  error // of AddUsage, which has added all the same
	away   bool  // nothing answers
	heard  []Reached
}

var errAway = errors.New("the store is away")

func newWorld(t testing.TB) *world {
	t.Helper()
	opened, err := openStore(filepath.Join(t.TempDir(), "usage.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = opened.Close() })
	w := &world{Store: opened}
	w.set(noon)
	return w
}

func (w *world) now() time.Time   { return time.Unix(0, w.clock.Load()).UTC() }
func (w *world) set(at time.Time) { w.clock.Store(at.UnixNano()) }
func (w *world) unix() int64      { return w.now().Unix() }

func (w *world) meter() *Meter {
	return NewMeter(w, w.now, func(r Reached) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.heard = append(w.heard, r)
	})
}

// fail sets what the next calls return.
func (w *world) fail(before, after error, away bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before, w.after, w.away = before, after, away
}

func (w *world) AddUsage(ctx context.Context, f Flush) error {
	w.calls.Add(1)
	w.mu.Lock()
	before, after, away := w.before, w.after, w.away
	w.mu.Unlock()
	switch {
	case away:
		return errAway
	case before != nil:
		return before
	}
	return errors.Join(w.Store.AddUsage(ctx, f), after)
}

func (w *world) Totals(ctx context.Context, organization string, accounts []string, at time.Time) ([]Total, error) {
	w.mu.Lock()
	away := w.away
	w.mu.Unlock()
	if away {
		return nil, errAway
	}
	return w.Store.Totals(ctx, organization, accounts, at)
}

// sum is what the store has of an organization in the month of the clock.
func (w *world) sum(t testing.TB, organization string) (u account.Usage) {
	t.Helper()
	start, end := account.StepMonth.Span(w.now())
	rows, err := w.Usage(context.Background(), Query{Organization: organization, Step: account.StepHour, From: start, To: end,
		Limit: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		u = u.Add(row.Usage)
	}
	return u
}

func quota(scope string, unit account.Unit, window account.Window, limit int64) account.Quota {
	return account.Quota{Scope: scope, Unit: unit, Window: window, Limit: limit}
}

func limits(quotas ...account.Quota) *account.Limits { return account.NewLimits(quotas) }

var (
	tile = account.ScopeTile.Set()
	both = tile | account.ScopeDirection.Set()
)

// admit counts a request, and reports whether it passed.
func admit(t testing.TB, c *Counter, scopes account.ScopeSet, l Limits, unix int64) bool {
	t.Helper()
	_, err := c.Admit(context.Background(), scopes, l, unix)
	if _, exceeded := errors.AsType[*Exceeded](err); err != nil && !exceeded {
		t.Errorf("Admit: %v", err)
	}
	return err == nil
}

func flush(t testing.TB, m *Meter) {
	t.Helper()
	if err := m.Flush(context.Background()); err != nil {
		t.Fatalf("Flush: %v", err)
	}
}
