package store

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

// TestCopy: after a copy from SQLite to PostgreSQL and back, everything is there: accounts, publishable keys, grants with their used
// tokens, keys, quotas and usage. A store that is not empty is refused.
func TestCopy(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	first, second := openSQLite(t, filepath.Join(dir, "a.db")), openPostgres(t, pgtest.DSN(t))
	third := openSQLite(t, filepath.Join(dir, "b.db"))
	const rows = 2*copyBatch + 50
	errs := together(rows, func(n int) error { return first.CreateAccount(context.Background(), newAccount(n, "org"), many) })
	same(t, "created", rows, count(errs, nil))
	for n := range 3 {
		addGrant(t, first, n, "sa_000001", "sa_000002", 1000)
	}
	published := must(addKey(first, "sa_000007", 1, many))
	is(t, "RotateGrant", nil, first.RotateGrant(ctx, "gr_000001", hashOf("refresh", 1), hashOf("next", 1)))
	is(t, "SetOrganizationQuotas", nil, first.SetOrganizationQuotas(ctx, "org", newAccount(1, "").Quotas))
	keys := must(first.UpdateKeys(ctx, func([]account.Key) ([]account.Key, error) {
		return []account.Key{newKey("k", account.KeyAccess, 1), newKey("l", account.KeyUser, 2)}, nil
	}))
	is(t, "AddUsage", nil, first.AddUsage(ctx, usage.Flush{Node: "n", Number: 1,
		Counts: []usage.Count{used("org", "sa_a", "TILE", noon, 7)}}))
	stages := map[string]bool{}
	progress := func(stage string, done, total int64) {
		if stages[stage] = true; done > total {
			t.Errorf("%s: %d of %d", stage, done, total)
		}
	}
	from := first
	for _, to := range []*Store{second, third} {
		counts, err := Copy(ctx, from, to, progress)
		is(t, "Copy", nil, err)
		if counts["maps_accounts"] != rows || counts["maps_grants"] != 3 || counts["maps_keys"] != 2 {
			t.Errorf("counts %v", counts)
		}
		same(t, "an account", newAccount(7, "org"), must(to.Account(ctx, "sa_000007")))
		for _, token := range []account.Hash{hashOf("refresh", 1), hashOf("next", 1), hashOf("refresh", 2)} {
			must(to.GrantByRefresh(ctx, token))
		}
		same(t, "keys", keys, must(to.Keys(ctx)))
		same(t, "a publishable key", published, must(to.PublishableKey(ctx, published.Key)))
		same(t, "quotas", newAccount(1, "").Quotas, must(to.OrganizationQuotas(ctx, "org")))
		listed := must(to.Usage(ctx, usage.Query{Organization: "org", Step: account.StepMonth, From: noon.AddDate(0, -2, 0),
			To: noon.AddDate(0, 1, 0), Limit: 10}))
		if len(listed) != 1 || listed[0].Requests != 7 {
			t.Errorf("usage %v", listed)
		}
		same(t, "grants that ended, their number being copied", 0, addGrant(t, to, 1000, "sa_000001", "sa_000002", 4))
		is(t, "EndGrant", nil, to.EndGrant(ctx, "gr_001000"))
		_, err = Copy(ctx, first, to, progress)
		is(t, "a copy to a store that is not empty", ErrNotEmpty, err)
		from = to
	}
	same(t, "stages", map[string]bool{"copying": true, "comparing": true}, stages)
}

// TestCopyGivenUp: a copy that is interrupted leaves the target empty.
func TestCopyGivenUp(t *testing.T) {
	from := openSQLite(t, filepath.Join(t.TempDir(), "a.db"))
	create(t, from, newAccount(1, "org"), newAccount(2, "org"))
	each(t, func(t *testing.T, to *Store) {
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := Copy(ctx, from, to, func(string, int64, int64) { cancel() }); err == nil {
			t.Fatal("it was not given up")
		}
		eventually(t, "an empty target", func() bool {
			list, err := to.Accounts(context.Background(), "org", account.Page{Limit: 5})
			return err == nil && len(list) == 0
		})
		must(Copy(t.Context(), from, to, func(string, int64, int64) {}))
	})
}
