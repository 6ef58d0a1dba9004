package access

import (
	"slices"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
)

// quotaKinds are how clients are told of quotas, by what these are of. It never changes.
type quotaKinds map[account.Quota]*apierror.Quota

// newQuotaKinds returns all that requests of these scopes can be beyond.
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

// answer is the one to a request that is beyond a quota.
func (k quotaKinds) answer(over *usage.Exceeded) apierror.Error {
	kind := over.Quota
	kind.Limit = 0
	return k[kind].Exceeded(apierror.QuotaUse{
		Limit: over.Quota.Limit, Remaining: over.Remaining, Window: over.Length, Reset: over.Reset,
	})
}

// beyond is the reason of a refusal by a quota. It is written where a log shows it, after the answer.
type beyond struct{ *usage.Exceeded }

func (b beyond) String() string { return b.Error() }
