package access_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// TestAdminAccessTokens holds what automation may do with an access token, and what takes a user.
func TestAdminAccessTokens(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: accountsWith("")})
	user, stranger := s.UserToken("acme"), s.UserToken("globex")
	admin := s.CreateAccount(user, "TILE DIRECTION", `"isAdmin":true`)
	adminServer := s.CreateAccount(user, "TILE DIRECTION", `"isAdmin":true`)
	otherAdmin := s.CreateAccount(user, "TILE", `"isAdmin":true`)
	plain := s.CreateAccount(user, "TILE ONM", "")
	foreign := s.CreateAccount(stranger, "TILE", "")
	token := s.Exchange(admin.ClientToken, adminServer.ServerToken).AccessToken
	halfAdmin := s.Exchange(admin.ClientToken, plain.ServerToken).AccessToken

	const forbidden = `{"error":"insufficient scope","code":"INSUFFICIENT_SCOPE"}`
	for _, tc := range []struct {
		name, method, path, token, body string
		status                          int
	}{
		{"one of two is no administrator", "GET", path, halfAdmin, "", 403},
		{"lists", "GET", path, token, "", 200},
		{"reads", "GET", path + "/" + plain.ID, token, "", 200},
		{"reads an administrator", "GET", path + "/" + otherAdmin.ID, token, "", 200},
		{"creates", "POST", path, token, `{"platform":"WEB","scopes":["TILE"]}`, 201},
		{"changes a description", "PATCH", path + "/" + plain.ID, token, `{"description":"by automation"}`, 200},
		{"suspends", "PATCH", path + "/" + plain.ID, token, `{"status":"SUSPENDED"}`, 200},
		{"activates", "PATCH", path + "/" + plain.ID, token, `{"status":"ACTIVE"}`, 200},
		{"grants what it has", "PATCH", path + "/" + plain.ID, token, `{"scopes":["ONM","TILE","DIRECTION"]}`, 200},
		{"takes away", "PATCH", path + "/" + plain.ID, token, `{"scopes":["TILE"]}`, 200},
		{"creates an administrator", "POST", path, token, `{"platform":"WEB","scopes":["TILE"],"isAdmin":true}`, 403},
		{"makes an administrator", "PATCH", path + "/" + plain.ID, token, `{"isAdmin":true}`, 403},
		{"creates with a scope that it lacks", "POST", path, token, `{"platform":"WEB","scopes":["TILE","MATRIX"]}`, 403},
		{"grants a scope that it lacks", "PATCH", path + "/" + plain.ID, token, `{"scopes":["TILE","ONM"]}`, 403},
		{"changes an administrator", "PATCH", path + "/" + otherAdmin.ID, token, `{"description":"x"}`, 403},
		{"deletes an administrator", "DELETE", path + "/" + otherAdmin.ID, token, "", 403},
		{"changes itself", "PATCH", path + "/" + admin.ID, token, `{"description":"x"}`, 403},
		{"deletes the account of its server token", "DELETE", path + "/" + adminServer.ID, token, "", 403},
		{"reads another organization", "GET", path + "/" + foreign.ID, token, "", 404},
		{"changes another organization", "PATCH", path + "/" + foreign.ID, token, `{"status":"SUSPENDED"}`, 404},
		{"deletes", "DELETE", path + "/" + plain.ID, token, "", 204},
		{"a user changes an administrator", "PATCH", path + "/" + otherAdmin.ID, user, `{"isAdmin":false}`, 200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := s.Do(tc.method, tc.path, tc.token, tc.body)
			if a.Status != tc.status {
				t.Fatalf("got %d %s, want %d", a.Status, a.Body, tc.status)
			}
			if tc.status == http.StatusForbidden && (a.Body != forbidden ||
				a.Header.Get("WWW-Authenticate") != `Bearer error="insufficient_scope"`) {
				t.Errorf("%s %v", a.Body, a.Header)
			}
		})
	}
	// who did it is written down
	made := s.CreateAccount(token, "TILE", "")
	if made.CreatedBy != admin.ID || made.Organization != "acme" {
		t.Errorf("%+v", made)
	}
	if !strings.Contains(s.Log(), `"actor":"`+admin.ID+`"`) {
		t.Error("the log does not name the actor")
	}
	// rights that are taken away are gone with the next request
	s.Do(http.MethodPatch, path+"/"+adminServer.ID, user, `{"isAdmin":false}`)
	if a := s.Do(http.MethodGet, path, token, ""); a.Status != http.StatusForbidden {
		t.Errorf("after isAdmin was taken away: %d %s", a.Status, a.Body)
	}
	s.Do(http.MethodPatch, path+"/"+adminServer.ID, user, `{"isAdmin":true,"status":"SUSPENDED"}`)
	if a := s.Do(http.MethodGet, path, token, ""); a.Status != http.StatusUnauthorized {
		t.Errorf("after the account was suspended: %d %s", a.Status, a.Body)
	}
}

