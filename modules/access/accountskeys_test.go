package access_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// createKey makes a publishable key for https://app.test; more is further fields of the body, as JSON.
func createKey(t *testing.T, s *modulestest.Server, token, id, more string) (key account.PublishableKey) {
	t.Helper()
	a := s.Do(http.MethodPost, path+"/"+id+"/keys", token, `{"origins":["https://app.test"]`+more+`}`)
	if a.Status != http.StatusCreated {
		t.Fatalf("creating a key: %d %s", a.Status, a.Body)
	}
	a.Data(t, &key)
	return key
}

func TestKeys(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: accountsWith("")})
	user := s.UserToken("acme")
	acc := s.CreateAccount(user, "MATRIX DIRECTION TILE", "")
	keys := path + "/" + acc.ID + "/keys"
	if a := s.Do(http.MethodGet, keys, user, ""); a.Status != 200 || a.Body != `{"data":[]}` {
		t.Errorf("no keys: %d %s", a.Status, a.Body)
	}
	a := s.Do(http.MethodPost, "/prefix"+keys+"/", user,
		`{"description":"shop","scopes":["DIRECTION"],"origins":["https://*.app.test","http://localhost:5173"]}`)
	var one account.PublishableKey
	a.Data(t, &one)
	if a.Status != http.StatusCreated || a.Header.Get("Location") != "/prefix"+keys+"/"+one.ID ||
		a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("Content-Type") != "application/json" ||
		!regexp.MustCompile(`^\{"data":\{"id":"pk_[0-9A-Za-z]{22}","key":"mpk_[0-9A-Za-z]{49}","description":"shop",`+
			`"scopes":\["DIRECTION"\],"origins":\["https://\*.app.test","http://localhost:5173"\],`+
			`"createdBy":"user:tester","createdAt":"[^"]+Z"\}\}$`).MatchString(a.Body) {
		t.Errorf("%d %v %s", a.Status, a.Header, a.Body)
	}
	two := createKey(t, s, user, acc.ID, "")
	if diff := cmp.Diff(account.Scopes{"TILE", "DIRECTION"}, two.Scopes); diff != "" {
		t.Errorf("scopes of a key that names none (-want +got):\n%s", diff)
	}
	for _, address := range []string{keys, keys + "/"} {
		var listed []account.PublishableKey
		if a := s.Do(http.MethodGet, address, user, ""); a.Status != 200 || a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v", address, a.Status, a.Header)
		} else if a.Data(t, &listed); !cmp.Equal([]account.PublishableKey{two, one}, listed) {
			t.Errorf("%s: %s", address, a.Body)
		}
	}
	if a := s.Do(http.MethodHead, keys, user, ""); a.Status != 200 || a.Body != "" {
		t.Errorf("HEAD: %d %s", a.Status, a.Body)
	}
	for _, want := range []int{204, 404} {
		if a := s.Do(http.MethodDelete, keys+"/"+one.ID, user, ""); a.Status != want || a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("DELETE: %d %s, want %d", a.Status, a.Body, want)
		}
	}
	if line := `"msg":"account updated","account_id":"` + acc.ID + `","organization":"acme","actor":"user:tester",` +
		`"changed":["keys"]`; strings.Count(s.Log(), line) != 3 {
		t.Errorf("the log does not have 3 times %s", line)
	}
	waitLogs(t, s, "maps.account.updated")

	for range account.MaxPublishableKeys - 1 {
		createKey(t, s, user, acc.ID, "")
	}
	if a := s.Do(http.MethodPost, keys, user, `{"origins":["https://app.test"]}`); a.Status != http.StatusConflict ||
		a.Body != `{"error":"the account has 100 publishable keys already","code":"KEY_LIMIT"}` {
		t.Errorf("one too many: %d %s", a.Status, a.Body)
	}
	s.Do(http.MethodPatch, path+"/"+acc.ID, user, `{"status":"REVOKED"}`)
	if a := s.Do(http.MethodPost, keys, user, `{"origins":["https://app.test"]}`); a.Status != http.StatusConflict ||
		a.Body != `{"error":"a revoked account cannot get a key","code":"INVALID_TRANSITION"}` {
		t.Errorf("a key of a revoked account: %d %s", a.Status, a.Body)
	}
	if a := s.Do(http.MethodDelete, keys+"/"+two.ID, user, ""); a.Status != 204 {
		t.Errorf("deleting a key of a revoked account: %d %s", a.Status, a.Body)
	}
}

