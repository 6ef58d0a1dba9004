package access_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// FuzzBody sends any body to every endpoint that takes one: no panic, no 5xx, and always the service's own JSON.
func FuzzBody(f *testing.F) {
	s := modulestest.Start(f, modulestest.Config{Site: accountsWith(""), Level: "ERROR"})
	user := s.UserToken("acme")
	acc := s.CreateAccount(user, "TILE", "")
	good := modulestest.JSON("client_token", acc.ClientToken, "server_token", acc.ServerToken)
	for _, seed := range []string{
		"", "{}", "[]", "null", good, good[:len(good)-1], good + good, `{"refresh_token":"mpr_x"}`,
		`{"client_token":"a","client_token":"b"}`, `{"client_token":{"a":[1,2,{}]},"server_token":1e999}`,
		"{\"refresh_token\":\"\xff\"}", `{"a\u0000":"\ud800"}`, strings.Repeat("[", 10000),
		`{"platform":"WEB","scopes":["TILE"]}`, `{"status":"ACTIVE","description":"\ud800"}`, `{"scopes":[[]]}`,
		`{"origins":["https://app.test"]}`, `{"origins":["\ud800"],"scopes":null}`,
		`{"description":"` + strings.Repeat("x", 20000) + `"}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, target := range []struct {
			method, path, token string
			statuses            []int
		}{
			{http.MethodPost, authPath, "", []int{200, 400, 401, 413}},
			{http.MethodPost, refreshPath, "", []int{200, 400, 401, 413}},
			{http.MethodPost, revokePath, "", []int{204, 400, 413}},
			{http.MethodPost, path, user, []int{201, 400, 413}},
			{http.MethodPatch, path + "/" + acc.ID, user, []int{200, 400, 409, 413}},
			{http.MethodPost, path + "/" + acc.ID + "/keys", user, []int{201, 400, 409, 413}},
		} {
			a := s.With(t).Do(target.method, target.path, target.token, body)
			if !slices.Contains(target.statuses, a.Status) ||
				a.Status != http.StatusNoContent && !json.Valid([]byte(a.Body)) {
				t.Errorf("%s %s %q: %d %s", target.method, target.path, body, a.Status, a.Body)
			}
		}
	})
}
