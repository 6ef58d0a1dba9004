package integration

import (
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// untilLimited sends a call over and over, by several clients, until one answer is a 429, and returns that answer and
// how many others there were. The others must have the given status.
func (s *server) untilLimited(t *testing.T, c call, status int) (limited *answer, passed int) {
	t.Helper()
	var mu sync.Mutex
	var clients sync.WaitGroup
	deadline := time.Now().Add(20 * time.Second)
	for range 8 {
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
		t.Fatalf("%.100s: no limit after %d answers", c.path, passed)
	}
	return limited, passed
}

// wantLimited checks all of a 429 that is the same in both families.
func wantLimited(t *testing.T, a *answer, window time.Duration) {
	t.Helper()
	a.want(429).wantHeader("Content-Type", jsonType).wantHeader("Cache-Control", "no-store")
	wait, err := strconv.Atoi(a.header.Get("Retry-After"))
	if err != nil || wait < 1 || time.Duration(wait)*time.Second > window+time.Second {
		t.Errorf("Retry-After is %q, with a window of %v", a.header.Get("Retry-After"), window)
	}
}

func wantLimitedPlatform(t *testing.T, a *answer, window time.Duration) {
	t.Helper()
	wantLimited(t, a, window)
	if got, want := string(a.body), `{"error":"Too Many Requests"}`; got != want {
		t.Errorf("the body is %s, want %s", got, want)
	}
}

// An account may make 50 requests a second on all maps together, and what one account does takes nothing from another.
func TestAccountLimit(t *testing.T) {
	s := startLimited(t)
	user := s.userToken(t, "account-limit")
	var tokens [2]string
	for i := range tokens {
		acc := s.create(t, user, nil)
		tokens[i], _ = s.exchange(t, acc.ClientToken, acc.ServerToken)
	}
	at := func(token string) call { return call{path: reverse + "?lat=39.15&lon=-75.52", bearer: token} }

	start := time.Now()
	limited, passed := s.untilLimited(t, at(tokens[0]), 200)
	took := time.Since(start)
	wantLimitedPlatform(t, limited, time.Second)
	if windows := int(took/time.Second) + 1; passed < 50 || passed > 50*windows {
		t.Errorf("%d requests passed in %v, want 50 in each second", passed, took)
	}
	for range 20 {
		s.send(t, at(tokens[1])).want(200)
	}

	// The same account, by another endpoint: the same limit, in the words of that endpoint.
	limited, _ = s.untilLimited(t, call{path: matchPath(dover, "&apiKey="+tokens[0])}, 200)
	wantLimited(t, limited, time.Second)
	if got, want := string(limited.body),
		`{"error":{"code":"TooManyRequests","message":"Too Many Requests","status":429}}`; got != want {
		t.Errorf("the body is %s, want %s", got, want)
	}
	s.untilLimited(t, at(tokens[0]), 200)
	deadline := time.Now().Add(10 * time.Second)
	for s.send(t, at(tokens[0])).status != 200 {
		if time.Now().After(deadline) {
			t.Fatal("the account is still refused 10 s later")
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// Whoever sends bad tokens is stopped ahead of maps_auth, by IP, and nobody else is: behind a trusted load balancer
// each client has an IP of its own, which it cannot choose.
func TestClientIPLimits(t *testing.T) {
	s := startLimited(t,
		"# trusted_proxies static 10.0.0.0/8", "trusted_proxies static 127.0.0.1/32",
		"# trusted_proxies_strict", "trusted_proxies_strict")
	user := s.userToken(t, "address-limits")
	acc := s.create(t, user, nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	// The load balancer is this test: what it adds stands last.
	from := func(c call, ips string) call {
		c.header = map[string][]string{"X-Forwarded-For": {ips}}
		return c
	}
	forged := access[:len(access)-8] + "AAAAAAAA"
	wrong := exchangeCall(acc.ServerToken, acc.ClientToken)
	for _, test := range []struct {
		name      string
		bad, good call
		status    int // of the bad one, before the limit
		events    int
		window    time.Duration
	}{
		{"maps", call{path: reverse + "?lat=1&lon=1", bearer: forged}, call{path: reverse + "?lat=1&lon=1", bearer: access},
			401, 200, time.Second},
		{"exchange", wrong, exchangeCall(acc.ClientToken, acc.ServerToken), 401, 100, 10 * time.Second},
		{"management", call{path: accounts, bearer: forged}, call{path: accounts, bearer: user}, 401, 100, 10 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			const attacker, other = "203.0.113.1", "203.0.113.2"
			start := time.Now()
			limited, passed := s.untilLimited(t, from(test.bad, attacker), test.status)
			took := time.Since(start)
			wantLimitedPlatform(t, limited, test.window)
			if windows := int(took/test.window) + 1; passed < test.events || passed > test.events*windows {
				t.Errorf("%d requests passed in %v, want %d in %v", passed, took, test.events, test.window)
			}
			for range 20 {
				a := s.send(t, from(test.good, other)).want(200)
				if test.name == "exchange" {
					var tokens tokensBody
					a.into(&tokens)
					secret(tokens.Data.AccessToken)
					secret(tokens.Data.RefreshToken)
				}
			}
			// An IP that the client wrote itself, before the one that the load balancer saw.
			wantLimitedPlatform(t, first(s.untilLimited(t, from(test.bad, "198.51.100.7, "+attacker), test.status)), test.window)
			if test.window > time.Second {
				// Nothing has left the window since: one more IP that is made up does not help either.
				s.send(t, from(test.good, other+", "+attacker)).want(429)
			}
		})
	}
	// A client that is refused tokens still gets the keys, which upstreams ask for.
	s.send(t, from(call{path: external + "/jwks.json"}, "203.0.113.1")).want(200)
}

// Without trusted proxies nobody is believed who says that he speaks for others, and refresh counts as exchange does.
func TestForwardedIPIsNotBelieved(t *testing.T) {
	s := startLimited(t)
	n := 0
	next := func() map[string][]string {
		n++
		return map[string][]string{"X-Forwarded-For": {"203.0.113." + strconv.Itoa(n%250)},
			"Forwarded": {"for=203.0.113." + strconv.Itoa(n%250)}}
	}
	c := refreshCall("mpr_" + strings.Repeat("x", 49))
	for range 100 {
		c.header = next()
		s.send(t, c).want(401)
	}
	c.header = next()
	wantLimitedPlatform(t, s.send(t, c), 10*time.Second)
	exchange := exchangeCall("mpc_x", "mps_x")
	exchange.header = next()
	wantLimitedPlatform(t, s.send(t, exchange), 10*time.Second)
}

func first[A, B any](a A, _ B) A { return a }