// TestKeysRefused: bodies that are wrong, addresses and methods that do not exist, and callers that may not.
func TestKeysRefused(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: accountsWith("")})
	user := s.UserToken("acme")
	acc, none := s.CreateAccount(user, "TILE MATRIX", ""), s.CreateAccount(user, "MATRIX", "")
	wide := s.CreateAccount(user, "TILE DIRECTION", "")
	admin, otherAdmin := s.CreateAccount(user, "TILE", `"isAdmin":true`), s.CreateAccount(user, "TILE", `"isAdmin":true`)
	automation, plain := s.Exchange(admin.ClientToken, admin.ServerToken).AccessToken,
		s.Exchange(acc.ClientToken, acc.ServerToken).AccessToken
	key := createKey(t, s, user, acc.ID, "")
	keys, at := path+"/"+acc.ID+"/keys", func(a modulestest.Account) string { return path + "/" + a.ID + "/keys" }
	const ok = `{"origins":["https://app.test"]}`
	const scopes = "[TILE GEOCODING REVERSEGEOCODING DIRECTION]"
	many := `{"origins":["https://app.test"` + strings.Repeat(`,"https://app.test"`, 100) + `]}`
	for _, tc := range []struct {
		method, path, token, body string
		status                    int
		want                      string // the error, or the value of Allow
	}{
		{"POST", keys, user, ``, 400, "body: must be a JSON object"},
		{"POST", keys, user, `{}`, 400, "origins: missing"},
		{"POST", keys, user, `{"origins":[]}`, 400, "origins: must not be empty"},
		{"POST", keys, user, `{"origins":null}`, 400, "origins: must be an array of strings"},
		{"POST", keys, user, `{"origins":"https://app.test"}`, 400, "origins: must be an array of strings"},
		{"POST", keys, user, many, 400, "origins: must be at most 100"},
		{"POST", keys, user, `{"origins":["https://app.test","*"]}`, 400,
			`origins: element 1: "*" is not an origin like https://app.example.com or https://*.example.com`},
		{"POST", keys, user, `{"origins":["https://app.test/map"]}`, 400,
			`origins: element 0: "https://app.test/map" has more than scheme, host and port, if only a slash at its end`},
		{"POST", keys, user, `{"origins":["https://app.test"],"networks":[]}`, 400, "networks: unknown field"},
		{"POST", keys, user, `{"origins":["https://app.test"],"key":"mpk_"}`, 400, "key: unknown field"},
		{"POST", keys, user, `{"origins":["https://app.test"],"scopes":[]}`, 400, "scopes: must not be empty"},
		{"POST", keys, user, `{"origins":["https://app.test"],"scopes":["TILE","TILE"]}`, 400,
			"scopes: TILE appears more than once"},
		{"POST", keys, user, `{"origins":["https://app.test"],"scopes":["TILE","MATRIX"]}`, 400,
			"scopes: MATRIX is none of " + scopes},
		{"POST", keys, user, `{"origins":["https://app.test"],"scopes":["DIRECTION"]}`, 400,
			"scopes: the account lacks DIRECTION"},
		{"POST", at(none), user, ok, 400, "scopes: the account has none of " + scopes},
		{"POST", keys, user, `{"origins":["https://app.test"],"description":"` + strings.Repeat("é", 501) + `"}`, 400,
			"description: must be at most 500 characters"},
		{"POST", keys, user, `{"origins":["https://app.test"],"description":"` + strings.Repeat("x", 16<<10) + `"}`, 413,
			"request body too large"},

		{"PUT", keys, user, ok, 405, "GET, HEAD, POST"},
		{"DELETE", keys + "/", user, "", 405, "GET, HEAD, POST"},
		{"GET", keys + "/" + key.ID, user, "", 405, "DELETE"},
		{"DELETE", keys + "/pk_none", user, "", 404, "publishable key not found"},
		{"GET", path + "/sa_1/keys", user, "", 404, "service account not found"},
		{"POST", path + "/sa_1/keys", user, ok, 404, "service account not found"},
		{"DELETE", keys + "/" + key.ID + "/", user, "", 404, "not found"},
		{"GET", keys + "//", user, "", 404, "not found"},
		{"GET", path + "/" + acc.ID + "/", user, "", 404, "not found"},
		{"GET", path + "/" + acc.ID + "/key", user, "", 404, "not found"},
		{"GET", path + "/" + acc.ID + "/keysx", user, "", 404, "not found"},
		{"GET", path + "//keys", user, "", 404, "not found"},
		{"GET", path + "/usage/keys", user, "", 404, "not found"},

		{"GET", keys, "", "", 401, "invalid or missing api key"},
		{"POST", keys, key.Key, ok, 401, "invalid or missing api key"},
		{"GET", path, key.Key, "", 401, "invalid or missing api key"},
		{"GET", keys, plain, "", 403, "insufficient scope"},
		{"GET", at(otherAdmin), automation, "", 200, ""},
		{"POST", at(otherAdmin), automation, ok, 403, "insufficient scope"},
		{"POST", at(admin), automation, ok, 403, "insufficient scope"},
		{"POST", at(wide), automation, ok, 403, "insufficient scope"},
		{"POST", at(wide), automation, `{"origins":["https://app.test"],"scopes":["DIRECTION"]}`, 403, "insufficient scope"},
		{"POST", at(wide), automation, `{"origins":["https://app.test"],"scopes":["TILE"]}`, 201, ""},
		{"DELETE", keys + "/" + key.ID, automation, "", 204, ""},
	} {
		a := s.Do(tc.method, tc.path, tc.token, tc.body)
		var got struct{ Error, Code string }
		if tc.status >= 400 {
			_ = json.Unmarshal([]byte(a.Body), &got)
		}
		if tc.status == http.StatusMethodNotAllowed {
			got.Error = a.Header.Get("Allow")
		}
		if a.Status != tc.status || got.Error != tc.want || (got.Code == "FAILED_VALIDATION") != (tc.status == 400) ||
			a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s %.100s: got %d %s, want %d %q", tc.method, tc.path, tc.body, a.Status, a.Body, tc.status, tc.want)
		}
	}
}

