package integration

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

// kidOf returns the id of the key that a token names.
func kidOf(t testing.TB, token string) string {
	t.Helper()
	encoded, _, _ := strings.Cut(token, ".")
	data, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		t.Fatal(err)
	}
	var header struct{ Kid string }
	if err := json.Unmarshal(data, &header); err != nil {
		t.Fatal(err)
	}
	return header.Kid
}

// published lists the ids of the keys in jwks.json.
func (s *server) published(t testing.TB) (ids []string) {
	t.Helper()
	var set struct {
		Keys []struct{ Kid string }
	}
	s.send(t, call{path: external + "/jwks.json"}).want(200).into(&set)
	for _, k := range set.Keys {
		ids = append(ids, k.Kid)
	}
	return ids
}

// rotateKeys runs the command against a server.
func (s *server) rotateKeys(t testing.TB) string {
	t.Helper()
	out, err := s.command(t.Context(), "maps", "rotate-keys", "--address", s.admin).Output()
	if err != nil {
		t.Fatalf("rotate-keys: %v", err)
	}
	return string(out)
}

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

// All servers of a database publish a new key within a second, and refuse the tokens of revoked keys within a second,
// also when two servers revoke at once. Exchanges go on meanwhile, with old keys or new ones, and none fails.
func TestClusterKeys(t *testing.T) {
	leaveOut(t, "starts a cluster")
	c := startCluster(t, pgtest.DSN(t))
	user := c.nodes[0].userToken(t, "cluster-keys")
	acc := c.nodes[0].create(t, user, nil)
	stop := make(chan struct{})
	var busy sync.WaitGroup
	var answered atomic.Int64
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
	rotations := 0
	for range 3 {
		testkit.Within(t, "publishing the new key on all servers", time.Second, func() time.Duration {
			c.nodes[rotations%3].rotateKeys(t)
			rotations++
			rotated := time.Now()
			for _, s := range c.nodes {
				for len(s.published(t)) != rotations+1 {
					if time.Since(rotated) > 5*time.Second {
						t.Fatal("a server does not publish the new key")
					}
				}
			}
			return time.Since(rotated)
		})
	}
	for round := range 3 {
		testkit.Within(t, "the end of tokens after their key was revoked", time.Second, func() time.Duration {
			user := c.nodes[0].userToken(t, "cluster-keys")
			access, refresh := c.nodes[0].exchange(t, acc.ClientToken, acc.ServerToken)
			for _, s := range c.nodes {
				s.until(t, access, 200, 5*time.Second)
				s.warm(t, access, user)
			}
			var revoking sync.WaitGroup
			for _, s := range c.nodes[:1+round%2] {
				revoking.Go(func() { s.sendAdmin(t, rotateCall(`{"revokeOld":true}`)).want(200) })
			}
			revoking.Wait()
			revoked := time.Now()
			for _, s := range c.nodes {
				s.until(t, access, 401, 10*time.Second)
				for s.send(t, call{path: accounts, bearer: user}).status != 401 {
					if time.Since(revoked) > 10*time.Second {
						t.Fatal("a user token of a revoked key is accepted")
					}
				}
			}
			took := time.Since(revoked)
			var refreshed tokensBody
			c.nodes[2].send(t, refreshCall(refresh)).want(200).into(&refreshed)
			for _, s := range c.nodes {
				s.send(t, call{path: reverse + place, bearer: secret(refreshed.Data.AccessToken)}).want(200)
				if got := s.published(t); len(got) != 1 || got[0] != kidOf(t, refreshed.Data.AccessToken) {
					t.Errorf("jwks.json has %v, tokens are signed with %s", got, kidOf(t, refreshed.Data.AccessToken))
				}
			}
			return took
		})
	}
	close(stop)
	busy.Wait()
	if answered.Load() < 20 {
		t.Errorf("only %d exchanges beside that", answered.Load())
	}
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