// TestUndo: automation undoes what automation did. What a user did it may only take further.
func TestUndo(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: accountsWith("")})
	user, other := s.UserToken("acme"), s.UserToken("acme")
	admin := s.CreateAccount(user, "TILE DIRECTION ONM", `"isAdmin":true`)
	token := s.Exchange(admin.ClientToken, admin.ServerToken).AccessToken
	const (
		suspend   = `{"status":"SUSPENDED"}`
		activate  = `{"status":"ACTIVE"}`
		narrow    = `{"scopes":["TILE"]}`
		widen     = `{"scopes":["TILE","DIRECTION"]}`
		forbidden = `{"error":"insufficient scope","code":"INSUFFICIENT_SCOPE"}`
	)
	type step struct {
		token, body string
		status      int
	}
	for name, test := range map[string]struct {
		by, first string
		steps     []step
	}{
		"suspended by a user": {user, "", []step{{user, suspend, 200}, {token, activate, 403}, {token, suspend, 200},
			{token, activate, 403},
			{token, `{"description":"x"}`, 200}, {token, activate, 403}, {other, activate, 200}, {token, suspend, 200}, {token,
				activate, 200}}},
		"suspended by automation": {user, "", []step{{token, suspend, 200}, {token, activate, 200}}},
		"suspended by automation, and a user wants it so": {user, "",
			[]step{{token, suspend, 200}, {user, suspend, 200}, {token, activate, 403},
				{user, activate, 200}}},
		"made suspended by a user": {user, `"status":"SUSPENDED"`,
			[]step{{token, activate, 403}, {user, activate, 200}, {token, suspend, 200}, {token, activate, 200}}},
		"made suspended by automation": {token, `"status":"SUSPENDED"`,
			[]step{{token, activate, 200}}},
		"revoked by a user": {user, "",
			[]step{{user, `{"status":"REVOKED"}`, 200}, {token, activate, 409}, {token, `{"status":"REVOKED"}`, 200}}},
		"a scope is taken by a user": {user, "",
			[]step{{user, narrow, 200}, {token, widen, 403}, {token, narrow, 200}, {user, widen, 200}, {token, narrow, 200},
				{token, widen, 200}}},
		"a scope is taken by automation": {user, "",
			[]step{{token, narrow, 200}, {token, widen, 200}}},
		"a scope is taken by automation, and a user wants it so": {user, "",
			[]step{{token, narrow, 200}, {user, narrow, 200}, {token, widen, 403}}},
		"both at once": {user, "",
			[]step{{user, suspend, 200}, {token, `{"scopes":["TILE"],"status":"ACTIVE"}`, 403}, {token, narrow, 200}}},
	} {
		t.Run(name, func(t *testing.T) {
			acc := s.CreateAccount(test.by, "TILE DIRECTION", test.first)
			for i, step := range test.steps {
				before := s.Do(http.MethodGet, path+"/"+acc.ID, user, "").Body
				a := s.Do(http.MethodPatch, path+"/"+acc.ID, step.token, step.body)
				if a.Status != step.status {
					t.Fatalf("step %d, %s: got %d %s, want %d", i, step.body, a.Status, a.Body, step.status)
				}
				if a.Status == http.StatusForbidden && (a.Body != forbidden ||
					s.Do(http.MethodGet, path+"/"+acc.ID, user, "").Body != before) {
					t.Errorf("step %d, %s: %s", i, step.body, a.Body)
				}
			}
		})
	}
	// What a user says that is so already changes nothing that can be seen.
	acc := s.CreateAccount(token, "TILE", `"status":"SUSPENDED"`)
	before := s.Do(http.MethodGet, path+"/"+acc.ID, user, "").Body
	if a := s.Do(http.MethodPatch, path+"/"+acc.ID, user, suspend); a.Status != http.StatusOK || a.Body != before {
		t.Errorf("%d %s, before %s", a.Status, a.Body, before)
	}
	// It is still automation's to delete.
	if a := s.Do(http.MethodDelete, path+"/"+acc.ID, token, ""); a.Status != http.StatusNoContent {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

func TestAdminAccessTokensOff(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: accountsWith(" {\nadmin_access_tokens off\n}")})
	user := s.UserToken("acme")
	admin := s.CreateAccount(user, "TILE", `"isAdmin":true`)
	token := s.Exchange(admin.ClientToken, admin.ServerToken).AccessToken
	if a := s.Do(http.MethodGet, path, token, ""); a.Status != http.StatusUnauthorized {
		t.Errorf("got %d %s", a.Status, a.Body)
	}
	if a := s.Do(http.MethodGet, path, user, ""); a.Status != http.StatusOK {
		t.Errorf("a user: %d %s", a.Status, a.Body)
	}
}
