package access_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/web/usageapi"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

const usagePath = path + "/usage"

// counting is a site whose gates count: /tile, /fails, which is answered 500, and /both, which needs two scopes.
func counting() string {
	return accountsWith("") + `
	handle /tile {
		maps_auth TILE
		respond ok
	}
	handle /fails {
		maps_auth TILE
		respond 500
	}
	handle /both {
		maps_auth TILE ONM
		respond ok
	}
	`
}

// usageOf lists usage as account, scope and counts in one line each.
func usageOf(t *testing.T, s *modulestest.Server, token, query string) (lines []string) {
	t.Helper()
	a := s.Do(http.MethodGet, usagePath+query, token, "")
	var page usageapi.Page
	if err := json.Unmarshal([]byte(a.Body), &page); err != nil || a.Status != http.StatusOK {
		t.Fatalf("%d %s: %v", a.Status, a.Body, err)
	}
	for _, row := range page.Data {
		lines = append(lines, fmt.Sprintf("%s %s %d passed, %d refused, %d failed, %d units", row.Account, row.Scope,
			row.Requests, row.Refused, row.Errors, row.Units))
	}
	return lines
}

// TestUsage: only its own organization sees usage, from the next request on.
func TestUsage(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: counting(), Level: "INFO"})
	user, stranger := s.UserToken("acme"), s.UserToken("globex")
	admin := s.CreateAccount(user, "TILE ONM", `"isAdmin":true`)
	limited := s.CreateAccount(user, "TILE", `"quotas":[{"scope":"*","unit":"requests","window":"month","limit":2}]`)
	ask := func(acc modulestest.Account, target string, want ...int) string {
		t.Helper()
		token := s.Exchange(acc.ClientToken, acc.ServerToken).AccessToken
		for i, status := range want {
			if a := s.Do(http.MethodGet, target, token, ""); a.Status != status {
				t.Fatalf("request %d for %s: %d %s", i, target, a.Status, a.Body)
			}
		}
		return token
	}
	if a := s.Do(http.MethodGet, usagePath, user, ""); a.Body != `{"data":[],"nextCursor":null}` {
		t.Errorf("nothing used: %s", a.Body)
	}
	ask(admin, "/tile", 200, 200, 200)
	ask(admin, "/fails", 500)
	token := ask(admin, "/both", 200)
	ask(limited, "/tile", 200, 200, 429)
	s.Do(http.MethodGet, "/tile", "nonsense", "")

	ofAdmin := []string{admin.ID + " ONM 1 passed, 0 refused, 0 failed, 1 units",
		admin.ID + " TILE 5 passed, 0 refused, 1 failed, 5 units"}
	ofLimited := []string{limited.ID + " TILE 2 passed, 1 refused, 0 failed, 2 units"}
	all := append(append([]string{}, ofAdmin...), ofLimited...)
	s.Do(http.MethodDelete, path+"/"+limited.ID, user, "") // it keeps its usage
	for _, tc := range []struct {
		token, query string
		want         []string
	}{
		{user, "", all}, {token, "", all}, {user, "?step=month", all},
		{user, "?account=" + limited.ID, ofLimited}, {user, "?scope=ONM", ofAdmin[:1]}, {user, "?limit=1", all[:1]},
		{user, "?to=2020-01-01", nil}, {stranger, "", nil}, {stranger, "?account=" + limited.ID, nil},
	} {
		if diff := cmp.Diff(tc.want, usageOf(t, s, tc.token, tc.query)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tc.query, diff)
		}
	}
	a := s.Do(http.MethodGet, usagePath+"?limit=1", user, "", "Accept", "text/csv")
	if !strings.HasPrefix(a.Body, "start,account,scope,requests,refused,errors,units\r\n") ||
		!strings.Contains(a.Body, ","+admin.ID+",ONM,1,0,0,1\r") || a.Header.Get("Cache-Control") != "no-store" ||
		!strings.HasPrefix(a.Header.Get("Link"), "<?cursor=") {
		t.Errorf("CSV: %v %s", a.Header, a.Body)
	}
}
