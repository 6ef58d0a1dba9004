package access_test

import (
	"net/http"
	"regexp"
	"strconv"
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
		{"reads an administrator", "GET", path + "/" + otherAdmin.ID, token, "", 200},
		{"creates", "POST", path, token, `{"platform":"WEB","scopes":["TILE"]}`, 201},
		{"changes a description", "PATCH", path + "/" + plain.ID, token, `{"description":"by automation"}`, 200},
		{"suspends", "PATCH", path + "/" + plain.ID, token, `{"status":"SUSPENDED"}`, 200},
		{"grants what it has", "PATCH", path + "/" + plain.ID, token, `{"scopes":["ONM","TILE","DIRECTION"]}`, 200},
		{"creates an administrator", "POST", path, token, `{"platform":"WEB","scopes":["TILE"],"isAdmin":true}`, 403},
		{"makes an administrator", "PATCH", path + "/" + plain.ID, token, `{"isAdmin":true}`, 403},
		{"creates with a scope that it lacks", "POST", path, token, `{"platform":"WEB","scopes":["TILE","MATRIX"]}`, 403},
		{"takes away", "PATCH", path + "/" + plain.ID, token, `{"scopes":["TILE"]}`, 200},
		{"grants a scope that it lacks", "PATCH", path + "/" + plain.ID, token, `{"scopes":["TILE","ONM"]}`, 403},
		{"changes an administrator", "PATCH", path + "/" + otherAdmin.ID, token, `{"description":"x"}`, 403},
		{"changes quotas", "PATCH", path + "/" + plain.ID, token, `{"quotas":[],"restrictions":{}}`, 200},
		{"changes its own quotas", "PATCH", path + "/" + admin.ID, token, `{"quotas":[]}`, 403},
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
	user := s.UserToken("acme")
	admin := s.CreateAccount(user, "TILE DIRECTION ONM", `"isAdmin":true`)
	tokens := map[string]string{
		"user": user, "other user": s.UserToken("acme"),
		"automation": s.Exchange(admin.ClientToken, admin.ServerToken).AccessToken,
	}
	bodies := map[string]string{
		"suspends": `{"status":"SUSPENDED"}`, "activates": `{"status":"ACTIVE"}`, "revokes": `{"status":"REVOKED"}`,
		"narrows": `{"scopes":["TILE"]}`, "widens": `{"scopes":["TILE","DIRECTION"]}`, "describes": `{"description":"x"}`,
		"narrows and activates": `{"scopes":["TILE"],"status":"ACTIVE"}`,
	}
	const forbidden = `{"error":"insufficient scope","code":"INSUFFICIENT_SCOPE"}`
	for _, test := range []struct{ creator, first, steps string }{ // steps are "who what status"
		{"user", "", "user suspends 200, automation activates 403, automation suspends 200, automation activates 403, " +
			"automation describes 200, automation activates 403, other user activates 200, automation suspends 200, " +
			"automation activates 200"},
		{"user", "", "automation suspends 200, automation activates 200"},
		{"user", "", "automation suspends 200, user suspends 200, automation activates 403, user activates 200"},
		{"user", `"status":"SUSPENDED"`, "automation activates 403, user activates 200, automation suspends 200, " +
			"automation activates 200"},
		{"automation", `"status":"SUSPENDED"`, "automation activates 200"},
		{"user", "", "user revokes 200, automation activates 409, automation revokes 200"},
		{"user", "", "user narrows 200, automation widens 403, automation narrows 200, user widens 200, " +
			"automation narrows 200, automation widens 200"},
		{"user", "", "automation narrows 200, user narrows 200, automation widens 403"},
		{"user", "", "user suspends 200, automation narrows and activates 403, automation narrows 200"},
	} {
		t.Run(test.steps, func(t *testing.T) {
			acc := s.CreateAccount(tokens[test.creator], "TILE DIRECTION", test.first)
			for _, step := range strings.Split(test.steps, ", ") {
				parts := regexp.MustCompile(`^(user|other user|automation) (.*) (\d+)$`).FindStringSubmatch(step)
				before := s.Do(http.MethodGet, path+"/"+acc.ID, user, "").Body
				a := s.Do(http.MethodPatch, path+"/"+acc.ID, tokens[parts[1]], bodies[parts[2]])
				if strconv.Itoa(a.Status) != parts[3] {
					t.Fatalf("%s: got %d %s", step, a.Status, a.Body)
				}
				if a.Status == http.StatusForbidden && (a.Body != forbidden ||
					s.Do(http.MethodGet, path+"/"+acc.ID, user, "").Body != before) {
					t.Errorf("%s: %s", step, a.Body)
				}
			}
		})
	}
	// A user who suspends what is suspended changes nothing that can be seen; automation may still delete it.
	acc := s.CreateAccount(tokens["automation"], "TILE", `"status":"SUSPENDED"`)
	before := s.Do(http.MethodGet, path+"/"+acc.ID, user, "").Body
	if a := s.Do(http.MethodPatch, path+"/"+acc.ID, user, bodies["suspends"]); a.Status != http.StatusOK || a.Body != before {
		t.Errorf("%d %s, before %s", a.Status, a.Body, before)
	}
	if a := s.Do(http.MethodDelete, path+"/"+acc.ID, tokens["automation"], ""); a.Status != http.StatusNoContent {
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
