package access

import (
	"slices"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
)

// quotaKinds are the quotas as responses name them, by scope, unit and window. It never changes.
type quotaKinds map[account.Quota]*apierror.Quota

// newQuotaKinds returns all quotas that requests of these scopes can exceed.
func newQuotaKinds(scopes []string) quotaKinds {
	kinds := make(quotaKinds)
	for _, scope := range append(slices.Clone(scopes), account.EveryScope) {
		for _, unit := range account.AllUnits {
			for _, window := range account.AllWindows {
				name := string(unit) + "-" + string(window)
				if scope != account.EveryScope {
					name += "-" + scope
				}
				kinds[account.Quota{Scope: scope, Unit: unit, Window: window}] = apierror.NewQuota(name)
			}
		}
	}
	return kinds
}

// answer is the response to a request that exceeds a quota.
func (k quotaKinds) answer(over *usage.Exceeded) apierror.Error {
	kind := over.Quota
	kind.Limit = 0
	return k[kind].Exceeded(apierror.QuotaUse{
		Limit: over.Quota.Limit, Remaining: over.Remaining, Window: over.Length, Reset: over.Reset,
	})
}

// exceeded is the reason of a refusal by a quota. It is formatted only if a log shows it.
type exceeded struct{ *usage.Exceeded }

func (e exceeded) String() string { return e.Error() }
