package usageapi

import (
	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
)

// Used returns the use of a quota, from the totals of its subject in the current windows.
func Used(quota account.Quota, totals []usage.Total) (used int64) {
	for _, total := range totals {
		if total.Window != quota.Window || quota.Scope != account.EveryScope && quota.Scope != string(total.Scope) {
			continue
		}
		if quota.Unit == account.UnitUnits {
			used += total.Units
		} else {
			used += total.Requests
		}
	}
	return used
}
