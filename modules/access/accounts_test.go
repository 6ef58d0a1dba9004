package access_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

func accountsWith(options string) string {
	return `
	handle /api/v1/external/* {
		maps_tokens
	}
	@accounts path /api/v1/service-accounts /api/v1/service-accounts/*
	handle @accounts {
		maps_accounts` + options + `
	}
	handle_path /prefix/* {
		maps_accounts
	}
`
}

const path = modulestest.AccountsPath

func TestLife(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: accountsWith("")})
	user := s.UserToken("acme")
	a := s.Do(http.MethodPost, path, user,
		`{"platform":"IOS","isAdmin":true,"description":"Füße <&>","scopes":["ONM","TILE"]}`)
	if a.Status != http.StatusCreated || a.Header.Get("Cache-Control") != "no-store" ||
		a.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%d %v %s", a.Status, a.Header, a.Body)
	}
	var made modulestest.Account
	a.Data(t, &made)
	if got, want := a.Header.Get("Location"), path+"/"+made.ID; got != want {
		t.Errorf("Location %q, want %q", got, want)
	}
	if !strings.HasPrefix(made.ClientToken, "mpc_") || !strings.HasPrefix(made.ServerToken, "mps_") ||
		!strings.HasSuffix(made.ClientToken, made.ClientHint) || !strings.HasSuffix(made.ServerToken, made.ServerHint) ||
		len(made.ClientHint) != 4 || len(made.ServerHint) != 4 {
		t.Errorf("tokens and hints: %+v", made)
	}
	want := modulestest.Account{
		ID: made.ID, Organization: "acme", Platform: "IOS", IsAdmin: true, Description: "Füße <&>",
		Scopes: []string{"ONM", "TILE"},
		Status: "ACTIVE", CreatedBy: "user:tester", ClientHint: made.ClientHint, ServerHint: made.ServerHint,
		CreatedAt: made.CreatedAt, UpdatedAt: made.CreatedAt,
	}
	created, err := time.Parse(time.RFC3339, made.CreatedAt)
	if err != nil || !strings.HasSuffix(made.CreatedAt, "Z") || time.Since(created) > time.Minute {
		t.Errorf("createdAt %q: %v", made.CreatedAt, err)
	}
	if !regexp.MustCompile(`^sa_[0-9A-Za-z]+$`).MatchString(made.ID) {
		t.Errorf("id %q", made.ID)
	}
	read := func() modulestest.Account {
		t.Helper()
		a := s.Do(http.MethodGet, path+"/"+made.ID, user, "")
		if a.Status != http.StatusOK || strings.Contains(a.Body, "Token\":") || strings.Contains(a.Body, "Hash") {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		var acc modulestest.Account
		a.Data(t, &acc)
		return acc
	}
	if diff := cmp.Diff(want, read()); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	if head := s.Do(http.MethodHead, path+"/"+made.ID, user, ""); head.Status != http.StatusOK || head.Body != "" {
		t.Errorf("HEAD: %d %q", head.Status, head.Body)
	}

	patch := func(body string, status int) modulestest.Account {
		t.Helper()
		a := s.Do(http.MethodPatch, path+"/"+made.ID, user, body)
		if a.Status != status {
			t.Fatalf("%s: got %d %s, want %d", body, a.Status, a.Body, status)
		}
		var acc modulestest.Account
		if status == http.StatusOK {
			a.Data(t, &acc)
		}
		return acc
	}
	time.Sleep(time.Until(created.Add(time.Millisecond))) // the resolution of updatedAt
	// what changes nothing leaves updatedAt
	if diff := cmp.Diff(want, patch(`{"platform":"IOS","isAdmin":true,"scopes":["ONM","TILE"],"status":"ACTIVE"}`,
		200)); diff != "" {
		t.Errorf("a PATCH of nothing (-want +got):\n%s", diff)
	}
	got := patch(`{"platform":"WEB","isAdmin":false,"description":"","scopes":["MATRIX"],"status":"SUSPENDED"}`, 200)
	if before, after := timeOf(t, want.UpdatedAt), timeOf(t, got.UpdatedAt); !after.After(before) {
		t.Errorf("updatedAt %q, before %q", got.UpdatedAt, want.UpdatedAt)
	}
	want.Platform, want.IsAdmin, want.Description, want.Scopes, want.Status = "WEB", false, "", []string{"MATRIX"},
		"SUSPENDED"
	want.UpdatedAt = got.UpdatedAt
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("PATCH (-want +got):\n%s", diff)
	}
	for _, body := range []string{`{"status":"ACTIVE"}`, `{"status":"SUSPENDED"}`, `{"status":"REVOKED"}`,
		`{"status":"REVOKED"}`, `{"platform":"WEB"}`} { // the last two change nothing
		patch(body, 200)
	}
	for _, body := range []string{`{"status":"ACTIVE"}`, `{"description":"x"}`} {
		if a := s.Do(http.MethodPatch, path+"/"+made.ID, user, body); a.Status != http.StatusConflict ||
			!strings.Contains(a.Body, `"code":"INVALID_TRANSITION"`) {
			t.Errorf("%s on a revoked account: %d %s", body, a.Status, a.Body)
		}
	}
	if a := s.Do(http.MethodDelete, path+"/"+made.ID, user, ""); a.Status != http.StatusNoContent || a.Body != "" ||
		a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("DELETE: %d %v %s", a.Status, a.Header, a.Body)
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		if a := s.Do(method, path+"/"+made.ID, user, ""); a.Status != http.StatusNotFound ||
			a.Body != `{"error":"service account not found"}` {
			t.Errorf("%s after DELETE: %d %s", method, a.Status, a.Body)
		}
	}
	waitLogs(t, s, "maps.account.created", "maps.account.updated", "maps.account.suspended", "maps.account.activated",
		"maps.account.revoked", "maps.account.deleted")
	if line := `"msg":"account updated","account_id":"` + made.ID + `","organization":"acme","actor":"user:tester",` +
		`"changed":["platform","isAdmin","description","scopes"]`; !strings.Contains(s.Log(), line) {
		t.Errorf("the log lacks %s", line)
	}
	if strings.Contains(s.Log(), made.ClientToken) || strings.Contains(s.Log(), made.ServerToken) {
		t.Error("the log shows a token")
	}
}

