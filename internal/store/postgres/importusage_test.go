package postgres

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/store/bolt"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// TestCopyUsageFromBolt copies usage of which a part is folded, and compares what both stores answer, before and after
// the rest is folded, too.
func TestCopyUsageFromBolt(t *testing.T) {
	source, err := bolt.Open(filepath.Join(t.TempDir(), "accounts.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	at := time.Date(2026, 5, 1, 1, 30, 0, 0, time.UTC)
	one, whole := usage.Subject{Organization: "org\x00", Account: "sa_\xff"}, usage.Subject{Organization: "org\x00"}
	for n, ago := range []time.Duration{48 * time.Hour, 2 * time.Hour, time.Hour, 0, time.Hour} {
		f := usage.Flush{Node: "node", Number: uint64(n + 1), At: at}
		for _, s := range []usage.Subject{whole, one} {
			f.Hours = append(f.Hours, usage.Count{Subject: s, Scope: account.ScopeTile,
				Start: at.Add(-ago).Truncate(time.Hour).Unix(), Usage: account.Usage{Requests: 1 << n, Units: 3 << n}})
		}
		if _, err := source.AddUsage(t.Context(), &f); err != nil {
			t.Fatal(err)
		}
		if n == 2 {
			if _, err := source.FoldUsage(t.Context(), at, usage.DefaultRetention); err != nil {
				t.Fatal(err)
			}
		}
	}
	quotas, err := source.SetOrganizationQuotas(t.Context(), whole.Organization,
		[]account.Quota{{Scope: account.EveryScope, Unit: account.UnitUnits, Window: account.WindowDay, Limit: 7}}, at)
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, pgtest.DSN(t))
	// Four hours, in three days and two months, of an account and of all together.
	counts, err := account.Copy(t.Context(), source, s, func(string, int64, int64) {})
	if want := (account.Counts{Organizations: 1, Usage: 2 * (4 + 3 + 2)}); err != nil || counts != want {
		t.Fatalf("copied %v, error %v, want %v", counts, err, want)
	}
	if got, err := s.OrganizationQuotas(t.Context(), whole.Organization); err != nil || !cmp.Equal(got, quotas) {
		t.Errorf("quotas %+v, error %v, want %+v", got, err, quotas)
	}
	compare := func(when string) {
		t.Helper()
		for _, step := range []account.Step{account.StepHour, account.StepDay, account.StepMonth} {
			q := usage.Query{Organization: whole.Organization, Step: step, From: at.AddDate(0, -3, -1).Truncate(24 * time.Hour),
				To: at.AddDate(0, 1, 0), Limit: 100}
			want, wantErr := source.Usage(t.Context(), q)
			got, gotErr := s.Usage(t.Context(), q)
			if diff := cmp.Diff(want, got); wantErr != nil || gotErr != nil || diff != "" || len(got) < 2 {
				t.Errorf("%s %s: errors %v and %v, difference %s", step, when, wantErr, gotErr, diff)
			}
		}
		ask := usage.Flush{At: at, Ask: []usage.Subject{one, whole}}
		want, wantErr := source.AddUsage(t.Context(), &ask)
		got, gotErr := s.AddUsage(t.Context(), &ask)
		diff := cmp.Diff(want, got, cmpopts.SortSlices(func(a, b usage.Total) bool { return fmt.Sprint(a) < fmt.Sprint(b) }))
		if wantErr != nil || gotErr != nil || diff != "" || len(got) != 4 {
			t.Errorf("totals %s: %d, errors %v and %v, difference %s", when, len(got), wantErr, gotErr, diff)
		}
	}
	compare("as copied")
	for _, store := range []usage.Store{source, s} {
		if _, err := store.FoldUsage(t.Context(), at.Add(time.Hour), usage.DefaultRetention); err != nil {
			t.Fatal(err)
		}
	}
	compare("folded")
	if _, err := account.Copy(t.Context(), source, s, func(string, int64, int64) {}); !errors.Is(err,
		account.ErrNotEmpty) {
		t.Errorf("copying to a database that holds usage and quotas: error %v", err)
	}
}
