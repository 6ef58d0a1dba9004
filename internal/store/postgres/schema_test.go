package postgres

import (
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

// TestManyStart starts ten servers at once on an empty database.
func TestManyStart(t *testing.T) {
	dsn := pgtest.DSN(t)
	stores := make([]*Store, 10)
	errs := make([]error, len(stores))
	var start, done sync.WaitGroup
	start.Add(len(stores))
	for i := range stores {
		done.Go(func() {
			start.Done()
			start.Wait()
			stores[i], errs[i] = tryOpen(t, pgtest.With(t, dsn, "pool_max_conns", "2"))
		})
	}
	done.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	for _, s := range stores {
		defer s.Close()
		if s.start != stores[0].start {
			t.Errorf("servers begin at different changes: %v and %v", s.start, stores[0].start)
		}
	}
	if n := pgtest.Query[int](t, dsn, "SELECT count(*) FROM maps_changes"); n != 1 {
		t.Errorf("the tables were made by %d servers", n)
	}
	a := account.Account{ID: "sa_1", OrganizationID: "org", Status: account.StatusActive, Version: 1}
	if err := stores[0].CreateAccount(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	for i, s := range stores {
		if _, err := s.Account(t.Context(), "sa_1"); err != nil {
			t.Errorf("server %d: %v", i, err)
		}
	}
}

// TestNewerSchema: an older server must not touch what a newer one has made.
func TestNewerSchema(t *testing.T) {
	dsn := pgtest.DSN(t)
	if err := open(t, dsn).Close(); err != nil {
		t.Fatal(err)
	}
	pgtest.Exec(t, dsn, "UPDATE maps_state SET value = $1 WHERE name = 'schema'", int64(len(migrations)+1))
	_, err := tryOpen(t, dsn)
	if err == nil || !strings.Contains(err.Error(), "newer caddy-maps") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
	if v := pgtest.Query[int](t, dsn, "SELECT value FROM maps_state WHERE name = 'schema'"); v != len(migrations)+1 {
		t.Errorf("the version is now %d", v)
	}
}

// tablesOf makes the tables as a server of an earlier version did.
func tablesOf(t *testing.T, version int) (dsn string) {
	t.Helper()
	dsn = pgtest.DSN(t)
	pgtest.Exec(t, dsn, stateTable)
	pgtest.Exec(t, dsn, "INSERT INTO maps_state (name, value) VALUES ('schema', $1)", int64(version))
	for v, steps := range migrations[:version] {
		for i, sql := range steps {
			if v == 0 && i == len(steps)-1 {
				pgtest.Exec(t, dsn, sql, int64(1))
			} else {
				pgtest.Exec(t, dsn, sql)
			}
		}
	}
	return dsn
}

// addByEarlier adds an account as a server of any earlier version does.
func addByEarlier(t *testing.T, dsn, id, status string) {
	t.Helper()
	pgtest.Exec(t, dsn, `INSERT INTO maps_accounts (id, organization, platform, is_admin, description, scopes, status,
		created_by, client_hint,
		server_hint, created_at, created_ns, updated_at, updated_ns, client_hash, server_hash, generation, version)
		VALUES ($1, 'org', 'WEB', false, '', 'TILE', $2, 'user:x', '', '', now(), 0, now(), 0, sha256($1::text::bytea),
		sha256(('x' || $1)::bytea), 0, 1)`,
		id, status)
}

// TestUpgrade brings tables of the first version up to date, with accounts in them, while a server of that version
// still runs.
func TestUpgrade(t *testing.T) {
	dsn := tablesOf(t, 1)
	before := func(id, status string) { addByEarlier(t, dsn, id, status) }
	before("sa_1", "ACTIVE")
	before("sa_2", "SUSPENDED")
	s := open(t, dsn)
	holds := func(id string, want account.Holds) {
		t.Helper()
		a, err := s.Account(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if a.Holds != want {
			t.Errorf("the holds of %s are %+v, want %+v", id, a.Holds, want)
		}
	}
	others := account.UnknownHolds(&account.Account{Scopes: account.Scopes{account.ScopeTile}}).Scopes
	holds("sa_1", account.Holds{Scopes: others})
	holds("sa_2", account.Holds{Suspended: true, Scopes: others})
	before("sa_3", "SUSPENDED") // by the server of before
	holds("sa_3", account.Holds{Suspended: true, Scopes: others})

	mine := account.Holds{Dropped: account.ScopeONM.Set()}
	if _, _, err := s.UpdateAccount(t.Context(), "sa_1", func(a *account.Account) (bool, error) {
		a.Holds = mine
		return true, nil
	}); err != nil {
		t.Fatal(err)
	}
	holds("sa_1", mine)
	pgtest.Exec(t, dsn, "UPDATE maps_accounts SET (status, version) = ('SUSPENDED', version + 1) WHERE id = 'sa_1'")
	holds("sa_1", account.Holds{Suspended: true, Scopes: others})
}

// TestUpgradeForUsage brings tables of the second version up to date, while a server of that version still runs.
func TestUpgradeForUsage(t *testing.T) {
	dsn := tablesOf(t, 2)
	addByEarlier(t, dsn, "sa_1", "ACTIVE")
	s := open(t, dsn)
	addByEarlier(t, dsn, "sa_2", "ACTIVE")
	want := account.Account{}
	same := func(id string) {
		t.Helper()
		a, err := s.Account(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		got := account.Account{Quotas: a.Quotas, Restrictions: a.Restrictions}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("quotas and restrictions of %s (-want +got):\n%s", id, diff)
		}
	}
	same("sa_1")
	same("sa_2")
	want.Quotas = account.Quotas{dailyQuota}
	want.Restrictions = account.Restrictions{Origins: []string{"https://a.example"}, Networks: []string{"::1/128"}}
	if _, _, err := s.UpdateAccount(t.Context(), "sa_1", func(a *account.Account) (bool, error) {
		a.Quotas, a.Restrictions = want.Quotas, want.Restrictions
		return true, nil
	}); err != nil {
		t.Fatal(err)
	}
	pgtest.Exec(t, dsn, "UPDATE maps_accounts SET (status, version) = ('SUSPENDED', version + 1) WHERE id = 'sa_1'")
	same("sa_1")
}

// TestFailedMigration: tables that are half-made are not there at all.
func TestFailedMigration(t *testing.T) {
	dsn := pgtest.DSN(t)
	pgtest.Exec(t, dsn, "CREATE TABLE maps_keys (mine text)") // the name is taken
	if _, err := tryOpen(t, dsn); err == nil || !strings.Contains(err.Error(), "maps_keys") {
		t.Errorf("error %v", err)
	}
	if n := pgtest.Query[int](t, dsn, "SELECT count(*) FROM information_schema.tables WHERE table_schema = "+
		"current_schema() AND table_name = 'maps_accounts'"); n != 0 {
		t.Error("some of the tables were made")
	}
	pgtest.Exec(t, dsn, "DROP TABLE maps_keys")
	open(t, dsn)
}

// TestPlainUser: once the tables are there, a server needs no right to change them.
func TestPlainUser(t *testing.T) {
	dsn := pgtest.DSN(t)
	open(t, dsn)
	schema := pgtest.Query[string](t, dsn, "SELECT current_schema()")
	role := schema + "_role"
	pgtest.Exec(t, dsn, "CREATE ROLE "+role+" LOGIN PASSWORD 'some password'")
	t.Cleanup(func() { pgtest.Exec(t, dsn, "DROP OWNED BY "+role+"; DROP ROLE "+role) })
	pgtest.Exec(t, dsn, "GRANT USAGE ON SCHEMA "+schema+" TO "+role)
	pgtest.Exec(t, dsn, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "+schema+" TO "+role)
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(role, "some password")
	s := open(t, u.String())
	if err := s.CreateAccount(t.Context(), account.Account{ID: "sa_1", Version: 1}); err != nil {
		t.Error(err)
	}
	if _, _, err := s.UpdateAccount(t.Context(), "sa_1",
		func(a *account.Account) (bool, error) { return true, nil }); err != nil {
		t.Error(err)
	}
}
