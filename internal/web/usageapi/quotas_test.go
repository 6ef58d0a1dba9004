package usageapi_test

import (
	"testing"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
	"github.com/mapsedge/caddy-maps/internal/web/usageapi"
)

func TestUsed(t *testing.T) {
	totals := []usage.Total{
		{Scope: account.ScopeTile, Window: account.WindowDay, Requests: 1, Units: 10},
		{Scope: account.ScopeONM, Window: account.WindowDay, Requests: 2, Units: 20},
		{Scope: account.ScopeTile, Window: account.WindowMonth, Requests: 4, Units: 40},
	}
	for quota, want := range map[account.Quota]int64{
		{Scope: "TILE", Unit: account.UnitRequests, Window: account.WindowDay}:    1,
		{Scope: "*", Unit: account.UnitRequests, Window: account.WindowDay}:       3,
		{Scope: "*", Unit: account.UnitUnits, Window: account.WindowDay}:          30,
		{Scope: "TILE", Unit: account.UnitUnits, Window: account.WindowMonth}:     40,
		{Scope: "ONM", Unit: account.UnitRequests, Window: account.WindowMonth}:   0,
		{Scope: "TILE", Unit: account.UnitRequests, Window: account.WindowMinute}: 0,
	} {
		if got := usageapi.Used(quota, totals); got != want {
			t.Errorf("%v: got %d, want %d", quota, got, want)
		}
	}
}
