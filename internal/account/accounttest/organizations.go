package accounttest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// newQuotas are some of each kind.
func newQuotas(n int64) []account.Quota {
	return []account.Quota{
		{Scope: account.EveryScope, Unit: account.UnitRequests, Window: account.WindowMonth, Limit: account.MaxQuotaLimit},
		{Scope: string(account.ScopeTile), Unit: account.UnitUnits, Window: account.WindowMinute, Limit: n},
	}
}

func testOrganizationQuotas(t *testing.T, s account.Store) {
	names := []string{"org", "org\x00", "", "o", "\xff"}
	want := map[string]account.OrganizationQuotas{}
	for _, name := range names {
		want[name] = account.OrganizationQuotas{Organization: name}
	}
	check := func(when string) {
		t.Helper()
		for _, name := range names {
			got, err := s.OrganizationQuotas(t.Context(), name)
			isError(t, "OrganizationQuotas", nil, err)
			same(t, fmt.Sprintf("quotas of %q %s", name, when), want[name], got)
		}
	}
	check("at first")
	for i, change := range []struct {
		name   string
		quotas []account.Quota
	}{
		{"org", newQuotas(1)}, {"org\x00", newQuotas(2)}, {"", newQuotas(3)}, {"org", newQuotas(4)[1:]},
		{"org", newQuotas(4)[1:]}, {"org", nil}, {"\xff", newQuotas(0)}, {"org", newQuotas(5)},
	} {
		at := epoch.Add(time.Duration(i) * time.Second)
		want[change.name] = account.OrganizationQuotas{Organization: change.name, Quotas: slices.Clone(change.quotas),
			Version: want[change.name].Version + 1, UpdatedAt: at}
		got, err := s.SetOrganizationQuotas(t.Context(), change.name, change.quotas, at)
		isError(t, "SetOrganizationQuotas", nil, err)
		same(t, fmt.Sprintf("quotas as they stand after change %d", i), want[change.name], got)
		// Nothing of it is shared with whoever gave it, or got it.
		for _, list := range [][]account.Quota{change.quotas, got.Quotas} {
			if len(list) > 0 {
				list[0].Limit = -1
			}
		}
		check(fmt.Sprintf("after change %d", i))
	}
}

// testOrganizationQuotasByMany has many set the quotas of one organization. Each change has a version of its own.
func testOrganizationQuotasByMany(t *testing.T, s account.Store) {
	versions, limits := make([]uint64, 8), make([]int64, 8)
	results := Together(len(versions), func(i int) error {
		q, err := s.SetOrganizationQuotas(t.Context(), "org", newQuotas(int64(i)), epoch)
		if err == nil {
			versions[i], limits[i] = q.Version, q.Quotas[1].Limit
		}
		return err
	})
	isError(t, "SetOrganizationQuotas", nil, errors.Join(results...))
	last := slices.Index(versions, uint64(len(versions)))
	if slices.Sort(versions); !slices.Equal(versions, []uint64{1, 2, 3, 4, 5, 6, 7, 8}) {
		t.Fatalf("the versions are %v", versions)
	}
	got, err := s.OrganizationQuotas(t.Context(), "org")
	isError(t, "OrganizationQuotas", nil, err)
	same(t, "quotas after all changes", account.OrganizationQuotas{Organization: "org", Quotas: newQuotas(limits[last]),
		Version: uint64(len(versions)), UpdatedAt: epoch}, got)
}
