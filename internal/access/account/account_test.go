package account_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// TestScopes: sets are read and written as text, without names that are not known, and empty lists are written as [].
func TestScopes(t *testing.T) {
	for set := account.ScopeSet(0); set < 1<<len(account.AllScopes); set++ {
		if back := account.ParseScopeSet(set.String()); back != set {
			t.Fatalf("%q gives %b, want %b", set, back, set)
		}
		for _, scope := range account.AllScopes {
			if in := strings.Contains(" "+set.String()+" ", " "+string(scope)+" "); in != set.Has(scope.Set()) {
				t.Fatalf("%q: Has(%s) is %v", set, scope, !in)
			}
		}
	}
	if set := account.ParseScopeSet("ORDERS TILE root"); set != account.ScopeTile.Set() {
		t.Errorf("unknown scopes give %q", set)
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

// TestOwnScopes: a declared name has the same bit as long as the process runs, and bits are never used twice.
func TestOwnScopes(t *testing.T) {
	const orders, invoices account.Scope = "ORDERS", "INVOICES"
	first, err := account.DeclareScopes(orders)
	both, err2 := account.DeclareScopes(invoices, orders)
	if err != nil || err2 != nil || !both.Has(first) || both == first ||
		both&(account.ServiceScopes|account.AnyScope) != 0 || orders.Set() != first || (orders+"_2").Set() != 0 {
		t.Errorf("%b and %b, errors %v, %v", first, both, err, err2)
	}
	list := account.Scopes{invoices, "TILE", "GONE"}
	set := list.Set()
	if set.String() != "TILE INVOICES" || account.ParseScopeSet("GONE INVOICES TILE") != set {
		t.Errorf("%q", set)
	}
	for want, list := range map[string]account.Scopes{
		"": {"TILE", orders}, "must not be empty": nil, "ORDERS appears more than once": {orders, orders},
		"element 1 is none of [TILE MATRIX ONM DIRECTION TSS GEOCODING REVERSEGEOCODING ORDERS]": {orders, invoices},
		"element 0 is none of [TILE MATRIX ONM DIRECTION TSS GEOCODING REVERSEGEOCODING ORDERS]": {"*"},
	} {
		if err := list.Check(account.ServiceScopes | first); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%v: %v, want %q", list, err, want)
		}
	}
	var all account.ScopeSet
	for i := 0; err == nil; i++ {
		var one account.ScopeSet
		one, err = account.DeclareScopes(account.Scope(fmt.Sprint("S", i)))
		if all&one != 0 || i > 64 {
			t.Fatalf("%b twice", one)
		}
		all |= one
	}
	if again, err := account.DeclareScopes(invoices, orders); again != both || err != nil {
		t.Errorf("later %b, error %v", again, err)
	}
	for name, want := range map[account.Scope]bool{"A1": true, "ORDERS_2": true, "A": false, "orders": false, "1A": false,
		"*": false, "A B": false, "ÄB": false, account.Scope(strings.Repeat("A", 33)): false} {
		if name.WellFormed() != want {
			t.Errorf("%q: not %v", name, want)
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