func waitLogs(t *testing.T, s *modulestest.Server, events ...string) {
	t.Helper()
	deadline := time.Now().Add(3 * time.Second)
	for _, name := range events {
		for !strings.Contains(s.Log(), `"msg":"event","name":"`+name+`"`) {
			if time.Now().After(deadline) {
				t.Errorf("no event %s", name)
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func TestValidation(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: accountsWith("")})
	user := s.UserToken("acme")
	acc := s.CreateAccount(user, "TILE", "")
	long := strings.Repeat("é", 501)
	const noControls = "description: must contain neither U+0000 nor characters that control the direction of text"
	both := []struct{ body, want string }{ // wrong in a POST and in a PATCH
		{``, "body: must be a JSON object"},
		{`{"platform":"WEB","scopes":["TILE"],"owner":"me"}`, "owner: unknown field"},
		{`{"platform":"WEB","scopes":["TILE"],"Status":"ACTIVE"}`, "Status: unknown field"},
		{`{"platform":"WEB","scopes":["TILE"],"platform":"WEB"}`, "platform: appears more than once"},
		{`{"platform":"LINUX","scopes":["TILE"]}`, "platform: must be WEB, ANDROID, IOS, DESKTOP or empty"},
		{`{"platform":null,"scopes":["TILE"]}`, "platform: must be a string"},
		{`{"platform":"WEB","scopes":["TILE"],"isAdmin":"true"}`, "isAdmin: must be true or false"},
		{`{"platform":"WEB","scopes":["TILE"],"description":7}`, "description: must be a string"},
		{`{"platform":"WEB","scopes":["TILE"],"description":"` + long + `"}`, "description: must be at most 500 characters"},
		{`{"platform":"WEB","scopes":["TILE"],"description":"a\u0000"}`, noControls},
		{`{"platform":"WEB","scopes":["TILE"],"description":"a\u202eb"}`, noControls},
		{"{\"platform\":\"WEB\",\"scopes\":[\"TILE\"],\"description\":\"\xff\"}", "body: must be UTF-8"},
		{`{"platform":"WEB","scopes":[]}`, "scopes: must not be empty"},
		{`{"platform":"WEB","scopes":"TILE"}`, "scopes: must be an array of strings"},
		{`{"platform":"WEB","scopes":[null]}`, "scopes: element 0: must be a string"},
		{`{"platform":"WEB","scopes":["TILE","TILE"]}`, "scopes: TILE appears more than once"},
		{`{"platform":"WEB","scopes":["TILE","tile"]}`,
			"scopes: element 1 is none of [TILE MATRIX ONM DIRECTION TSS GEOCODING REVERSEGEOCODING]"},
		{`{"platform":"WEB","scopes":["TILE"],"quotas":null}`, "quotas: must be an array of objects"},
		{`{"platform":"WEB","scopes":["TILE"],"quotas":[{"scope":"*"}]}`, "quotas: element 0: unit: must be requests or units"},
		{`{"platform":"WEB","scopes":["TILE"],"restrictions":null}`, "restrictions: must be an object"},
		{`{"platform":"WEB","scopes":["TILE"],"restrictions":{"countries":1}}`, "restrictions: countries: unknown field"},
		{`{"platform":"WEB","scopes":["TILE"],"restrictions":{"origins":"https://a.example"}}`,
			"restrictions: origins: must be an array of strings"},
		{`{"platform":"WEB","scopes":["TILE"],"status":"DELETED"}`, "status: must be ACTIVE, SUSPENDED or REVOKED"},
	}
	check := func(t *testing.T, method, path, body, want string) {
		t.Helper()
		a := s.Do(method, path, user, body)
		text, _ := json.Marshal(map[string]string{"error": want, "code": "FAILED_VALIDATION"})
		var got, expected map[string]string
		if err := json.Unmarshal([]byte(a.Body), &got); err != nil {
			t.Fatalf("%s: %v", a.Body, err)
		}
		_ = json.Unmarshal(text, &expected)
		if a.Status != http.StatusBadRequest || !cmp.Equal(got, expected) || a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %s: got %d %s, want %q", method, body, a.Status, a.Body, want)
		}
	}
	for _, tc := range both {
		check(t, http.MethodPost, path, tc.body, tc.want)
		check(t, http.MethodPatch, path+"/"+acc.ID, tc.body, tc.want)
	}
	check(t, http.MethodPost, path, `{"platform":"WEB"}`, "scopes: missing")
	check(t, http.MethodPost, path, `{"platform":"WEB","scopes":["TILE"],"status":"REVOKED"}`,
		"status: a new account is ACTIVE or SUSPENDED")
	check(t, http.MethodPatch, path+"/"+acc.ID, `{}`, "body: has no field to change")

	for query, want := range map[string]string{
		"limit=0":                             "limit: must be a whole number from 1 to 200",
		"limit=201":                           "limit: must be a whole number from 1 to 200",
		"status=GONE":                         "status: must be ACTIVE, SUSPENDED or REVOKED",
		"cursor=" + acc.ID:                    "cursor: is not one that a list gave",
		"cursor=" + strings.Repeat("MT", 500): "cursor: is not one that a list gave",
		"limit=%zz":                           "query: is not well-formed",
		"%6Cimit=1&limit=2":                   "limit: appears more than once",
	} {
		check(t, http.MethodGet, path+"?"+query, "", want)
	}
	// the longest that is accepted; Arabic, Hebrew, Persian with a ZWNJ, an emoji of several with joiners
	for _, text := range []string{long[2:], "خرائط", "מפות", "می\u200cخواهم", "👩\u200d👩\u200d👧"} {
		a := s.Do(http.MethodPatch, path+"/"+acc.ID, user, modulestest.JSON("description", text))
		var got modulestest.Account
		if a.Data(t, &got); a.Status != http.StatusOK || got.Description != text {
			t.Errorf("%s: %d %s", text, a.Status, a.Body)
		}
	}
}

// TestMaxAccounts: max_accounts counts accounts that are neither deleted nor revoked, of each organization by itself.
func TestMaxAccounts(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: accountsWith(""), Maps: "max_accounts 2"})
	user := s.UserToken("acme")
	refused := func() {
		t.Helper()
		a := s.Do(http.MethodPost, path, user, `{"platform":"WEB","scopes":["TILE"]}`)
		if a.Status != http.StatusConflict || a.Header.Get("Cache-Control") != "no-store" ||
			a.Body != `{"error":"the organization has 2 service accounts already","code":"ACCOUNT_LIMIT"}` {
			t.Errorf("a third account: %d %s", a.Status, a.Body)
		}
	}
	first, second := s.CreateAccount(user, "TILE", ""), s.CreateAccount(user, "TILE", `"status":"SUSPENDED"`)
	refused()
	s.CreateAccount(s.UserToken("globex"), "TILE", "")
	s.Do(http.MethodDelete, path+"/"+first.ID, user, "")
	s.CreateAccount(user, "TILE", "")
	refused()
	s.Do(http.MethodPatch, path+"/"+second.ID, user, `{"status":"REVOKED"}`)
	s.CreateAccount(user, "TILE", "")
	refused()
}

