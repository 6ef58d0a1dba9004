package integration

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// untilLimited sends a call by several clients until a response is a 429, and returns that and the number of others,
// which must have the given status.
func (s *server) untilLimited(t *testing.T, c call, status int) (limited *answer, passed int) {
	t.Helper()
	var mu sync.Mutex
	var clients sync.WaitGroup
	deadline := time.Now().Add(20 * time.Second)
	for range 4 {
		clients.Go(func() {
			for time.Now().Before(deadline) {
				a, err := s.trySend(t, c)
				mu.Lock()
				switch {
				case err != nil:
					t.Error(err)
				case a.status == status:
					passed++
				case a.status != 429:
					t.Errorf("%.100s: status %d, want %d or 429: %s", c.path, a.status, status, a.body)
				case limited == nil:
					limited = a
				}
				done := limited != nil || err != nil
				mu.Unlock()
				if done {
					return
				}
			}
		})
	}
	clients.Wait()
	if limited == nil {
		t.Fatalf("%.100s: no limit after %d responses", c.path, passed)
	}
	return limited, passed
}

// TestLimits runs Caddyfile.example with small limits: those of an account, and ahead of maps_auth those of a client
// address, which a client cannot choose. Clients learn what is allowed, and when to come again.
func TestLimits(t *testing.T) {
	t.Parallel()
	s := newServer(t, "# trusted_proxies static 10.0.0.0/8", "trusted_proxies static 127.0.0.1/32",
		"# trusted_proxies_strict", "trusted_proxies_strict", "# cors https://app.example.com", "cors "+page)
	s.limits, s.raced = true, true
	const account, address, tiles, tilesAddress, tokens, management = 5, 10, 6, 12, 20, 15
	for name, n := range map[string]int{"ACCOUNT": account, "ADDRESS": address, "TILES": tiles,
		"TILES_ADDRESS": tilesAddress, "TOKENS": tokens, "MANAGEMENT": management} {
		s.env = append(s.env, fmt.Sprintf("MAPS_LIMIT_%s=%d", name, n))
	}
	s.run(t)
	user := s.userToken(t, "limits")
	var access [3]string
	for i := range access {
		acc := s.create(t, user, map[string]any{"scopes": []string{"REVERSEGEOCODING", "DIRECTION", "TILE"}})
		access[i], _ = s.exchange(t, acc.ClientToken, acc.ServerToken)
	}
	// The load balancer is this test: the address that it adds is the last one.
	from := func(c call, addresses string) call {
		c.header = map[string][]string{"X-Forwarded-For": {addresses}, "Origin": {page}}
		return c
	}
	const mapsPolicy = `"maps_addresses";q=10;w=1, "maps_accounts";q=5;w=1`
	const tilesPolicy = `"tiles_addresses";q=12;w=1, "tiles_accounts";q=6;w=1`
	for i, test := range []struct {
		zone   string
		call   call
		status int // before the limit
		limit  int
		window int // s
		policy string
	}{
		{"maps_addresses", call{path: reverse + place}, 401, address, 1, mapsPolicy},
		{"maps_accounts", call{path: reverse + place, bearer: access[0]}, 200, account, 1, mapsPolicy},
		{"maps_accounts", call{path: matchPath(dover, ""), bearer: access[2]}, 200, account, 1, mapsPolicy},
		{"tiles_addresses", call{path: "/tiles/delaware/0/0/0.mvt"}, 401, tilesAddress, 1, tilesPolicy},
		{"tiles_accounts", call{path: "/tiles/delaware/0/0/0.mvt", bearer: access[0]}, 200, tiles, 1, tilesPolicy},
		{"tokens", exchangeCall("mpc_x", "mps_x"), 401, tokens, 10, `"tokens";q=20;w=10`},
		{"tokens", refreshCall("mpr_x"), 401, tokens, 10, `"tokens";q=20;w=10`},
		{"management", call{path: accounts}, 401, management, 10, `"management";q=15;w=10`},
		{"unknown_addresses", call{path: "/nothing"}, 404, address, 1, ""},
	} {
		t.Run(test.zone+" "+test.call.path[:min(len(test.call.path), 20)], func(t *testing.T) {
			attacker, other := fmt.Sprintf("203.0.113.%d", i), fmt.Sprintf("198.51.100.%d", i)
			began := time.Now()
			a, passed := s.untilLimited(t, from(test.call, attacker), test.status)
			if windows := int(time.Since(began)/time.Second)/test.window + 1; passed < test.limit-1 ||
				passed > test.limit*windows {
				t.Errorf("%d requests passed in %d windows, want %d in each", passed, windows, test.limit)
			}
			_, code := familyError(t, test.call.path[:strings.IndexAny(test.call.path+"?", "?")], 429, string(a.body))
			if routing := strings.HasPrefix(test.call.path, match); routing != (code == "TooManyRequests") {
				t.Errorf("the body is %s", a.body)
			}
			wait, err := strconv.Atoi(a.header.Get("Retry-After"))
			if err != nil || wait < 1 || wait > test.window+1 {
				t.Errorf("Retry-After is %q", a.header.Get("Retry-After"))
			}
			a.wantHeader("Content-Type", jsonType).wantHeader("Cache-Control", "no-store").
				wantHeader("RateLimit-Policy", test.policy).
				wantHeader("RateLimit", fmt.Sprintf(`"%s";r=0;t=%d`, test.zone, wait)).
				wantHeader("Access-Control-Allow-Origin", page)
			if exposed := a.header.Get("Access-Control-Expose-Headers"); !strings.HasPrefix(exposed,
				"Retry-After, RateLimit, RateLimit-Policy") { // maps_auth exposes more
				t.Errorf("Access-Control-Expose-Headers is %q", exposed)
			}
			if test.window == 1 { // another request may be in the next window
				return
			}
			s.send(t, from(test.call, other)).want(test.status).wantHeader("RateLimit-Policy", test.policy).
				wantHeader("RateLimit", "")
			s.send(t, from(test.call, other+", "+attacker)).want(429) // an address that the client made up
		})
	}
	// One account takes nothing from another, and upstreams get the keys from a client that is refused tokens.
	s.untilLimited(t, from(call{path: reverse + place, bearer: access[0]}, "192.0.2.1"), 200)
	s.send(t, from(call{path: reverse + place, bearer: access[1]}, "192.0.2.2")).want(200)
	s.send(t, from(call{path: external + "/jwks.json"}, "203.0.113.5")).want(200).wantHeader("RateLimit-Policy", "")
	// An IPv6 network of 64 bits counts as one client.
	for _, test := range []struct{ first, same, other string }{
		{"2001:db8:1:2:3:4:5:6", "2001:0db8:0001:0002:ffff::1", "2001:db8:1:3:3:4:5:6"},
		{"2001:db9::1", "2001:db9:0:0:7:8:9:a", "2001:db9:0:1::1"},
		{"2003:1:2:3::", "2003:1:2:3::ffff", "2003:1:2::3:0:0:0"},
		{"::ffff:192.0.2.3", "::ffff:192.0.2.3", "::ffff:192.0.2.4"},
	} {
		s.untilLimited(t, from(refreshCall("mpr_x"), test.first), 401)
		s.send(t, from(refreshCall("mpr_x"), test.same)).want(429)
		s.send(t, from(refreshCall("mpr_x"), test.other)).want(401)
	}
}

// Without trusted proxies no client is believed that names another address.
func TestForwardedAddressIsNotBelieved(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.limits, s.env = true, []string{"MAPS_LIMIT_TOKENS=10"}
	s.run(t)
	for n := range 11 {
		c := refreshCall("mpr_x")
		address := "203.0.113." + strconv.Itoa(n)
		c.header = map[string][]string{"X-Forwarded-For": {address}, "Forwarded": {"for=" + address}}
		status := 401
		if n == 10 {
			status = 429
		}
		s.send(t, c).want(status)
	}
}
