package mapsapp

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/store"
	"github.com/mapsedge/caddy-maps/internal/store/bolt"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// fullStore takes no counts while it is full.
type fullStore struct {
	store.Store
	full *atomic.Bool
}

func (s fullStore) AddUsage(ctx context.Context, f *usage.Flush) ([]usage.Total, error) {
	if s.full.Load() {
		return nil, account.ErrUnchanged
	}
	return s.Store.AddUsage(ctx, f)
}

// TestLastFlush: the log has one line for what is lost, however often the server tries to hand it over.
func TestLastFlush(t *testing.T) {
	for _, test := range []struct {
		name  string
		full  bool // at the end, too
		lines int
	}{{"full", true, 1}, {"taken", false, 0}} {
		t.Run(test.name, func(t *testing.T) {
			kept, err := bolt.Open(filepath.Join(t.TempDir(), "accounts.db"), nil)
			if err != nil {
				t.Fatal(err)
			}
			core, log := observer.New(zap.ErrorLevel)
			full := new(atomic.Bool)
			full.Store(test.full)
			s := newOpenStore(fullStore{kept, full}, zap.New(core))
			counter := s.meter.Counter("acme", "sa_1")
			for range 3 {
				if _, err := counter.Admit(t.Context(), account.ScopeTile.Set(), usage.Limits{}, time.Now().Unix()); err != nil {
					t.Fatal(err)
				}
			}
			s.flushUsage()
			if err := s.Destruct(); err != nil {
				t.Fatal(err)
			}
			lines := log.FilterFieldKey("requests").All()
			if len(lines) != test.lines {
				t.Fatalf("%d lines: %v", len(lines), lines)
			}
			for _, line := range lines {
				if n := line.ContextMap()["requests"]; n != int64(3) {
					t.Errorf("%v requests are lost", n)
				}
			}
		})
	}
}
