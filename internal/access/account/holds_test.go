package account_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// TestHolds makes changes by users and by automation, in any order, and compares what automation is allowed with what
// follows from the whole history.
func TestHolds(t *testing.T) {
	drawScopes := rapid.SliceOfNDistinct(rapid.SampledFrom([]account.Scope{account.ScopeTile, account.ScopeONM, "GONE"}), 1, 3, rapid.ID)
	drawStatus := rapid.SampledFrom([]account.Status{account.StatusActive, account.StatusSuspended})
	rapid.Check(t, func(t *rapid.T) {
		a := account.Account{Status: drawStatus.Draw(t, "first status"), Scopes: drawScopes.Draw(t, "first scopes")}
		madeByUser := rapid.Bool().Draw(t, "made by a user")
		a.Holds.Suspended = madeByUser && a.Status == account.StatusSuspended

		had := map[account.Scope]bool{} // scopes that the account ever had
		// Of those, the ones that are missing in the last list of a user.
		without := map[account.Scope]bool{}
		for _, s := range a.Scopes {
			had[s] = true
		}
		last := account.StatusActive // that a user set
		if madeByUser {
			last = a.Status
		}
		for range rapid.IntRange(1, 12).Draw(t, "changes") {
			before, after := a, a
			user := rapid.Bool().Draw(t, "user")
			named, listed := rapid.Bool().Draw(t, "status is named"), rapid.Bool().Draw(t, "scopes are named")
			if named {
				after.Status = drawStatus.Draw(t, "status")
			}
			if listed {
				after.Scopes = drawScopes.Draw(t, "scopes")
			}
			if !user {
				status, scopes := before.Holds.Allow(&before, &after)
				wantStatus := last != account.StatusSuspended || before.Status == after.Status
				wantScopes := !slices.ContainsFunc(after.Scopes, func(s account.Scope) bool { return without[s] })
				if status != wantStatus || scopes != wantScopes {
					t.Fatalf("%+v to %v %v: status allowed %v, scopes %v; want %v, %v", before, after.Status, after.Scopes, status,
						scopes, wantStatus, wantScopes)
				}
				if !status || !scopes {
					continue
				}
				after.Holds = before.Holds.ByAutomation(&before, &after)
			} else {
				after.Holds = before.Holds.ByUser(&before, &after, named, listed)
				if named {
					last = after.Status
				}
				for s := range had {
					if listed {
						without[s] = !slices.Contains(after.Scopes, s)
					}
				}
			}
			for _, s := range after.Scopes {
				had[s] = true
			}
			a = after
		}
	})
}