const keySite = `
	handle /tile {
		maps_auth TILE {
			api_key_query apiKey
			cors https://app.test https://other.test
		}
		respond "{http.auth.user.id} {http.auth.user.scopes} {http.auth.user.admin} {http.request.uri}"
	}
	handle /direction {
		maps_auth DIRECTION {
			api_key_query apiKey
			error_style routing
		}
		respond "passed"
	}
` + accountsSite

// TestKeyRequests: what a page may do with a key, and that every change of the key or its account holds for the next
// request.
func TestKeyRequests(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: keySite})
	user := s.UserToken("acme")
	acc := s.CreateAccount(user, "TILE DIRECTION", `"isAdmin":true`)
	key := createKey(t, s, user, acc.ID, `,"scopes":["TILE"]`)
	page := []string{"Origin", "https://app.test"}
	passed := acc.ID + " TILE false /tile"
	ask := func(what, token, target string, header []string, status int, body string) {
		t.Helper()
		a := s.Do(http.MethodGet, target, token, "", header...)
		if a.Status != status || !strings.Contains(a.Body, body) {
			t.Errorf("%s: got %d %s, want %d %s", what, a.Status, a.Body, status, body)
		}
		want := map[int]string{200: "private"}[status]
		if want == "" {
			want = "no-store"
		}
		if got := a.Header.Get("Cache-Control"); got != want && status != 429 {
			t.Errorf("%s: Cache-Control %q", what, got)
		}
	}
	inQuery := "/tile?apiKey=" + key.Key
	ask("in the query", "", inQuery, page, 200, passed)
	ask("as a bearer token", key.Key, "/tile", page, 200, passed)
	ask("by its referer", "", inQuery, []string{"Referer", "https://app.test/map?x=1"}, 200, passed)
	ask("twice", key.Key, inQuery, page, 401, "invalid or missing")
	ask("mistyped", "", inQuery[:len(inQuery)-1], page, 401, "invalid or missing")
	ask("without an origin", "", inQuery, nil, 403, "RESTRICTED")
	ask("another page", "", inQuery, []string{"Origin", "https://evil.test"}, 403, "RESTRICTED")
	ask("another page that CORS allows", "", inQuery, []string{"Origin", "https://other.test"}, 403, "RESTRICTED")
	ask("a scope that it lacks", key.Key, "/direction", page, 403, "InsufficientScope")

	patch := func(body string) {
		t.Helper()
		if a := s.Do(http.MethodPatch, path+"/"+acc.ID, user, body); a.Status != 200 {
			t.Fatalf("%s: %d %s", body, a.Status, a.Body)
		}
	}
	patch(`{"restrictions":{"origins":["https://other.test"]}}`)
	ask("an account for another page", "", inQuery, page, 403, "RESTRICTED")
	patch(`{"restrictions":{"networks":["203.0.113.0/24"]}}`)
	ask("an account for another network", "", inQuery, page, 403, "RESTRICTED")
	patch(`{"restrictions":{"origins":["https://app.test"],"networks":["127.0.0.1"]}}`)
	ask("an account for this page", "", inQuery, page, 200, passed)
	patch(`{"scopes":["DIRECTION"]}`)
	ask("an account without the scope", "", inQuery, page, 403, "INSUFFICIENT_SCOPE")
	patch(`{"scopes":["TILE"],"status":"SUSPENDED"}`)
	ask("a suspended account", "", inQuery, page, 401, "invalid or missing")
	patch(`{"status":"ACTIVE","restrictions":{}}`)
	ask("an active one", "", inQuery, page, 200, passed)
	used := account.Usage{Requests: 5, Units: 5}
	if diff := cmp.Diff(map[string]account.Usage{"TILE": used}, s.Usage(user, acc.ID)); diff != "" {
		t.Errorf("usage (-want +got):\n%s", diff)
	}
	patch(fmt.Sprintf(`{"quotas":[{"scope":"TILE","unit":"requests","window":"month","limit":%d}]}`, used.Requests))
	ask("an account at its quota", "", inQuery, page, 429, "QUOTA_EXCEEDED")
	patch(`{"quotas":[]}`)
	ask("a quota that is gone", "", inQuery, page, 200, passed)
	if a := s.Do(http.MethodDelete, path+"/"+acc.ID+"/keys/"+key.ID, user, ""); a.Status != 204 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	ask("a deleted key", "", inQuery, page, 401, "invalid or missing")

	// Calls for other tokens take no key.
	for target, body := range map[string]string{
		"/auth":    modulestest.JSON("client_token", key.Key, "server_token", acc.ServerToken),
		"/refresh": modulestest.JSON("refresh_token", key.Key),
	} {
		if a := s.Do(http.MethodPost, "/api/v1/external"+target, "", body); a.Status != 401 {
			t.Errorf("%s: %d %s", target, a.Status, a.Body)
		}
	}
}
