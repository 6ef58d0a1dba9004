package access_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

const countSite = `
	handle /tile {
		maps_auth TILE
		respond "passed"
	}
	handle /nested {
		maps_auth TILE {
			forward_token
		}
		route {
			maps_auth TILE MATRIX
			respond "passed"
		}
	}
	handle /status/502 {
		maps_auth TILE
		respond 502
	}
	handle /status/503 {
		maps_auth TILE
		error 503
	}
	handle /status/404 {
		maps_auth TILE
		error 404
	}
	handle /before {
		maps_auth MATRIX {
			units {http.request.header.X-Units}
			error_style routing
		}
		respond "passed"
	}
	handle /after {
		route {
			maps_auth MATRIX {
				units {http.response.header.X-Units}
			}
			header X-Units {http.request.header.X-Units}
			respond "passed"
		}
	}
` + accountsSite

func TestCounting(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: countSite})
	user := s.UserToken("acme")
	one := account.Usage{Requests: 1, Units: 1}
	units := func(n int64) map[string]account.Usage {
		return map[string]account.Usage{"MATRIX": {Requests: 1, Units: n}}
	}
	failed := map[string]account.Usage{"TILE": {Requests: 1, Errors: 1, Units: 1}}
	for _, tc := range []struct {
		name, path, units string
		status            int
		want              map[string]account.Usage
	}{
		{"one scope", "/tile", "", 200, map[string]account.Usage{"TILE": one}},
		{"one maps_auth in another", "/nested", "", 200, map[string]account.Usage{"TILE": one, "MATRIX": one}},
		{"answered 5xx", "/status/502", "", 502, failed},
		{"an error of a handler", "/status/503", "", 503, failed},
		{"answered 4xx", "/status/404", "", 404, map[string]account.Usage{"TILE": one}},
		{"units before", "/before", "25", 200, units(25)},
		{"no units before", "/before", "0", 200, units(0)},
		{"units missing", "/before", "", 200, units(1)},
		{"units that are no number", "/before", "many", 200, units(1)},
		{"too many units", "/before", "1000000001", 200, units(1)},
		{"units of 20 digits", "/before", "18446744073709551617", 200, units(1)},
		{"units that name others", "/before", "{http.request.port}", 200, units(1)},
		{"units after", "/after", "1000000000", 200, units(1_000_000_000)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			acc := s.CreateAccount(user, "TILE MATRIX", "")
			token := s.Exchange(acc.ClientToken, acc.ServerToken).AccessToken
			if a := s.Do(http.MethodGet, tc.path, token, "", "X-Units", tc.units); a.Status != tc.status {
				t.Fatalf("%d %s", a.Status, a.Body)
			}
			s.Do(http.MethodGet, "/tile", "not "+token, "") // counts for no account
			if diff := cmp.Diff(tc.want, s.Usage(user, acc.ID)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestQuotas(t *testing.T) {
	s := modulestest.Start(t, modulestest.Config{Site: countSite})
	user := s.UserToken("acme")
	quotas := func(scope, unit, limit string) string {
		return fmt.Sprintf(`"quotas":[{"scope":%q,"unit":%q,"window":"month","limit":%s}]`, scope, unit, limit)
	}
	acc := s.CreateAccount(user, "TILE MATRIX", quotas("TILE", "requests", "100"))
	token := s.Exchange(acc.ClientToken, acc.ServerToken).AccessToken
	set := func(t *testing.T, quotas string) {
		t.Helper()
		if a := s.Do(http.MethodPatch, modulestest.AccountsPath+"/"+acc.ID, user, "{"+quotas+"}"); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}

	t.Run("exactly as many pass", func(t *testing.T) {
		var all sync.WaitGroup
		answers := make([]int, 300)
		for i := range answers {
			all.Go(func() { answers[i] = s.Do(http.MethodGet, "/tile", token, "").Status })
		}
		all.Wait()
		count := map[int]int{}
		for _, status := range answers {
			count[status]++
		}
		if count[200] != 100 || count[429] != 200 {
			t.Fatalf("got %v", count)
		}
		want := map[string]account.Usage{"TILE": {Requests: 100, Refused: 200, Units: 100}}
		if diff := cmp.Diff(want, s.Usage(user, acc.ID)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("what a refusal says", func(t *testing.T) {
		before := len(s.Log())
		a := s.Do(http.MethodGet, "/tile", token, "")
		if want := `{"error":"the quota requests-month-TILE is exceeded","code":"QUOTA_EXCEEDED"}`; a.Body != want {
			t.Errorf("got %s, want %s", a.Body, want)
		}
		var r, reset, limit, window, retry int
		_, _ = fmt.Sscanf(a.Header.Get("RateLimit"), `"requests-month-TILE";r=%d;t=%d`, &r, &reset)
		_, _ = fmt.Sscanf(a.Header.Get("RateLimit-Policy"), `"requests-month-TILE";q=%d;w=%d`, &limit, &window)
		_, _ = fmt.Sscan(a.Header.Get("Retry-After"), &retry)
		if r != 0 || reset < 1 || reset > 31*86400 || retry != reset || limit != 100 || window < 28*86400 {
			t.Errorf("headers %v", a.Header)
		}
		if cc := a.Header.Get("Cache-Control"); cc != "no-store" {
			t.Errorf("Cache-Control %q", cc)
		}
		waitLog(t, s, before, `"reason":"the account's quota of 100 requests of TILE a month is used up"`)
		metrics := s.AdminDo(http.MethodGet, "/metrics", "").Body
		for _, line := range []string{
			`caddy_maps_auth_total{result="quota"} 201`, `caddy_maps_quota_refused_total{scope="TILE"} 201`,
			`caddy_maps_quota_refused_total{scope="*"} 0`, `caddy_maps_usage_waiting_seconds 0`,
			`caddy_maps_refusals_total{handler="maps_auth",reason="quota exceeded"} 201`,
		} {
			if !strings.Contains(metrics, line+"\n") {
				t.Errorf("the metrics lack %s", line)
			}
		}
	})
	t.Run("raised, and other scopes go on", func(t *testing.T) {
		if a := s.Do(http.MethodGet, "/before", token, ""); a.Status != 200 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		set(t, quotas("TILE", "requests", "101"))
		for _, want := range []int{200, 429} {
			if a := s.Do(http.MethodGet, "/tile", token, ""); a.Status != want {
				t.Errorf("got %d %s, want %d", a.Status, a.Body, want)
			}
		}
	})
	t.Run("too many units at once", func(t *testing.T) {
		set(t, quotas("MATRIX", "units", "11"))
		a := s.Do(http.MethodGet, "/before", token, "", "X-Units", "11") // 1 was used above
		if a.Status != 429 || !strings.Contains(a.Body, `"code":"QUOTA_EXCEEDED"`) ||
			!strings.Contains(a.Header.Get("RateLimit"), `"units-month-MATRIX";r=`) {
			t.Errorf("got %d %v %s", a.Status, a.Header, a.Body)
		}
		if a := s.Do(http.MethodGet, "/before", token, "", "X-Units", "10"); a.Status != 200 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	})
	t.Run("units after only count", func(t *testing.T) {
		set(t, quotas("MATRIX", "units", "20"))
		for _, want := range []int{200, 429} {
			if a := s.Do(http.MethodGet, "/after", token, "", "X-Units", "50"); a.Status != want {
				t.Errorf("got %d %s, want %d", a.Status, a.Body, want)
			}
		}
	})
	t.Run("of the organization", func(t *testing.T) {
		set(t, `"quotas":[]`)
		a := s.AdminDo(http.MethodPut, "/maps/quotas/acme", "{"+quotas("*", "requests", "105")+"}")
		if a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		other := s.CreateAccount(user, "TILE", "") // 104 have passed above
		second := s.Exchange(other.ClientToken, other.ServerToken).AccessToken
		for _, want := range []int{200, 429} {
			if a := s.Do(http.MethodGet, "/tile", second, ""); a.Status != want {
				t.Errorf("got %d %s, want %d", a.Status, a.Body, want)
			}
		}
	})
}
