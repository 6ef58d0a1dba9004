package integration

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

// revokeKeys runs the command against a server.
func (s *server) revokeKeys(t testing.TB) string {
	t.Helper()
	out, err := s.command(t.Context(), "maps", "rotate-keys", "--revoke-old", "--address", s.admin).Output()
	if err != nil {
		t.Fatalf("rotate-keys --revoke-old: %v", err)
	}
	return string(out)
}

func rotateCall(body string) call {
	return call{method: "POST", path: "/maps/keys/rotate", contentType: jsonType, body: body}
}

// warm uses tokens until a server has them in its cache.
func (s *server) warm(t testing.TB, access, user string) {
	t.Helper()
	for range 3 {
		s.send(t, call{path: reverse + place, bearer: access}).want(200)
		s.send(t, call{path: accounts, bearer: user}).want(200)
		time.Sleep(10 * time.Millisecond)
	}
}

// Revoking the old keys ends all their tokens with the next request, and nothing else.
func TestRevokeKeys(t *testing.T) {
	t.Parallel()
	s := startRaced(t)
	user := s.userToken(t, "revoked-keys")
	acc := s.create(t, user, nil)
	older, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	s.rotateKeys(t)
	access, refresh := s.exchange(t, acc.ClientToken, acc.ServerToken)
	s.warm(t, access, user)
	s.warm(t, older, user)
	kids := s.published(t)

	out := s.revokeKeys(t)
	for _, token := range []string{access, older} {
		s.send(t, call{path: reverse + place, bearer: token}).want(401)
		s.send(t, call{path: match + "?path=[]", bearer: token}).want(401)
	}
	s.send(t, call{path: accounts, bearer: user}).want(401)
	now := s.published(t)
	if len(kids) != 2 || len(now) != 1 || slices.Contains(kids, now[0]) {
		t.Errorf("jwks.json had %v and has %v", kids, now)
	}
	if strings.Count(out, "signs new tokens") != 2 || strings.Count(out, "  revoked\n") != 4 ||
		!strings.Contains(out, kids[0]+"  revoked") ||
		strings.Contains(out, "kept until") {
		t.Errorf("rotate-keys --revoke-old says:\n%s", out)
	}
	log, err := os.ReadFile(s.log)
	if err != nil {
		t.Fatal(err)
	}
	logged := 0
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, "signing keys revoked") && strings.Contains(line, kids[0]) &&
			strings.Contains(line, kids[1]) &&
			strings.Contains(line, `"remote_addr":"127.0.0.1:`) {
			logged++
		}
	}
	if logged != 1 {
		t.Errorf("%d lines of the log tell of it", logged)
	}
	// Refresh tokens, client tokens and server tokens go on.
	var refreshed tokensBody
	s.send(t, refreshCall(refresh)).want(200).into(&refreshed)
	s.send(t, call{path: reverse + place, bearer: secret(refreshed.Data.AccessToken)}).want(200)
	fresh, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	s.warm(t, fresh, s.userToken(t, "revoked-keys"))

	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	s.send(t, call{path: reverse + place, bearer: access}).want(401)
	s.send(t, call{path: accounts, bearer: user}).want(401)
	s.send(t, call{path: reverse + place, bearer: fresh}).want(200)

	// What else may be said there.
	for body, want := range map[string]int{
		``: 200, `{}`: 200, `{"revokeOld":false}`: 200, `{"revokeOld":"yes"}`: 400, `{"revokeOld":null}`: 400,
		`{"revoke_old":true}`:             400,
		`{"revokeOld":true,"force":true}`: 400, `[]`: 400, `revokeOld=true`: 400,
	} {
		a := s.sendAdmin(t, rotateCall(body)).want(want)
		if strings.Contains(string(a.body), "revoked") || want == 400 &&
			!strings.Contains(string(a.body), "FAILED_VALIDATION") {
			t.Errorf("%q: %s", body, a.body)
		}
	}
	s.send(t, call{path: reverse + place, bearer: fresh}).want(200)
	form := rotateCall(`revokeOld=true`)
	form.contentType = "application/x-www-form-urlencoded"
	s.sendAdmin(t, form).want(415)
}

