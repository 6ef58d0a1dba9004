package access_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/web/usageapi"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

const usagePath = path + "/usage"

// usageOf lists usage as account, scope and counts in one line each.
func usageOf(t *testing.T, s *modulestest.Server, token, query string) (lines []string) {
	t.Helper()
	a := s.Do(http.MethodGet, usagePath+query, token, "")
	var page usageapi.Page
	if err := json.Unmarshal([]byte(a.Body), &page); err != nil || a.Status != http.StatusOK {
		t.Fatalf("%d %s: %v", a.Status, a.Body, err)
	}
	for _, row := range page.Data {
		lines = append(lines, fmt.Sprint(row.Account, " ", row.Scope, " ", row.Usage))
	}
	return lines
}

// TestUsage: only its own organization sees usage, from the next request on, also of deleted accounts.
func TestUsage(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: countSite, Level: "INFO"})
	user, stranger := s.UserToken("acme"), s.UserToken("globex")
	admin := s.CreateAccount(user, "TILE MATRIX", `"isAdmin":true`)
	limited := s.CreateAccount(user, "TILE", `"quotas":[{"scope":"*","unit":"requests","window":"month","limit":2}]`)
	token := s.Exchange(admin.ClientToken, admin.ServerToken).AccessToken
	if a := s.Do(http.MethodGet, usagePath, user, ""); a.Body != `{"data":[],"nextCursor":null}` {
		t.Errorf("no usage: %s", a.Body)
	}
	for _, target := range []string{"/tile", "/status/502", "/nested"} {
		s.Do(http.MethodGet, target, token, "")
	}
	limitedToken := s.Exchange(limited.ClientToken, limited.ServerToken).AccessToken
	for range 3 {
		s.Do(http.MethodGet, "/tile", limitedToken, "")
	}
	ofAdmin := []string{fmt.Sprint(admin.ID, " MATRIX ", account.Usage{Requests: 1, Units: 1}),
		fmt.Sprint(admin.ID, " TILE ", account.Usage{Requests: 3, Errors: 1, Units: 3})}
	ofLimited := []string{fmt.Sprint(limited.ID, " TILE ", account.Usage{Requests: 2, Refused: 1, Units: 2})}
	all := slices.Concat(ofAdmin, ofLimited)
	s.Do(http.MethodDelete, path+"/"+limited.ID, user, "")
	for _, tc := range []struct {
		token, query string
		want         []string
	}{
		{user, "", all}, {token, "", all}, {user, "?account=" + limited.ID, ofLimited}, {user, "?limit=1", all[:1]},
		{stranger, "", nil}, {stranger, "?account=" + limited.ID, nil},
	} {
		if diff := cmp.Diff(tc.want, usageOf(t, s, tc.token, tc.query)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tc.query, diff)
		}
	}
	a := s.Do(http.MethodGet, usagePath+"?limit=1", user, "", "Accept", "text/csv")
	if !strings.Contains(a.Body, ","+admin.ID+",MATRIX,1,0,0,1\r") || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("CSV: %v %s", a.Header, a.Body)
	}
}
