package account_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// TestHolds makes changes by people and by automation, in any order, and compares what automation is allowed with
// what can be told from everything that has happened.
func TestHolds(t *testing.T) {
	drawScopes := rapid.SliceOfNDistinct(rapid.SampledFrom(account.AllScopes[:3]), 1, 3, rapid.ID)
	drawStatus := rapid.SampledFrom([]account.Status{account.StatusActive, account.StatusSuspended})
	rapid.Check(t, func(t *rapid.T) {
		a := account.Account{Status: drawStatus.Draw(t, "first status"), Scopes: drawScopes.Draw(t, "first scopes")}
		madeByPerson := rapid.Bool().Draw(t, "made by a person")
		a.Holds.Suspended = madeByPerson && a.Status == account.StatusSuspended

		// All that has happened.
		had := map[account.Scope]bool{} // scopes that the account ever had
		// Of those, the ones that are missing in the last list of a person who had a say about them.
		without := map[account.Scope]bool{}
		for _, s := range a.Scopes {
			had[s] = true
		}
		lastWord := account.StatusActive // of a person
		if madeByPerson {
			lastWord = a.Status
		}
		for range rapid.IntRange(1, 12).Draw(t, "changes") {
			before, after := a, a
			person := rapid.Bool().Draw(t, "person")
			named, listed := rapid.Bool().Draw(t, "status is named"), rapid.Bool().Draw(t, "scopes are named")
			if named {
				after.Status = drawStatus.Draw(t, "status")
			}
			if listed {
				after.Scopes = drawScopes.Draw(t, "scopes")
			}
			if !person {
				status, scopes := before.Holds.Allow(&before, &after)
				wantStatus := lastWord != account.StatusSuspended || before.Status == after.Status
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
				after.Holds = before.Holds.ByPerson(&before, &after, named, listed)
				if named {
					lastWord = after.Status
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
