package matching_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	_ "github.com/mapsedge/caddy-maps/modules/access"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

const guarded = `
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
	}`

// A request counts for the points of its trace, before it is matched.
func TestCharge(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Maps: "region village " + buildRegion(t, modulestest.Village), Site: guarded})
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
		{"no road near its points", `{"path":[{"lat":1,"lng":1},{"lat":1,"lng":2}]}`, 404, account.Usage{Requests: 2, Units: 7}},
		{"no trace", `{"path":`, 422, account.Usage{Requests: 3, Units: 8}},
		{"five more", body, 200, account.Usage{Requests: 4, Units: 13}},
		{"beyond the quota", body, 429, account.Usage{Requests: 4, Refused: 1, Units: 13}},
	} {
		a := s.Do(http.MethodPost, endpoint, token, tc.body, "Content-Type", jsonType)
		if a.Status != tc.status || tc.status == 429 && (!strings.Contains(a.Body, `{"error":{"code":"QUOTA_EXCEEDED",`) ||
			a.Header.Get("RateLimit") == "") {
			t.Errorf("%s: %d %v %s", tc.name, a.Status, a.Header, a.Body)
		}
		if diff := cmp.Diff(map[string]account.Usage{"DIRECTION": tc.used}, s.Usage(user, acc.ID)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// A request that waits for the memory of its account keeps no processor: other accounts are served.
func TestWaitForMemoryTakesNoProcessor(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{
		Maps:   "region village " + buildRegion(t, modulestest.Village) + "\nmax_bodies_in_flight 1MiB\nmax_wait 20s",
		Global: "metrics", Site: guarded,
	})
	_, hostile := s.Token("hostile", "DIRECTION")
	_, other := s.Token("other", "DIRECTION")
	s.Hang(endpoint, hostile, 1<<20)
	long := "[" + strings.Repeat("{39,-76},", 1100) + "{39,-76}]" // the trace takes more than is had without a wait
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	defer clients.Wait()
	defer cancel()
	waiting := 2 * runtime.GOMAXPROCS(0)
	for range waiting {
		clients.Go(func() {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+endpoint+"?path="+long, nil)
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Authorization", "Bearer "+hostile)
			if resp, err := s.HTTP.Do(r); err == nil {
				resp.Body.Close()
				t.Errorf("without memory: %d", resp.StatusCode)
			}
		})
	}
	want := fmt.Sprintf(`caddy_http_requests_in_flight{handler="subroute",server="srv0"} %d`+"\n", waiting+1)
	for deadline := time.Now().Add(15 * time.Second); !strings.Contains(s.AdminDo(http.MethodGet, "/metrics", "").Body, want); {
		if time.Now().After(deadline) {
			t.Fatalf("the metrics do not say %s", want)
		}
	}
	for range 20 {
		began := time.Now()
		a := s.Do(http.MethodGet, endpoint+"?path="+url.QueryEscape(pairs), other, "")
		if took := time.Since(began); a.Status != http.StatusOK || took > time.Second {
			t.Fatalf("%d %s after %v", a.Status, a.Body, took)
		}
	}
}
