package access_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// TestQuotaIsNotEvaded: a quota that is used up stays so, with any method or token, and across changes of the account.
func TestQuotaIsNotEvaded(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: countSite + `
	handle /page {
		maps_auth TILE {
			cors https://app.example.com
		}
		respond "passed"
	}`})
	user := s.UserToken("acme")
	const once = `"quotas":[{"scope":"*","unit":"requests","window":"month","limit":1}]`
	acc := s.CreateAccount(user, "TILE MATRIX", once)
	other := s.CreateAccount(user, "TILE MATRIX", "")
	pair := s.Exchange(acc.ClientToken, acc.ServerToken)
	if a := s.Do(http.MethodGet, "/tile", pair.AccessToken, ""); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	refused := int64(0)
	refuse := func(what, method, path, token string, header ...string) {
		t.Helper()
		refused++
		if a := s.Do(method, path, token, "", header...); a.Status != 429 {
			t.Errorf("%s: %s %s: %d %s", what, method, path, a.Status, a.Body)
		}
	}
	for _, method := range []string{"HEAD", "OPTIONS", "PURGE", "get"} {
		refuse("method", method, "/tile", pair.AccessToken)
	}
	for _, path := range []string{"/tile?a", "/nested", "/status/503", "/page"} {
		refuse("address", http.MethodGet, path, pair.AccessToken)
	}
	refuse("no preflight", http.MethodOptions, "/page", pair.AccessToken, "Origin", "https://app.example.com")
	if a := s.Do(http.MethodOptions, "/page", pair.AccessToken, "", "Origin", "https://app.example.com",
		"Access-Control-Request-Method", "GET"); a.Status != 204 || a.Body != "" {
		t.Errorf("a preflight: %d %s", a.Status, a.Body)
	}

	var fresh struct{ AccessToken string }
	body := modulestest.JSON("refresh_token", pair.RefreshToken)
	s.Do(http.MethodPost, "/api/v1/external/refresh", "", body).Data(t, &fresh)
	refuse("refreshed", http.MethodGet, "/tile", fresh.AccessToken)
	refuse("another account's server token", http.MethodGet, "/tile",
		s.Exchange(acc.ClientToken, other.ServerToken).AccessToken)

	patch := func(body string) {
		t.Helper()
		if a := s.Do(http.MethodPatch, modulestest.AccountsPath+"/"+acc.ID, user, "{"+body+"}"); a.Status != 200 {
			t.Fatalf("%s: %d %s", body, a.Status, a.Body)
		}
	}
	patch(`"quotas":[]`)
	patch(`"quotas":[{"scope":"TILE","unit":"units","window":"month","limit":1}]`) // what was used before counts
	refuse("another quota", http.MethodGet, "/tile", pair.AccessToken)
	patch(once)
	refuse("the quota is back", http.MethodGet, "/tile", pair.AccessToken)
	patch(`"status":"SUSPENDED"`)
	patch(`"status":"ACTIVE"`)
	refuse("made active again", http.MethodGet, "/tile", s.Exchange(acc.ClientToken, acc.ServerToken).AccessToken)

	want := account.Usage{Requests: 1, Refused: refused, Units: 1}
	if diff := cmp.Diff(want, s.Usage(user, acc.ID)["TILE"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if used := s.Usage(user, other.ID); len(used) != 0 {
		t.Errorf("the account of the server token used %v", used)
	}

	// What an organization used stays when its accounts go.
	if a := s.AdminDo(http.MethodPut, "/maps/quotas/acme", "{"+once+"}"); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	for _, id := range []string{acc.ID, other.ID} {
		if a := s.Do(http.MethodDelete, modulestest.AccountsPath+"/"+id, user, ""); a.Status != 204 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	_, token := s.Token("acme", "TILE")
	refuse("an account that was made since", http.MethodGet, "/tile", token)
}
