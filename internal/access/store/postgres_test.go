package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

// heardWithin is what is promised of changes on other servers.
const heardWithin = time.Second

// heard waits for a revision to rise, and returns how long that took.
func heard(t testing.TB, s *Store, organization string, number uint64) time.Duration {
	t.Helper()
	began := time.Now()
	eventually(t, "a change of "+organization, func() bool { return s.Revision(organization).Load() != number })
	return time.Since(began)
}

// TestOtherServersHear: every change that a cached token depends on reaches the other servers within a second.
func TestOtherServersHear(t *testing.T) {
	dsn := pgtest.DSN(t)
	a, b := openPostgres(t, dsn), openPostgres(t, dsn)
	create(t, a, newAccount(1, "org"), newAccount(2, "org"))
	addGrant(t, a, 1, "sa_000001", "sa_000001", 10)
	for _, test := range []struct { // the order matters: a grant can end only once
		what   string
		change func() error
	}{
		{"an update", func() error {
			_, _, err := a.UpdateAccount(context.Background(), "sa_000001", func(acc *account.Account) (bool, error) {
				acc.Description += "."
				return true, nil
			})
			return err
		}},
		{"a deletion", func() error {
			_, err := a.DeleteAccount(context.Background(), "sa_000002", nil)
			return err
		}},
		{"quotas", func() error { return a.SetOrganizationQuotas(context.Background(), "org", nil) }},
		{"an ended grant", func() error { return a.EndGrant(context.Background(), "gr_000001") }},
		{"a pushed grant", func() error {
			addGrant(t, a, 2, "sa_000001", "sa_000001", 1)
			addGrant(t, a, 3, "sa_000001", "sa_000001", 1)
			return nil
		}},
	} {
		number, other := b.Revision("org").Load(), b.Revision("other").Load()
		is(t, test.what, nil, test.change())
		if took := heard(t, b, "org", number); took > heardWithin {
			t.Errorf("%s was heard after %v", test.what, took)
		}
		if b.Revision("other").Load() != other {
			t.Errorf("%s changed another organization", test.what)
		}
	}
	keys := b.KeysRevision().Load()
	_, err := a.UpdateKeys(t.Context(), func([]account.Key) ([]account.Key, error) {
		return []account.Key{newKey("k", account.KeyAccess, 1)}, nil
	})
	is(t, "UpdateKeys", nil, err)
	eventually(t, "the keys", func() bool { return b.KeysRevision().Load() != keys })
}

// TestPollOnly: where no notification arrives, as through some poolers, changes are heard within a second all the same.
func TestPollOnly(t *testing.T) {
	dsn := pgtest.DSN(t)
	a, b := openPostgres(t, dsn), openPostgres(t, dsn)
	create(t, a, newAccount(1, "org"))
	for range 3 {
		number := b.Revision("org").Load()
		run(t, a, `WITH counter AS (UPDATE maps_change_counter SET value = value + 1 RETURNING value)
			INSERT INTO maps_changes (id, subject) SELECT value, $1::text FROM counter`, "org")
		if took := heard(t, b, "org", number); took > heardWithin {
			t.Errorf("it was heard after %v", took)
		}
	}
}

// TestCutConnections: after connections were cut, everything that was cached is asked for again, and calls go on.
func TestCutConnections(t *testing.T) {
	dsn := pgtest.With(t, pgtest.DSN(t), "application_name", "cut "+t.Name())
	s := openPostgres(t, dsn)
	create(t, s, newAccount(1, "org"))
	for range 3 {
		number, keys := s.Revision("org").Load(), s.KeysRevision().Load()
		if n := pgtest.CutConnections(t, dsn, "cut "+t.Name()); n == 0 {
			t.Fatal("there was no connection to cut")
		}
		heard(t, s, "org", number)
		if s.KeysRevision().Load() == keys {
			t.Error("the keys count as unchanged")
		}
		eventually(t, "a call", func() bool {
			_, err := s.Account(context.Background(), "sa_000001")
			return err == nil
		})
	}
	if silent := s.Health().Silent; silent != 0 {
		t.Errorf("the store is silent for %v", silent)
	}
}

