package store

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

// learns waits for a revision to rise.
func learns(t testing.TB, s *Store, organization string, number uint64) {
	t.Helper()
	eventually(t, "a change of "+organization, func() bool { return s.Revision(organization).Load() != number })
}

// TestPollOnly: where no notification arrives, as through some poolers, changes are known within a second all the same.
func TestPollOnly(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	a, b := openPostgres(t, dsn), openPostgres(t, dsn)
	for range 3 {
		number := b.Revision("org").Load()
		run(t, a, `WITH counter AS (UPDATE maps_change_counter SET value = value + 1 RETURNING value)
			INSERT INTO maps_changes (id, subject) SELECT value, $1::text FROM counter`, "org")
		began := time.Now()
		if learns(t, b, "org", number); time.Since(began) > time.Second {
			t.Errorf("known after %v", time.Since(began))
		}
	}
}

// TestCutConnections: after connections were cut, everything that was cached is read again, and calls go on.
func TestCutConnections(t *testing.T) {
	t.Parallel()
	dsn := pgtest.With(t, pgtest.DSN(t), "application_name", "cut "+t.Name())
	s := openPostgres(t, dsn)
	create(t, s, newAccount(1, "org"))
	for range 3 {
		number, keys := s.Revision("org").Load(), s.KeysRevision().Load()
		if n := pgtest.CutConnections(t, dsn, "cut "+t.Name()); n == 0 {
			t.Fatal("there was no connection to cut")
		}
		learns(t, s, "org", number)
		if s.KeysRevision().Load() == keys {
			t.Error("the keys count as unchanged")
		}
		eventually(t, "a call", func() bool {
			_, err := s.Account(context.Background(), "sa_000001")
			return err == nil
		})
	}
	same(t, "silent", 0, s.Health().Silent)
}

// TestCutOff: a server that the network cuts off says so, fails calls at once, and goes on by itself. What it missed
// counts as changed.
func TestCutOff(t *testing.T) {
	for name, network := range map[string]struct{ cut, join func(*pgtest.Proxy) }{
		"refused": {(*pgtest.Proxy).Refuse, (*pgtest.Proxy).Accept},
		"frozen":  {(*pgtest.Proxy).Freeze, (*pgtest.Proxy).Thaw},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := pgtest.DSN(t)
			proxy := pgtest.NewProxy(t, dsn)
			s, other := openPostgres(t, proxy.DSN), openPostgres(t, dsn)
			create(t, other, newAccount(1, "org"))
			must(s.Account(t.Context(), "sa_000001"))
			network.cut(proxy)
			eventually(t, "silence", func() bool { return s.Health().Silent > 0 })
			eventually(t, "calls that fail at once", func() bool {
				began := time.Now()
				_, err := s.Account(context.Background(), "sa_000001")
				return err != nil && time.Since(began) < 100*time.Millisecond
			})
			number := s.Revision("org").Load()
			must(other.DeleteAccount(t.Context(), "sa_000001", nil))
			network.join(proxy)
			learns(t, s, "org", number)
			eventually(t, "health", func() bool { return s.Health().Silent == 0 })
			eventually(t, "the deletion", func() bool {
				_, err := s.Account(context.Background(), "sa_000001")
				return errors.Is(err, account.ErrNotFound)
			})
		})
	}
}

// TestLostAnswer: a change whose answer is lost counts as one that may have taken place.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	proxy := pgtest.NewProxy(t, pgtest.DSN(t))
	s := openPostgres(t, proxy.DSN)
	create(t, s, newAccount(1, "org"))
	number := s.Revision("org").Load()
	_, _, err := s.UpdateAccount(t.Context(), "sa_000001", func(a *account.Account) (bool, error) {
		a.Status = account.StatusSuspended
		proxy.Swallow("commit")
		return true, nil
	})
	if !account.IsUnavailable(err) || s.Revision("org").Load() == number {
		t.Errorf("error %v, revision %d after %d", err, s.Revision("org").Load(), number)
	}
}

// TestDatabaseClock: servers go by the clock of the database, and so by the same one.
func TestDatabaseClock(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	s := openPostgres(t, dsn)
	said := pgtest.Query[time.Time](t, dsn, "SELECT clock_timestamp()")
	if off := s.Now().Sub(said); off < -time.Second || off > 5*time.Second {
		t.Errorf("the store's clock is %v ahead of the database's", off)
	}
	s.db.(*postgres).clock.Store(&reading{said.AddDate(100, 0, 0), time.Now()})
	eventually(t, "the clock to be read again", func() bool { return s.Now().Year() < said.Year()+100 })
}

// TestManyServersStart: servers that start at the same time make the tables once. Newer tables are refused.
func TestManyServersStart(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	open := func() (*Store, error) {
		return OpenPostgres(context.Background(), must(ParseDSN(dsn, "")), zap.NewNop())
	}
	stores := make([]*Store, 5)
	errs := together(len(stores), func(i int) (err error) {
		stores[i], err = open()
		return err
	})
	same(t, "opened", len(stores), count(errs, nil))
	create(t, stores[0], newAccount(1, "org"))
	must(stores[4].Account(t.Context(), "sa_000001"))
	for _, s := range stores {
		is(t, "Close", nil, s.Close())
	}
	pgtest.Exec(t, dsn, "UPDATE maps_schema SET version = 99")
	if _, err := open(); err == nil || !strings.Contains(err.Error(), "newer caddy-maps") {
		t.Errorf("newer tables: %v", err)
	}
}

// TestRefusedDatabases: errors say what is wrong, at once, and hold no password.
func TestRefusedDatabases(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(c *pgx.ConnConfig){
		"a wrong database": func(c *pgx.ConnConfig) { c.Database = "nothing_like_this" },
		"a wrong user":     func(c *pgx.ConnConfig) { c.User, c.Password = "nothing_like_this", "s3cret-password" },
	} {
		cfg := must(ParseDSN(pgtest.DSN(t), ""))
		change(cfg.ConnConfig)
		began := time.Now()
		_, err := OpenPostgres(t.Context(), cfg, zap.NewNop())
		if err == nil || strings.Contains(err.Error(), "s3cret") || time.Since(began) > 5*time.Second {
			t.Errorf("%s: %v after %v", what, err, time.Since(began))
		}
	}
	for _, dsn := range []string{"postgres://u:s3cret@h:port/x", "host=x password=s3cret port=none", "nothing"} {
		if _, err := ParseDSN(dsn, ""); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", dsn, err)
		}
	}
}

// TestPrune: old changes are removed, and a server that missed some takes everything for changed.
func TestPrune(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	s := openPostgres(t, dsn)
	for range 3 {
		is(t, "SetOrganizationQuotas", nil, s.SetOrganizationQuotas(t.Context(), "org", nil))
	}
	pgtest.Exec(t, dsn, "UPDATE maps_changes SET made_at = now() - interval '2 hours'")
	f := &feed{}
	is(t, "begin", nil, f.begin(t.Context(), s.db.(*postgres)))
	defer f.close()
	is(t, "prune", nil, f.prune(t.Context()))
	same(t, "changes left", 1, pgtest.Query[int](t, dsn, "SELECT count(*) FROM maps_changes"))
	f.last = 0
	number := s.Revision("another").Load()
	must(f.page(t.Context(), s.db.(*postgres), s))
	if s.Revision("another").Load() == number {
		t.Error("after a gap, nothing counts as changed")
	}
}
