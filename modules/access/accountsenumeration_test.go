package access_test

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// TestEnumeration: an account of another organization, in any state, gets the same response as one that never was.
func TestEnumeration(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: accountsWith(""), Level: "INFO"})
	user, stranger := s.UserToken("acme"), s.UserToken("globex")
	active := s.CreateAccount(stranger, "TILE", `"description":"of no one's business"`)
	admin := s.CreateAccount(stranger, "TILE", `"isAdmin":true`)
	revoked := s.CreateAccount(stranger, "TILE", "")
	keys := make(map[string]string) // ids by that of their account
	for _, acc := range []modulestest.Account{active, admin, revoked} {
		keys[acc.ID] = createKey(t, s, stranger, acc.ID, "").ID
	}
	s.Do(http.MethodPatch, path+"/"+revoked.ID, stranger, `{"status":"REVOKED"}`)
	deleted := s.CreateAccount(stranger, "TILE", "")
	s.Do(http.MethodDelete, path+"/"+deleted.ID, stranger, "")
	own := s.CreateAccount(user, "TILE DIRECTION", `"isAdmin":true`)
	targets := []struct{ name, id string }{
		{"never was", active.ID[:len(active.ID)-4] + "zzzz"}, {"was deleted", deleted.ID},
		{"is active", active.ID}, {"is an administrator", admin.ID}, {"is revoked", revoked.ID},
	}
	for _, as := range []struct{ name, token string }{
		{"user", user}, {"administrator's account", s.Exchange(own.ClientToken, own.ServerToken).AccessToken},
	} {
		for _, ask := range []struct {
			method, below, body string
			status              int
		}{
			{http.MethodGet, "", "", 404},
			{http.MethodDelete, "", "", 404},
			{http.MethodPatch, "", `{"status":"SUSPENDED","scopes":["TILE"]}`, 404},
			{http.MethodPatch, "", `{"scopes":["NONE"]}`, 400},
			{http.MethodGet, "/keys", "", 404},
			{http.MethodPost, "/keys", `{"origins":["https://app.test"]}`, 404},
			{http.MethodPost, "/keys", `{"origins":["https://app.test"],"scopes":["DIRECTION"]}`, 404},
			{http.MethodPost, "/keys", `{"origins":[]}`, 400},
			{http.MethodDelete, "/keys/{key}", "", 404},
			{http.MethodDelete, "/keys/pk_none", "", 404},
		} {
			first := s.Do(ask.method, path+"/"+targets[0].id+ask.below, as.token, ask.body)
			for _, target := range targets {
				below := strings.Replace(ask.below, "{key}", cmp.Or(keys[target.id], "pk_none"), 1)
				a := s.Do(ask.method, path+"/"+target.id+below, as.token, ask.body)
				if a.Status != ask.status || a.Body != first.Body {
					t.Errorf("%s, %s %s %s of one that %s: %d %s", as.name, ask.method, ask.below, ask.body, target.name, a.Status, a.Body)
				}
			}
		}
	}
	if a := s.Do(http.MethodGet, path+"/"+active.ID, stranger, ""); !strings.Contains(a.Body, `"status":"ACTIVE"`) {
		t.Errorf("a stranger changed it: %s", a.Body)
	}
	if a := s.Do(http.MethodGet, path+"/"+active.ID+"/keys", stranger, ""); strings.Count(a.Body, "mpk_") != 1 {
		t.Errorf("a stranger changed its keys: %s", a.Body)
	}
	// Another account's key in the path of one's own is a key that never was.
	for _, id := range []string{keys[active.ID], "pk_none", strings.Repeat("x", 1000), "%27"} {
		if a := s.Do(http.MethodDelete, path+"/"+own.ID+"/keys/"+id, user, ""); a.Status != 404 ||
			a.Body != `{"error":"publishable key not found"}` {
			t.Errorf("key %.20s of one's own account: %d %s", id, a.Status, a.Body)
		}
	}
	// A list goes on from a cursor within the caller's organization, wherever the cursor is from.
	foreign := list(t, s, stranger, "?limit=1")
	if foreign.NextCursor == nil {
		t.Fatal("the stranger's list has one page")
	}
	for _, query := range []string{
		"", "?limit=200", "?cursor=" + url.QueryEscape(*foreign.NextCursor), "?status=REVOKED", "?organizationId=globex",
	} {
		a := s.Do(http.MethodGet, path+query, user, "")
		for _, secret := range []string{active.ID, admin.ID, revoked.ID, "globex", "business"} {
			if strings.Contains(a.Body, secret) {
				t.Errorf("%q shows %q of another organization: %s", query, secret, a.Body)
			}
		}
	}
	if got := ids(list(t, s, user, "").Data); !slices.Equal(got, []string{own.ID}) {
		t.Errorf("the list has %v, want only %v", got, own.ID)
	}
}