// Whoever stole the signing keys forges tokens that the service cannot tell from its own, but none that outlives a
// day or its grant, and none after the keys were revoked, also not those that were accepted before.
func TestStolenKeys(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	user := s.userToken(t, "stolen-keys")
	acc := s.create(t, user, nil)
	keys := s.stealKeys(t)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	forge := func(use account.KeyUse, like string, changes object) string {
		return secret(sign(keys[use], asJSON(t, tokenPart(t, like, 0)), asJSON(t, tokenPart(t, like, 1).with(changes))))
	}
	now := time.Now().Unix()
	const day = 24 * 60 * 60
	for name, changes := range map[string]object{
		"ten years":          {"exp": now + 3650*day},
		"a day and a second": {"iat": now, "exp": now + day + 1},
		"no iat":             {"iat": nil},
		"made tomorrow":      {"iat": now + day, "exp": now + day + 60},
	} {
		a := s.send(t, call{path: reverse + place, bearer: forge(account.KeyAccess, access, changes)})
		b := s.send(t, call{path: accounts, bearer: forge(account.KeyUser, user, changes)})
		if a.status != 401 || b.status != 401 {
			t.Errorf("%s: access token %d, user token %d", name, a.status, b.status)
		}
	}
	longest := object{"iat": now, "exp": now + day}
	forgedAccess, forgedUser := forge(account.KeyAccess, access, longest), forge(account.KeyUser, user, longest)
	s.warm(t, forgedAccess, forgedUser)
	s.revokeKeys(t)
	s.send(t, call{path: reverse + place, bearer: forgedAccess}).want(401)
	s.send(t, call{path: accounts, bearer: forgedUser}).want(401)
}

// On all servers of one database the tokens of revoked keys end within a second, also when two servers revoke at
// once, and while tokens are given and used.
func TestClusterRevokeKeys(t *testing.T) {
	leaveOut(t, "it starts a cluster")
	c := startCluster(t, pgtest.DSN(t))
	organization := "cluster-revoked"
	first := c.nodes[0].userToken(t, organization)
	acc := c.nodes[0].create(t, first, nil)
	var answered atomic.Int64
	// once returns for how long after the keys were revoked a server accepted a token of theirs.
	once := func(servers int) (slowest time.Duration) {
		user := c.nodes[0].userToken(t, organization)
		access, refresh := c.nodes[0].exchange(t, acc.ClientToken, acc.ServerToken)
		for _, s := range c.nodes {
			s.until(t, access, 200, 5*time.Second)
			s.warm(t, access, user)
		}
		// Exchanges under way give tokens of the old keys or of the new ones, and no errors.
		stop := make(chan struct{})
		var busy sync.WaitGroup
		for _, s := range c.nodes {
			busy.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					if a, err := s.trySend(t, exchangeCall(acc.ClientToken, acc.ServerToken)); err != nil || a.status != 200 {
						t.Errorf("exchange: %v, %+v", err, a)
						return
					}
					answered.Add(1)
				}
			})
		}
		last := make([]time.Time, len(c.nodes))
		var asking, revoking sync.WaitGroup
		for i, s := range c.nodes {
			asking.Go(func() { last[i] = s.until(t, access, 401, 10*time.Second) })
		}
		for _, s := range c.nodes[:servers] {
			revoking.Go(func() { s.sendAdmin(t, rotateCall(`{"revokeOld":true}`)).want(200) })
		}
		revoking.Wait()
		confirmed := time.Now()
		asking.Wait()
		for _, at := range last {
			slowest = max(slowest, at.Sub(confirmed))
		}
		for _, s := range c.nodes {
			for began := time.Now(); s.send(t, call{path: accounts, bearer: user}).status != 401; {
				if slowest = max(slowest, time.Since(began)); slowest > 10*time.Second {
					t.Fatal("a user token of a revoked key is accepted")
				}
			}
		}
		close(stop)
		busy.Wait()
		var refreshed tokensBody
		c.nodes[2].send(t, refreshCall(refresh)).want(200).into(&refreshed)
		for _, s := range c.nodes {
			s.send(t, call{path: reverse + place, bearer: secret(refreshed.Data.AccessToken)}).want(200)
			if got := s.published(t); len(got) != 1 || got[0] != kidOf(t, refreshed.Data.AccessToken) {
				t.Errorf("jwks.json has %v, tokens are signed with %s", got, kidOf(t, refreshed.Data.AccessToken))
			}
		}
		t.Logf("the other servers said yes for at most %v", slowest)
		return slowest
	}
	for round := range 4 {
		testkit.Within(t, "the end of tokens after their key was revoked", time.Second,
			func() time.Duration { return once(1 + round%2) })
	}
	t.Logf("%d exchanges, none refused", answered.Load())
	if answered.Load() < 20 {
		t.Error("that was no load")
	}
}

