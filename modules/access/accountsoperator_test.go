package access_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// TestOperator: the admin API manages accounts of all organizations by the rules of the public API.
func TestOperator(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: accountsWith(""), Maps: "max_accounts 2"})
	const path, organizations = "/maps/accounts", "/maps/organizations"
	a := s.AdminDo(http.MethodPost, path, `{"organization":"acme","scopes":["TILE"],"description":"first","isAdmin":true}`)
	if a.Status != http.StatusCreated || a.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	var made modulestest.Account
	a.Data(t, &made)
	of := path + "/" + made.ID
	if made.Organization != "acme" || made.CreatedBy != "user:operator" || !made.IsAdmin || a.Header.Get("Location") != of {
		t.Errorf("%+v at %s", made, a.Header.Get("Location"))
	}
	token := s.Exchange(made.ClientToken, made.ServerToken).AccessToken
	second := s.CreateAccount(s.UserToken("globex"), "TILE", "")
	long := `"` + strings.Repeat("x", 256) + `"`
	for _, test := range []struct {
		method, path, body string
		status             int
		answer             string // part of the body
	}{
		{"GET", of, "", 200, `{"data":{"id":"` + made.ID},
		{"HEAD", of, "", 200, ""},
		{"PUT", of, "", 405, "method not allowed"},
		{"GET", path + "/" + second.ID, "", 200, `"organizationId":"globex"`},
		{"GET", path + "/sa_none", "", 404, "service account not found"},
		{"GET", path + "/" + strings.Repeat("x", 65), "", 404, "service account not found"},
		{"GET", path + "/", "", 404, "not found"},
		{"GET", path + "?organization=acme", "", 200, `"id":"` + made.ID},
		{"GET", path + "?organization=acme&status=REVOKED", "", 200, `{"data":[],"nextCursor":null}`},
		{"GET", path + "?organization=none", "", 200, `{"data":[],"nextCursor":null}`},
		{"GET", path, "", 400, "organization: missing"},
		{"GET", path + "?organization=", "", 400, "organization: missing"},
		{"GET", path + "?organization=a&organization=b", "", 400, "organization: appears more than once"},
		{"GET", path + "?organization=a%00", "", 400, "organization must be 1 to 255 bytes of printable text"},
		{"GET", path + "?organization=acme&status=GONE", "", 400, "status: must be ACTIVE, SUSPENDED or REVOKED"},
		{"GET", organizations, "", 200, `{"data":[{"name":"acme","active":1,"suspended":0,"revoked":0},{"name":"globex","active":1,` +
			`"suspended":0,"revoked":0}],"nextCursor":null}`},
		{"GET", organizations + "?limit=1", "", 200, `"nextCursor":"MTphY21l"`},
		{"GET", organizations + "?limit=1&cursor=MTphY21l", "", 200, `{"data":[{"name":"globex"`},
		{"GET", organizations + "?limit=0", "", 400, "limit: must be a whole number from 1 to 200"},
		{"POST", path, `{"scopes":["TILE"]}`, 400, "organization: missing"},
		{"POST", path, `{"organization":` + long + `,"scopes":["TILE"]}`, 400, "organization must be"},
		{"POST", path, `{"organization":"acme"}`, 400, "scopes: missing"},
		{"POST", path, `{"organization":"acme","scopes":["TILES"]}`, 400, "scopes: "},
		{"POST", path, `{"organization":"acme","scopes":["TILE"],"role":"x"}`, 400, "role: unknown field"},
		{"POST", path, `{"organization":"globex","scopes":["TILE"],"status":"SUSPENDED"}`, 201, `"clientToken":"mpc_`},
		{"POST", path, `{"organization":"globex","scopes":["TILE"]}`, 409, "ACCOUNT_LIMIT"},
		{"PATCH", of, `{}`, 400, "body: has no field to change"},
		{"PATCH", of, `{"organization":"globex"}`, 400, "organization: unknown field"},
		{"PATCH", path + "/sa_none", `{"status":"SUSPENDED"}`, 404, "service account not found"},
		{"PATCH", of, `{"status":"SUSPENDED","isAdmin":false}`, 200, `"status":"SUSPENDED"`},
		{"PATCH", of, `{"status":"REVOKED"}`, 200, `"status":"REVOKED"`},
		{"PATCH", of, `{"status":"ACTIVE"}`, 409, "INVALID_TRANSITION"},
		{"DELETE", of, "", 204, ""},
		{"DELETE", of, "", 404, "service account not found"},
		{"GET", organizations, "", 200, `{"data":[{"name":"globex","active":1,"suspended":1,"revoked":0}],"nextCursor":null}`},
	} {
		if a := s.AdminDo(test.method, test.path, test.body); a.Status != test.status || !strings.Contains(a.Body, test.answer) ||
			a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s %.80s: %d %s", test.method, test.path, test.body, a.Status, a.Body)
		}
		if strings.Contains(test.body, `"isAdmin":false`) {
			if a := s.Do(http.MethodGet, modulestest.AccountsPath, token, ""); a.Status != http.StatusUnauthorized {
				t.Errorf("its token: %d %s", a.Status, a.Body)
			}
		}
	}
	waitLogs(t, s, "maps.account.created", "maps.account.updated", "maps.account.suspended", "maps.account.revoked",
		"maps.account.deleted")
	if got := strings.Count(s.Log(), `"actor":"user:operator"`); got < 6 {
		t.Errorf("%d lines of the log name the actor", got)
	}
}

// TestUserTokenOfUnknownOrganization: a mistyped organization gets no user token.
func TestUserTokenOfUnknownOrganization(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: accountsWith("")})
	s.CreateAccount(s.UserToken("acme"), "TILE", "")
	for body, want := range map[string]string{
		`{"organization":"acme"}`:                     "",
		`{"organization":"acmee"}`:                    `{"error":"there is no organization \"acmee\"; did you mean acme? If it is new, set new (--new)"}`,
		`{"organization":"globex","new":false}`:       `{"error":"there is no organization \"globex\"; if it is new, set new (--new)"}`,
		`{"organization":"globex","new":true}`:        "",
		`{"organization":"a\u0000","subject":"x"}`:    `{"error":"organization must be 1 to 255 bytes of printable text without spaces around it","code":"FAILED_VALIDATION"}`,
		`{"organization":"acme","subject":"\u0000"}`:  `{"error":"subject must be 1 to 255 bytes of printable text without spaces around it","code":"FAILED_VALIDATION"}`,
		`{"organization":"globex","new":"certainly"}`: `{"error":"new: must be true or false","code":"FAILED_VALIDATION"}`,
	} {
		a := s.AdminDo(http.MethodPost, "/maps/user-tokens", body)
		if want == "" {
			if a.Status != http.StatusCreated {
				t.Errorf("%s: %d %s", body, a.Status, a.Body)
			}
		} else if a.Body != want {
			t.Errorf("%s: %d\n got %s\nwant %s", body, a.Status, a.Body, want)
		}
	}
}
