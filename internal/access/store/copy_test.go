package store

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

// TestCopy: from SQLite to PostgreSQL and back, everything is there: accounts, grants with their used tokens, keys, quotas
// and usage, of which each count stays one.
func TestCopy(t *testing.T) {
	dir := t.TempDir()
	first, second := openSQLite(t, filepath.Join(dir, "a.db")), openPostgres(t, pgtest.DSN(t))
	third := openSQLite(t, filepath.Join(dir, "b.db"))
	for n := range 450 {
		create(t, first, newAccount(n, "org"))
		addGrant(t, first, n, "sa_000001", "sa_000002", 1000)
	}
	is(t, "RotateGrant", nil, first.RotateGrant(t.Context(), "gr_000001", hashOf("refresh", 1), hashOf("next", 1)))
	is(t, "SetOrganizationQuotas", nil, first.SetOrganizationQuotas(t.Context(), "org", newAccount(1, "").Quotas))
	_, err := first.UpdateKeys(t.Context(), func([]account.Key) ([]account.Key, error) {
		return []account.Key{newKey("k", account.KeyAccess, 1), newKey("l", account.KeyUser, 2)}, nil
	})
	is(t, "UpdateKeys", nil, err)
	is(t, "AddUsage", nil, first.AddUsage(t.Context(), usage.Flush{Node: "n", Number: 1,
		Counts: []usage.Count{used("org", "sa_a", "TILE", noon, 7)}}))

	var stages []string
	progress := func(stage string, done, total int64) {
		if len(stages) == 0 || stages[len(stages)-1] != stage {
			stages = append(stages, stage)
		}
		if done > total {
			t.Errorf("%s: %d of %d", stage, done, total)
		}
	}
	from := first
	for _, to := range []*Store{second, third} {
		counts, err := Copy(t.Context(), from, to, progress)
		is(t, "Copy", nil, err)
		if counts["maps_accounts"] != 450 || counts["maps_grants"] != 450 || counts["maps_keys"] != 2 {
			t.Errorf("counts %v", counts)
		}
		same(t, "an account", newAccount(7, "org"), must[account.Account](t)(to.Account(t.Context(), "sa_000007")))
		for _, token := range []account.Hash{hashOf("refresh", 1), hashOf("next", 1), hashOf("refresh", 2)} {
			_, err := to.GrantByRefresh(t.Context(), token)
			is(t, "a refresh token", nil, err)
		}
		same(t, "keys", must[[]account.Key](t)(first.Keys(t.Context())), must[[]account.Key](t)(to.Keys(t.Context())))
		same(t, "quotas", newAccount(1, "").Quotas, must[account.Quotas](t)(to.OrganizationQuotas(t.Context(), "org")))
		rows := listUsage(t, to, usage.Query{Organization: "org", Step: account.StepMonth, From: noon.AddDate(0, -2, 0),
			To: noon.AddDate(0, 1, 0), Limit: 10})
		if len(rows) != 1 || rows[0].Requests != 7 {
			t.Errorf("usage %v", rows)
		}
		if ended := addGrant(t, to, 1000, "sa_000001", "sa_000002", 451); ended != 0 {
			t.Errorf("%d grants ended: their number was not copied", ended)
		}
		is(t, "EndGrant", nil, to.EndGrant(t.Context(), "gr_001000"))
		_, err = Copy(t.Context(), first, to, progress)
		is(t, "a copy to a store that is not empty", ErrNotEmpty, err)
		from = to
	}
	if len(stages) == 0 {
		t.Error("there was no progress")
	}
}

// TestCopyGivenUp: a copy that is interrupted leaves the target empty.
func TestCopyGivenUp(t *testing.T) {
	from := openSQLite(t, filepath.Join(t.TempDir(), "a.db"))
	for n := range 100 {
		create(t, from, newAccount(n, "org"))
	}
	each(t, func(t *testing.T, to *Store) {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := Copy(ctx, from, to, func(string, int64, int64) { cancel() })
		if err == nil {
			t.Fatal("it was not given up")
		}
		eventually(t, "an empty target", func() bool {
			list, err := to.Accounts(context.Background(), "org", account.Page{Limit: 5})
			return err == nil && len(list) == 0
		})
		if _, err := Copy(t.Context(), from, to, func(string, int64, int64) {}); err != nil {
			t.Errorf("after that: %v", err)
		}
	})
}