// A server that is cut off cannot hear that keys were revoked: it accepts their tokens for max_stale and no longer,
// and not once more when it is back.
func TestClusterRevokeKeysCutOff(t *testing.T) {
	leaveOut(t, "it waits while the database is away")
	t.Parallel()
	const maxStale = 3 * time.Second
	pace := testkit.Watch(t)
	dsn := pgtest.DSN(t)
	proxy := pgtest.NewProxy(t, dsn)
	one, cutOff := startPair(t, dsn, proxy.DSN, "max_stale 60s", "max_stale 3s")
	user := one.userToken(t, "cut-off")
	acc := one.create(t, user, nil)
	access, _ := one.exchange(t, acc.ClientToken, acc.ServerToken)
	cutOff.warm(t, access, user)
	proxy.Refuse()
	left := time.Now()
	one.revokeKeys(t)
	one.send(t, call{path: reverse + place, bearer: access}).want(401)
	lived := cutOff.until(t, access, 503, maxStale+5*time.Second).Sub(left)
	if lived > pace.Allow(maxStale+100*time.Millisecond) {
		t.Errorf("cut off, it accepted the token for %v; max_stale is %v", lived, maxStale)
	}
	stop := make(chan struct{})
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if a, err := cutOff.trySend(t, call{path: reverse + place, bearer: access}); err != nil || a.status == 200 {
					t.Errorf("back, it accepts the token: %v, %+v", err, a)
					return
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	proxy.Accept()
	cutOff.until(t, access, 401, pace.Allow(5*time.Second))
	time.Sleep(300 * time.Millisecond)
	close(stop)
	asking.Wait()
	cutOff.send(t, call{path: accounts, bearer: user}).want(401)
}

// startPair starts two servers that reach the same database in different ways.
func startPair(t *testing.T, dsn, other string, replacements ...string) (one, two *server) {
	t.Helper()
	var pair []*server
	for _, through := range []string{dsn, other} {
		s := newServer(t, append([]string{sqliteLine, databaseStore}, replacements...)...)
		s.raced = true
		s.useDatabase(t, through)
		s.run(t)
		pair = append(pair, s)
	}
	return pair[0], pair[1]
}

// Keys are revoked on a server that is killed at any moment: either all old keys are gone, or none, and once that was
// confirmed none comes back.
func TestRevokeKeysSurvivesKill(t *testing.T) {
	leaveOut(t, "it kills servers again and again")
	for name, postgres := range map[string]bool{"sqlite": false, "postgres": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			replacements := []string{"access_token_ttl 15m", "access_token_ttl 12h"}
			if postgres {
				replacements = append(replacements, sqliteLine, databaseStore)
			}
			s := newServer(t, replacements...)
			s.raced = true
			if postgres {
				s.useDatabase(t, pgtest.DSN(t))
			}
			s.run(t)
			user := s.userToken(t, "killed")
			acc := s.create(t, user, nil)
			var dead []string
			revoked, kept := 0, 0
			for range killRounds(t) {
				access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
				user := s.userToken(t, "killed")
				before := s.published(t)
				var confirmed atomic.Bool
				var revoking sync.WaitGroup
				revoking.Go(func() {
					a, err := sendTo(t, adminClient, "http://"+s.admin, rotateCall(`{"revokeOld":true}`))
					confirmed.Store(err == nil && a.status == 200)
				})
				time.Sleep(time.Duration(rand.IntN(50000)) * time.Microsecond)
				s.crash(t)
				revoking.Wait()
				httpClient.CloseIdleConnections()
				if err := s.start(); err != nil {
					t.Fatal(err)
				}
				after := s.published(t)
				if len(before) != 1 || len(after) != 1 {
					t.Errorf("jwks.json had %v and has %v", before, after)
				}
				gone := after[0] != before[0]
				status := map[bool]int{true: 401, false: 200}[gone]
				s.send(t, call{path: reverse + place, bearer: access}).want(status)
				s.send(t, call{path: accounts, bearer: user}).want(status)
				switch {
				case gone:
					revoked++
					dead = append(dead, access)
				case confirmed.Load():
					t.Error("keys whose revocation was confirmed are back")
				default:
					kept++
				}
				for _, token := range dead {
					s.send(t, call{path: reverse + place, bearer: token}).want(401)
				}
			}
			t.Logf("keys were revoked %d times, and %d times the server was killed before that", revoked, kept)
		})
	}
}

