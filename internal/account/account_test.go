package account_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/account"
)

func TestStatus(t *testing.T) {
	for status, final := range map[account.Status]bool{
		account.StatusActive: false, account.StatusSuspended: false, account.StatusRevoked: true,
	} {
		if !status.Valid() || status.Final() != final {
			t.Errorf("%s: valid %v, final %v; want it valid, final %v", status, status.Valid(), status.Final(), final)
		}
	}
	if account.Status("active").Valid() || account.Platform("web").Valid() || account.Status("").Valid() ||
		account.Platform("").Valid() {
		t.Error("names in small letters, or none, are taken for good")
	}
}

func TestScopeSets(t *testing.T) {
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
	for list, want := range map[string]account.Scopes{"[]": nil, `["TSS","TILE"]`: {account.ScopeTSS, account.ScopeTile}} {
		if got, err := json.Marshal(want); err != nil || string(got) != list {
			t.Errorf("%v as JSON: %s, error %v, want %s", want, got, err, list)
		}
	}
}

// TestChange makes sure that what identifies an account stays, whatever an owner's change does to it.
func TestChange(t *testing.T) {
	stored := newAccount("sa_1")
	stored.Generation, stored.Version = 4, 9
	before := stored
	before.Scopes = append(account.Scopes{}, stored.Scopes...)
	after, changed, err := account.Change(stored, func(a *account.Account) (bool, error) {
		*a = account.Account{ID: "x", Description: "new", Status: account.StatusRevoked,
			Scopes: append(a.Scopes[:0], account.ScopeONM)}
		return true, nil
	})
	want := before
	want.Platform, want.Description, want.Status, want.Scopes = "", "new", account.StatusRevoked,
		account.Scopes{account.ScopeONM}
	want.Generation, want.Version = 5, 10
	if diff := cmp.Diff(want, after); diff != "" || !changed || err != nil {
		t.Errorf("changed %v, error %v (-want +got):\n%s", changed, err, diff)
	}
	if diff := cmp.Diff(before, stored); diff != "" {
		t.Errorf("the stored copy was touched (-want +got):\n%s", diff)
	}
	mine := errors.New("mine")
	after, changed, err = account.Change(stored, func(a *account.Account) (bool, error) {
		a.Description = "spoilt"
		return true, mine
	})
	if diff := cmp.Diff(before, after); diff != "" || changed || err != mine {
		t.Errorf("refused: changed %v, error %v (-want +got):\n%s", changed, err, diff)
	}
}