func TestOtherAnswers(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: accountsWith("")})
	user := s.UserToken("acme")
	acc := s.CreateAccount(user, "TILE", "")
	pair := s.Exchange(acc.ClientToken, acc.ServerToken)
	const unauthorized = `{"error":"invalid or missing api key"}`
	const notFound = `{"error":"service account not found"}`
	for _, tc := range []struct {
		name, method, path, token, body string
		header                          []string
		status                          int
		answer                          string
		headerName, headerValue         string
	}{
		{"no token", "GET", path, "", "", nil, 401, unauthorized, "WWW-Authenticate", "Bearer"},
		{"token in the query", "GET", path + "?apiKey=" + user, "", "", nil, 401, unauthorized, "WWW-Authenticate", "Bearer"},
		{"nonsense", "GET", path, "nonsense", "", nil, 401, unauthorized, "WWW-Authenticate",
			`Bearer error="invalid_token", error_description="this is not a token; a user token belongs here"`},
		{"client token", "GET", path, acc.ClientToken, "", nil, 401, unauthorized, "WWW-Authenticate",
			`Bearer error="invalid_token", error_description="this is a client token; a user token belongs here"`},
		{"truncated", "GET", path, user[:len(user)-1], "", nil, 401, unauthorized, "WWW-Authenticate",
			`Bearer error="invalid_token", error_description="the token is truncated or mistyped"`},
		{"access token of no administrator", "GET", path, pair.AccessToken, "", nil, 403,
			`{"error":"insufficient scope","code":"INSUFFICIENT_SCOPE"}`, "WWW-Authenticate",
			`Bearer error="insufficient_scope"`},
		{"unknown id", "GET", path + "/sa_1", user, "", nil, 404, notFound, "", ""},
		{"somewhere else", "GET", "/prefix/elsewhere", user, "", nil, 404, `{"error":"not found"}`, "", ""},
		{"PUT of the collection", "PUT", path, user, "{}", nil, 405, `{"error":"method not allowed"}`, "Allow",
			"GET, HEAD, POST"},
		{"POST to an account", "POST", path + "/" + acc.ID, user, "{}", nil, 405, `{"error":"method not allowed"}`, "Allow",
			"GET, HEAD, PATCH, DELETE"},
		{"POST of usage", "POST", path + "/usage", user, "{}", nil, 405, `{"error":"method not allowed"}`, "Allow",
			"GET, HEAD"},
		{"form", "POST", path, user, "platform=WEB",
			[]string{"Content-Type", "", "Content-Type", "application/x-www-form-urlencoded"}, 415,
			`{"error":"Content-Type: application/x-www-form-urlencoded is not accepted; send application/json"}`, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := s.Do(tc.method, tc.path, tc.token, tc.body, tc.header...)
			if a.Status != tc.status || a.Body != tc.answer {
				t.Errorf("got %d %s, want %d %s", a.Status, a.Body, tc.status, tc.answer)
			}
			if a.Header.Get("Content-Type") != "application/json" || a.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("headers %v", a.Header)
			}
			if tc.headerName != "" && a.Header.Get(tc.headerName) != tc.headerValue {
				t.Errorf("%s %q, want %q", tc.headerName, a.Header.Get(tc.headerName), tc.headerValue)
			}
		})
	}
	// behind a prefix that Caddy strips, Location still is the path that the client asked for
	a := s.Do(http.MethodPost, "/prefix"+path+"/", user, `{"platform":"WEB","scopes":["TILE"]}`)
	if a.Status != http.StatusCreated || !strings.HasPrefix(a.Header.Get("Location"), "/prefix"+path+"/sa_") {
		t.Errorf("%d Location %q", a.Status, a.Header.Get("Location"))
	}
}

