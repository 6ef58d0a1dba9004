package postgres

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

// A database that has become one that can only be read does not pass a probe, though it answers questions.
func TestProbeOfReadOnly(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := open(t, pgtest.With(t, dsn, "pool_max_conns", "1"))
	set := func(readOnly string) {
		t.Helper()
		if err := s.on(t.Context(), func(conn *pgx.Conn) error {
			_, err := conn.Exec(context.Background(), "SET default_transaction_read_only = "+readOnly)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	set("on")
	if _, err := s.Account(t.Context(), "sa_"); account.IsUnavailable(err) {
		t.Errorf("reading: %v", err)
	}
	if err := s.Probe(t.Context()); !account.IsUnavailable(err) || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("error %v", err)
	}
	set("off")
	if err := s.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	if n := pgtest.Query[int](t, dsn, "SELECT count(*) FROM maps_keys"); n != 0 {
		t.Errorf("%d keys are left of probes", n)
	}
}
