package access_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

const (
	ordersSite = `
	handle /orders {
		maps_auth ORDERS
		respond "orders for {http.auth.user.scopes}"
	}`
	anySite = `
	handle /any {
		maps_auth * {
			error_style routing
		}
		respond "any for {http.auth.user.scopes}"
	}
	handle /tile {
		maps_auth * TILE
		respond "tile for {http.auth.user.scopes}"
	}
	@special path /special
	maps_auth @special *
	respond /special "special for {http.auth.user.scopes}"
` + accountsSite
)

// TestOwnScopes: what an operator declares works as the scopes of the service do, as long as it is declared.
func TestOwnScopes(t *testing.T) {
	declared := modulestest.Config{Maps: "scope ORDERS \"orders of the shop\"\nscope INVOICES invoices",
		Site: ordersSite + anySite}
	s := modulestest.Start(t, declared)
	user := s.UserToken("acme")
	quota := func(scope string) string {
		return `"quotas":[{"scope":"` + scope + `","unit":"requests","window":"month","limit":2}]`
	}
	both := s.CreateAccount(user, "ORDERS TILE", quota("ORDERS"))
	orders := s.CreateAccount(user, "ORDERS", quota("*"))
	tokens := map[string]string{}
	for name, acc := range map[string]modulestest.Account{"both": both, "orders": orders} {
		tokens[name] = s.Exchange(acc.ClientToken, acc.ServerToken).AccessToken
	}
	_, tokens["tile"] = s.Token("acme", "TILE")
	type step struct {
		token, path string
		status      int
		want        string // the body, or how WWW-Authenticate ends
	}
	try := func(steps []step) {
		t.Helper()
		for _, tc := range steps {
			a := s.Do(http.MethodGet, tc.path, tokens[tc.token], "")
			got := a.Body
			if a.Status == http.StatusForbidden {
				got = a.Header.Get("WWW-Authenticate")
			}
			if a.Status != tc.status || !strings.HasSuffix(got, tc.want) {
				t.Errorf("%s with %s: %d %s %v, want %d %s", tc.path, tc.token, a.Status, a.Body, a.Header, tc.status, tc.want)
			}
		}
	}
	const unscoped = `Bearer error="insufficient_scope"`
	try([]step{
		{"both", "/orders", 200, "orders for TILE ORDERS"},
		{"tile", "/orders", 403, `scope="ORDERS"`},
		{"orders", "/any", 200, "any for ORDERS"},
		{"tile", "/any", 200, "any for TILE"},
		{"tile", "/special", 200, "special for TILE"},
		{"none", "/special", 401, ""},
		{"orders", "/tile", 403, `scope="TILE"`},
		{"both", "/tile", 200, "tile for TILE ORDERS"},
		{"both", "/orders", 200, "orders for TILE ORDERS"},
		{"both", "/orders", 429, ""},
		{"orders", "/orders", 200, "orders for ORDERS"},
		{"orders", "/any", 429, ""},
	})
	one := account.Usage{Requests: 1, Units: 1}
	want := map[string]account.Usage{"ORDERS": one, "*": {Requests: 1, Refused: 1, Units: 1}}
	if diff := cmp.Diff(want, s.Usage(user, orders.ID)); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	for scope, want := range map[string]string{"*": ",*,1,1,0,1", "ORDERS": ",ORDERS,1,0,0,1"} {
		a := s.Do(http.MethodGet, modulestest.AccountsPath+"/usage?scope="+scope+"&account="+orders.ID, user, "", "Accept",
			"text/csv")
		if a.Status != 200 || !strings.HasSuffix(strings.TrimSpace(a.Body), want) || strings.Count(a.Body, "\n") != 1 {
			t.Errorf("usage of %s: %d %s", scope, a.Status, a.Body)
		}
	}

	const all = "[TILE MATRIX ONM DIRECTION TSS GEOCODING REVERSEGEOCODING INVOICES ORDERS]"
	for body, want := range map[string]string{
		`{"scopes":["TILE","*"]}`:                   "scopes: element 1 is none of " + all,
		`{"scopes":["PAYMENTS"]}`:                   "scopes: element 0 is none of " + all,
		`{"scopes":["TILE"],` + quota("GONE") + `}`: `quotas: element 0: scope: must be \"*\" or one of ` + all,
		`{"scopes":["ORDERS"],"platform":"web"}`:    "platform: must be WEB, ANDROID, IOS, DESKTOP or empty",
	} {
		if a := s.Do(http.MethodPost, modulestest.AccountsPath, user, body); a.Status != 400 || !strings.Contains(a.Body, want) {
			t.Errorf("%s: %d %s, want %s", body, a.Status, a.Body, want)
		}
	}

	// Without the declaration, accounts keep the scope, and it gives no right, although tokens name it.
	if err := s.Load(modulestest.Config{Site: anySite}); err != nil {
		t.Fatal(err)
	}
	try([]step{
		{"both", "/any", 200, "any for TILE"},
		{"orders", "/any", 403, unscoped},
		{"both", "/tile", 200, "tile for TILE"},
	})
	var kept modulestest.Account
	s.Do(http.MethodGet, modulestest.AccountsPath+"/"+both.ID, user, "").Data(t, &kept)
	if strings.Join(kept.Scopes, " ") != "ORDERS TILE" {
		t.Errorf("the account has %v", kept.Scopes)
	}
	if err := s.Load(declared); err != nil {
		t.Fatal(err)
	}
	try([]step{{"both", "/any", 200, "any for TILE ORDERS"}, {"both", "/orders", 429, ""}})
}

// TestNoPlatform: an account needs no platform, and can lose it.
func TestNoPlatform(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: accountsSite})
	user := s.UserToken("acme")
	var acc modulestest.Account
	a := s.Do(http.MethodPost, modulestest.AccountsPath, user, `{"scopes":["TILE"]}`)
	if a.Data(t, &acc); a.Status != 201 || !strings.Contains(a.Body, `"platform":""`) {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	for _, platform := range []string{"IOS", ""} {
		a := s.Do(http.MethodPatch, modulestest.AccountsPath+"/"+acc.ID, user, modulestest.JSON("platform", platform))
		if a.Status != 200 || !strings.Contains(a.Body, `"platform":"`+platform+`"`) {
			t.Errorf("%q: %d %s", platform, a.Status, a.Body)
		}
	}
}
