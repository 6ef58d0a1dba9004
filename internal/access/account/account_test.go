package account_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// TestScopes: sets are read and written as text, and empty lists are written as [].
func TestScopes(t *testing.T) {
	for set := account.ScopeSet(0); set < 1<<len(account.AllScopes); set++ {
		back, err := account.ParseScopeSet(set.String())
		if err != nil || back != set {
			t.Fatalf("%q gives %b, error %v, want %b", set, back, err, set)
		}
		for _, scope := range account.AllScopes {
			if in := strings.Contains(" "+set.String()+" ", " "+string(scope)+" "); in != set.Has(scope.Set()) {
				t.Fatalf("%q: Has(%s) is %v", set, scope, !in)
			}
		}
	}
	if _, err := account.ParseScopeSet("TILE root"); err == nil || !strings.Contains(err.Error(), `"root"`) {
		t.Errorf("an unknown scope: error %v", err)
	}
	if account.Scope("tile").Set() != 0 {
		t.Error("a scope in small letters counts")
	}
	data, err := json.Marshal(account.Account{})
	for _, want := range []string{`"scopes":[]`, `"quotas":[]`, `"restrictions":{"origins":[],"networks":[]}`} {
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s has no %s, error %v", data, want, err)
		}
	}
}

// TestChange makes sure that what identifies an account stays the same, and that the stored copy is not touched.
func TestChange(t *testing.T) {
	stored := func() account.Account {
		return account.Account{
			ID: "sa_1", OrganizationID: "acme", Platform: account.PlatformWeb, Status: account.StatusActive,
			CreatedBy: "user:ann",
			Scopes:    account.Scopes{account.ScopeTile}, Restrictions: account.Restrictions{Networks: []string{"192.0.2.1"}},
			ClientHint: "abcd", ServerHint: "efgh", ClientHash: account.Hash{1}, ServerHash: account.Hash{2}, Generation: 4,
			CreatedAt: time.Unix(1, 0),
		}
	}
	kept := stored()
	after, changed, err := account.Change(kept, func(a *account.Account) (bool, error) {
		scopes, networks := a.Scopes, a.Restrictions.Networks
		scopes[0], networks[0] = account.ScopeONM, "192.0.2.2"
		*a = account.Account{ID: "x", Description: "new", Status: account.StatusRevoked, Scopes: scopes}
		return true, nil
	})
	want := stored()
	want.Platform, want.Description, want.Status, want.Scopes = "", "new", account.StatusRevoked,
		account.Scopes{account.ScopeONM}
	want.Restrictions, want.Generation = account.Restrictions{}, 5
	if diff := cmp.Diff(want, after); diff != "" || !changed || err != nil {
		t.Errorf("changed %v, error %v (-want +got):\n%s", changed, err, diff)
	}
	mine := errors.New("mine")
	after, changed, err = account.Change(kept, func(a *account.Account) (bool, error) {
		a.Description = "spoilt"
		return true, mine
	})
	if diff := cmp.Diff(stored(), after); diff != "" || changed || err != mine {
		t.Errorf("refused: changed %v, error %v (-want +got):\n%s", changed, err, diff)
	}
	if diff := cmp.Diff(stored(), kept); diff != "" {
		t.Errorf("the stored copy was touched (-want +got):\n%s", diff)
	}
}
