package integration

import (
	"encoding/base64"
	"encoding/json"
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

// drive exchanges tokens on the first server and uses them at once, and those of before for as long as they live, on
// all, until stop is closed. Every answer must be 200.
func drive(t *testing.T, nodes []*server, acc serviceAccount, stop <-chan struct{}, answered *atomic.Int64) {
	type held struct {
		token string
		until time.Time
	}
	var tokens []held
	for {
		select {
		case <-stop:
			return
		default:
		}
		began := time.Now()
		var given tokensBody
		a, err := nodes[0].trySend(t, exchangeCall(acc.ClientToken, acc.ServerToken))
		if err != nil || a.status != 200 {
			t.Errorf("exchange: %v, %+v", err, a)
			return
		}
		if err := json.Unmarshal(a.body, &given); err != nil {
			t.Error(err)
			return
		}
		answered.Add(1)
		tokens = append(tokens, held{secret(given.Data.AccessToken),
			began.Add(time.Duration(given.Data.ExpiresIn)*time.Second - 2*time.Second)})
		secret(given.Data.RefreshToken)
		tokens = slices.DeleteFunc(tokens, func(h held) bool { return time.Now().After(h.until) })
		if len(tokens) == 0 { // the exchange took that long
			continue
		}
		for _, h := range []held{tokens[len(tokens)-1], tokens[0]} {
			for _, s := range nodes {
				if a, err := s.trySend(t, call{path: reverse + place, bearer: h.token}); err != nil || a.status != 200 {
					t.Errorf("a token that lives until %v, used at %v: %v, %+v", h.until, time.Now(), err, a)
					return
				}
				answered.Add(1)
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Keys are rotated again and again under load, and no request fails. A new key is published first.
func TestRotationUnderLoad(t *testing.T) {
	leaveOut(t, "waits until tokens end")
	t.Parallel()
	s := startRaced(t, "access_token_ttl 15m", "access_token_ttl 6s")
	user := s.userToken(t, "rotation")
	acc := s.create(t, user, nil)
	stop := make(chan struct{})
	var load sync.WaitGroup
	var answered atomic.Int64
	for range 4 {
		load.Go(func() { drive(t, []*server{s}, acc, stop, &answered) })
	}
	kids := s.published(t)
	for range 4 {
		out := s.rotateKeys(t)
		token, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
		published := s.published(t)
		if len(published) != len(kids)+1 || !slices.Equal(published[1:], kids) {
			t.Fatalf("jwks.json has %v, want one key before %v", published, kids)
		}
		if signs := kids[len(kids)-1]; kidOf(t, token) != signs ||
			!strings.Contains(out, signs+"  access  EdDSA  signs new tokens") ||
			!strings.Contains(out, published[0]+"  access  EdDSA  published, signs from 20") {
			t.Errorf("a new token has key %s; rotate-keys says:\n%s", kidOf(t, token), out)
		}
		kids = published
		for before := answered.Load(); answered.Load() < before+20 && !t.Failed(); {
			time.Sleep(time.Millisecond)
		}
	}
	// User tokens that were signed before are still valid. Nobody caches the keys of theirs, so new ones sign at once.
	s.send(t, call{path: accounts, bearer: user}).want(200)
	fresh := s.userToken(t, "rotation")
	if kidOf(t, fresh) == kidOf(t, user) {
		t.Error("user tokens are signed with the old key")
	}
	s.send(t, call{path: accounts, bearer: fresh}).want(200)
	for began := time.Now(); answered.Load() < 500 && time.Since(began) < time.Minute; {
		time.Sleep(20 * time.Millisecond) // a busy machine takes longer
	}
	close(stop)
	load.Wait()
	t.Logf("%d answers, none refused", answered.Load())
	if answered.Load() < 500 {
		t.Error("that was no load")
	}
}

// All servers publish a key within a second, wherever it was made, and no request fails meanwhile.
func TestClusterRotation(t *testing.T) {
	leaveOut(t, "starts a cluster")
	c := startCluster(t, pgtest.DSN(t))
	user := c.nodes[0].userToken(t, "cluster-rotation")
	acc := c.nodes[0].create(t, user, nil)
	stop := make(chan struct{})
	var load sync.WaitGroup
	var answered atomic.Int64
	load.Go(func() { drive(t, c.nodes, acc, stop, &answered) })
	load.Go(func() { drive(t, slices.Clone(c.nodes[1:]), acc, stop, &answered) })
	rotations := 0
	for range 6 {
		testkit.Within(t, "publishing the new key on all servers", time.Second, func() time.Duration {
			maker := c.nodes[rotations%3]
			maker.rotateKeys(t)
			rotations++
			rotated := time.Now()
			minted := maker.userToken(t, "cluster-rotation")
			for _, s := range c.nodes {
				s.send(t, call{path: accounts, bearer: minted}).want(200)
			}
			for _, s := range c.nodes {
				for len(s.published(t)) != rotations+1 {
					if time.Since(rotated) > 5*time.Second {
						t.Fatal("a server does not publish the new key")
					}
					time.Sleep(10 * time.Millisecond)
				}
			}
			return time.Since(rotated)
		})
	}
	close(stop)
	load.Wait()
	t.Logf("%d answers, none refused", answered.Load())
}