type page struct {
	Data       []modulestest.Account `json:"data"`
	NextCursor *string               `json:"nextCursor"`
}

func list(t *testing.T, s *modulestest.Server, token, query string) page {
	t.Helper()
	a := s.Do(http.MethodGet, path+query, token, "")
	var p page
	if err := json.Unmarshal([]byte(a.Body), &p); err != nil || a.Status != http.StatusOK ||
		!strings.Contains(a.Body, `"nextCursor":`) {
		t.Fatalf("%d %s: %v", a.Status, a.Body, err)
	}
	return p
}

func ids(accounts []modulestest.Account) []string {
	var ids []string
	for _, acc := range accounts {
		ids = append(ids, acc.ID)
	}
	return ids
}

func TestList(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: accountsWith("")})
	user, stranger := s.UserToken("acme"), s.UserToken("globex")
	if a := s.Do(http.MethodGet, path, user, ""); a.Body != `{"data":[],"nextCursor":null}` {
		t.Errorf("empty: %s", a.Body)
	}
	var want, suspended []string // newest first
	for i := range 7 {
		status := []string{"SUSPENDED", "ACTIVE", "ACTIVE"}[i%3]
		acc := s.CreateAccount(user, "TILE", fmt.Sprintf(`"status":%q`, status))
		want = slices.Insert(want, 0, acc.ID)
		if status == "SUSPENDED" {
			suspended = slices.Insert(suspended, 0, acc.ID)
		}
		s.CreateAccount(stranger, "TILE", "")
	}
	for query, want := range map[string][]string{
		"": want, "/": want, "?limit=7": want, "?cursor=": want, "?unknown=1": want, "?status=SUSPENDED": suspended,
	} {
		p := list(t, s, user, query)
		if diff := cmp.Diff(want, ids(p.Data)); diff != "" || p.NextCursor != nil {
			t.Errorf("%q: next %v (-want +got):\n%s", query, p.NextCursor, diff)
		}
	}
	for _, limit := range []int{1, 3, 6} {
		var got []string
		cursor := ""
		for range 7 {
			p := list(t, s, user, fmt.Sprintf("?limit=%d&cursor=%s", limit, cursor))
			got = append(got, ids(p.Data)...)
			if p.NextCursor == nil {
				break
			}
			cursor = *p.NextCursor
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("pages of %d (-want +got):\n%s", limit, diff)
		}
	}
	// A cursor still works when its account is gone.
	p := list(t, s, user, "?limit=2")
	s.Do(http.MethodDelete, path+"/"+p.Data[1].ID, user, "")
	if diff := cmp.Diff(want[2:4], ids(list(t, s, user, "?limit=2&cursor="+*p.NextCursor).Data)); diff != "" {
		t.Errorf("after a deletion (-want +got):\n%s", diff)
	}
}

func timeOf(t *testing.T, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}