// A server that is far away from the database works, only slower, and hears of a suspension after a second and three
// round trips at most.
func TestClusterSlowLink(t *testing.T) {
	leaveOut(t, "it waits for a slow network")
	t.Parallel()
	const delay = 400 * time.Millisecond // each way: connecting takes five round trips, close to the default limit of 5 s
	const limit = time.Second + 6*delay
	dsn := pgtest.DSN(t)
	proxy := pgtest.NewProxy(t, dsn)
	proxy.Delay(delay)
	slow := pgtest.With(t, proxy.DSN, "connect_timeout", "10")
	one, far := startPair(t, dsn, slow, "max_stale 60s", "max_stale 10s")
	user := one.userToken(t, "far")
	healthy := func() bool {
		return strings.Contains(string(far.send(t, call{path: "/healthz"}).body), `"status":"ok"`)
	}
	// The far server gives its database 2 s to answer, and the link takes two delays of that. If the machine is late by
	// the rest, the answer is 503. Within forgives that only if the machine really was so late.
	unavailable := func() time.Duration {
		t.Log("the far server's database did not answer within 2 s")
		for deadline := time.Now().Add(30 * time.Second); !healthy() && time.Now().Before(deadline); {
			time.Sleep(50 * time.Millisecond)
		}
		return limit + 2*time.Second - 2*delay
	}
	for range 2 {
		testkit.Within(t, "the end of a token on a server that is far away", limit, func() time.Duration {
			acc := one.create(t, user, nil)
			exchanged := far.send(t, exchangeCall(acc.ClientToken, acc.ServerToken))
			if exchanged.status == 503 {
				return unavailable()
			}
			var tokens tokensBody
			exchanged.want(200).wantHeader("Cache-Control", "no-store").into(&tokens)
			access := secret(tokens.Data.AccessToken)
			far.until(t, access, 200, 10*time.Second)
			refreshed := far.send(t, refreshCall(secret(tokens.Data.RefreshToken)))
			if refreshed.status == 503 || !healthy() {
				return unavailable()
			}
			refreshed.want(200)
			one.setStatus(t, user, acc.ID, "SUSPENDED")
			confirmed := time.Now()
			return far.until(t, access, 401, 20*time.Second).Sub(confirmed)
		})
	}
}

// Servers go by the database's clock, also if it differs from those of their machines and jumps.
func TestClusterClock(t *testing.T) {
	leaveOut(t, "it starts a cluster")
	t.Parallel()
	const off = 7 * time.Minute
	dsn := pgtest.DSN(t)
	schema := pgtest.Query[string](t, dsn, "SELECT current_schema()")
	set := func(off time.Duration) {
		pgtest.Exec(t, dsn, fmt.Sprintf(`CREATE OR REPLACE FUNCTION clock_timestamp()
			RETURNS timestamptz LANGUAGE sql VOLATILE
			AS $$SELECT pg_catalog.clock_timestamp() + interval '%f seconds'$$`, off.Seconds()))
	}
	set(off)
	// Where ours is found before PostgreSQL's.
	u, err := url.Parse(pgtest.With(t, dsn, "search_path", schema+",pg_catalog"))
	if err != nil {
		t.Fatal(err)
	}
	c := startCluster(t, u.String(), "access_token_ttl 15m", "access_token_ttl 3m")
	var minted struct {
		Token string `json:"token"`
	}
	c.nodes[0].sendAdmin(t, call{method: "POST", path: "/maps/user-tokens", contentType: jsonType,
		body: `{"organization":"clocks"}`}).want(201).into(&minted)
	acc := c.nodes[0].create(t, secret(minted.Token), nil)
	access, _ := c.nodes[0].exchange(t, acc.ClientToken, acc.ServerToken)
	if difference := time.Until(time.Unix(tokenPart(t, access, 1)["iat"].(int64),
		0)) - off; difference.Abs() > 30*time.Second {
		t.Errorf("the token was made %v from the database's time", difference)
	}
	for _, s := range c.nodes {
		s.send(t, call{path: reverse + place, bearer: access}).want(200)
		s.send(t, call{path: accounts, bearer: minted.Token}).want(200)
	}
	// A key that has a successor is kept by the database's clock.
	c.nodes[1].rotateKeys(t)
	time.Sleep(1500 * time.Millisecond)
	for _, s := range c.nodes {
		s.send(t, call{path: reverse + place, bearer: access}).want(200)
	}
	set(off + 30*time.Minute)
	for _, s := range c.nodes {
		s.until(t, access, 401, 5*time.Second) // it lived for 3 minutes
	}
	renewed, _ := c.nodes[0].exchange(t, acc.ClientToken, acc.ServerToken)
	for _, s := range c.nodes {
		s.send(t, call{path: reverse + place, bearer: renewed}).want(200)
	}
}
