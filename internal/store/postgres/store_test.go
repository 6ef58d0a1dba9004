package postgres

import (
	"os"
	"testing"

	"go.uber.org/zap/zaptest"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/account/accounttest"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
	"github.com/mapsedge/caddy-maps/internal/usage"
	"github.com/mapsedge/caddy-maps/internal/usage/usagetest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func TestStore(t *testing.T) {
	accounttest.Run(t, func(t *testing.T) account.Store { return open(t, pgtest.DSN(t)) })
}

func TestUsage(t *testing.T) {
	usagetest.Run(t, func(t *testing.T) usage.Store { return open(t, pgtest.DSN(t)) })
}

// open opens a store until the end of the test.
func open(t testing.TB, dsn string) *Store {
	t.Helper()
	s, err := tryOpen(t, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func tryOpen(t testing.TB, dsn string) (*Store, error) {
	t.Helper()
	cfg, err := ParseDSN(dsn, "")
	if err != nil {
		t.Fatal(err)
	}
	return Open(t.Context(), cfg, Options{Listen: true, Logger: zaptest.NewLogger(t)})
}
