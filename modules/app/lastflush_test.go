package app

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/store"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// TestLastFlush: the log has one line for the usage that is lost, if the store cannot take it when it is closed.
func TestLastFlush(t *testing.T) {
	for _, lost := range []bool{true, false} {
		path := filepath.Join(t.TempDir(), "accounts.db")
		opened, err := store.OpenSQLite(path, zap.NewNop())
		if err != nil {
			t.Fatal(err)
		}
		s := newOpenStore(opened)
		core, log := observer.New(zap.ErrorLevel)
		s.logger = zap.New(core)
		counter := s.meter.Counter("acme", "sa_1")
		for range 3 {
			if _, err := counter.Admit(t.Context(), account.ScopeTile.Set(), usage.Limits{}, time.Now().Unix()); err != nil {
				t.Fatal(err)
			}
		}
		want := 0
		if lost {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			want = 1
		}
		if err := s.Destruct(); err != nil {
			t.Fatal(err)
		}
		lines := log.FilterFieldKey("requests").All()
		if len(lines) != want {
			t.Fatalf("%d lines: %v", len(lines), lines)
		}
		for _, line := range lines {
			if n := line.ContextMap()["requests"]; n != int64(3) {
				t.Errorf("%v requests are lost", n)
			}
		}
	}
}
