package mapmatch_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// A request counts for the points of its trace, before it is matched.
func TestCharge(t *testing.T) {
	region := filepath.Join(t.TempDir(), "village.region")
	modulestest.BuildRegion(t, region, modulestest.Village)
	s := modulestest.Start(t, modulestest.Config{
		Maps: "region village " + region,
		Site: `
	handle /api/v1/external/* {
		maps_tokens
	}
	handle /api/v1/service-accounts* {
		maps_accounts
	}
	handle {
		maps_auth DIRECTION {
			error_style routing
		}
		encode
		maps_match {
			matcher local village
		}
	}
`,
	})
	user := s.UserToken("acme")
	acc := s.CreateAccount(user, "DIRECTION",
		`"quotas":[{"scope":"*","unit":"units","window":"month","limit":13}]`)
	token := s.Exchange(acc.ClientToken, acc.ServerToken).AccessToken
	for _, tc := range []struct {
		name, body string
		status     int
		used       account.Usage // so far
	}{
		{"five points", body, 200, account.Usage{Requests: 1, Units: 5}},
		{"no road near its points", `{"path":[{"lat":1,"lng":1},{"lat":1,"lng":2}]}`, 404,
			account.Usage{Requests: 2, Units: 7}},
		{"no trace", `{"path":`, 422, account.Usage{Requests: 3, Units: 8}},
		{"five more", body, 200, account.Usage{Requests: 4, Units: 13}},
		{"beyond the quota", body, 429, account.Usage{Requests: 4, Refused: 1, Units: 13}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := s.Do(http.MethodPost, endpoint, token, tc.body, "Content-Type", jsonType)
			if a.Status != tc.status || tc.status == 429 && (!strings.Contains(a.Body, `{"error":{"code":"QUOTA_EXCEEDED",`) ||
				a.Header.Get("RateLimit") == "") {
				t.Errorf("got %d %v %s", a.Status, a.Header, a.Body)
			}
			if diff := cmp.Diff(map[string]account.Usage{"DIRECTION": tc.used}, s.Usage(user, acc.ID)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