// TestCutOff: a server that the network cuts off says so, answers at once, and goes on by itself; what it missed meanwhile
// counts as changed.
func TestCutOff(t *testing.T) {
	dsn := pgtest.DSN(t)
	for name, cut := range map[string]func(*pgtest.Proxy){
		"refused": (*pgtest.Proxy).Refuse,
		"frozen":  (*pgtest.Proxy).Freeze,
	} {
		t.Run(name, func(t *testing.T) {
			proxy := pgtest.NewProxy(t, dsn)
			s, other := openPostgres(t, proxy.DSN), openPostgres(t, dsn)
			id := fmt.Sprintf("sa_%s", name)
			a := newAccount(len(name), "org-"+name)
			a.ID = id
			create(t, other, a)
			must[account.Account](t)(s.Account(t.Context(), id))
			cut(proxy)
			if name == "refused" {
				proxy.Cut()
			}
			eventually(t, "silence", func() bool { return s.Health().Silent > 0 })
			eventually(t, "calls that fail at once", func() bool {
				began := time.Now()
				_, err := s.Account(context.Background(), id)
				return err != nil && time.Since(began) < 100*time.Millisecond
			})
			number := s.Revision(a.OrganizationID).Load()
			must[account.Account](t)(other.DeleteAccount(t.Context(), id, nil))
			time.Sleep(50 * time.Millisecond)
			if s.Revision(a.OrganizationID).Load() != number {
				t.Error("it heard of a change while it was cut off")
			}
			if name == "refused" {
				proxy.Accept()
			} else {
				proxy.Thaw()
			}
			heard(t, s, a.OrganizationID, number)
			eventually(t, "health", func() bool { return s.Health().Silent == 0 })
			eventually(t, "the deletion", func() bool {
				_, err := s.Account(context.Background(), id)
				return errors.Is(err, account.ErrNotFound)
			})
		})
	}
}

// TestLostAnswer: a change whose answer is lost counts as one that may have taken place.
func TestLostAnswer(t *testing.T) {
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
	dsn := pgtest.DSN(t)
	s := openPostgres(t, dsn)
	said := pgtest.Query[time.Time](t, dsn, "SELECT clock_timestamp()")
	if off := s.Now().Sub(said); off < -time.Second || off > 5*time.Second {
		t.Errorf("the store's clock is %v ahead of the database's", off)
	}
	s.db.(*postgres).clock.Store(&reading{said.AddDate(1, 0, 0), time.Now()})
	if now := s.Now(); now.Year() != said.Year()+1 {
		t.Errorf("it is %v", now)
	}
	eventually(t, "the clock to be read again", func() bool { return s.Now().Year() == said.AddDate(0, 0, 1).Year() })
}

// TestManyServersStart: servers that start at the same time make the tables once.
func TestManyServersStart(t *testing.T) {
	dsn := pgtest.DSN(t)
	stores := make([]*Store, 5)
	errs := together(len(stores), func(i int) (err error) {
		cfg, err := ParseDSN(dsn, "")
		if err != nil {
			return err
		}
		stores[i], err = OpenPostgres(context.Background(), cfg, zap.NewNop())
		return err
	})
	for _, s := range stores {
		if s != nil {
			defer s.Close()
		}
	}
	if count(errs, nil) != len(stores) {
		t.Fatal(errs)
	}
	create(t, stores[0], newAccount(1, "org"))
	must[account.Account](t)(stores[4].Account(t.Context(), "sa_000001"))
	pgtest.Exec(t, dsn, "UPDATE maps_schema SET version = 99")
	cfg, _ := ParseDSN(dsn, "")
	if _, err := OpenPostgres(t.Context(), cfg, zap.NewNop()); err == nil || !strings.Contains(err.Error(), "newer caddy-maps") {
		t.Errorf("newer tables: %v", err)
	}
}

// TestRefusedDatabases: errors say what is wrong, at once, and hold no password.
func TestRefusedDatabases(t *testing.T) {
	dsn := pgtest.DSN(t)
	for what, change := range map[string]string{"a wrong database": "dbname", "a wrong user": "user"} {
		cfg, err := ParseDSN(pgtest.With(t, dsn, change, "nothing_like_this"), "s3cret-password")
		if err != nil {
			t.Fatal(err)
		}
		if change == "user" {
			cfg.ConnConfig.User = "nothing_like_this"
		}
		if change == "dbname" {
			cfg.ConnConfig.Database = "nothing_like_this"
			cfg.ConnConfig.Password = must[string](t)(passwordOf(dsn))
		}
		began := time.Now()
		_, err = OpenPostgres(t.Context(), cfg, zap.NewNop())
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

func passwordOf(dsn string) (string, error) {
	cfg, err := ParseDSN(dsn, "")
	if err != nil {
		return "", err
	}
	return cfg.ConnConfig.Password, nil
}

// TestPrune: changes that every server has heard of are removed, and a server that missed some asks for everything.
func TestPrune(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := openPostgres(t, dsn)
	create(t, s, newAccount(1, "org"))
	for range 3 {
		is(t, "SetOrganizationQuotas", nil, s.SetOrganizationQuotas(t.Context(), "org", nil))
	}
	pgtest.Exec(t, dsn, "UPDATE maps_changes SET made_at = now() - interval '2 hours'")
	f := &feed{}
	if err := f.begin(t.Context(), s.db.(*postgres)); err != nil {
		t.Fatal(err)
	}
	defer f.close()
	is(t, "prune", nil, f.prune(t.Context()))
	if n := pgtest.Query[int](t, dsn, "SELECT count(*) FROM maps_changes"); n != 1 {
		t.Errorf("%d changes are left", n)
	}
	f.last = 0
	number := s.Revision("another").Load()
	if _, err := f.page(t.Context(), s.db.(*postgres), s); err != nil || s.Revision("another").Load() == number {
		t.Errorf("after a gap: %v, and nothing counts as changed", err)
	}
}
