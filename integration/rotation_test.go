package integration

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/store/bolt"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/testpace"
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

// Keys are rotated again and again under load, and no request fails. The old keys go when their tokens have expired.
func TestRotationUnderLoad(t *testing.T) {
	leaveOut(t, "it waits until keys end")
	t.Parallel()
	s := startRaced(t, "access_token_ttl 15m", "access_token_ttl 6s")
	user := s.userToken(t, "rotation")
	acc := s.create(t, user, nil)
	exchanged := time.Now()
	first, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	stop := make(chan struct{})
	var load sync.WaitGroup
	var answered atomic.Int64
	for range 4 {
		load.Go(func() { drive(t, []*server{s}, acc, stop, &answered) })
	}
	kids := []string{kidOf(t, first)}
	for range 4 {
		out := s.rotateKeys(t)
		token, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
		kid := kidOf(t, token)
		if slices.Contains(kids, kid) {
			t.Errorf("after a rotation new tokens have the key %s of before", kid)
		}
		if !strings.Contains(out, kid+"  access  EdDSA  signs new tokens") ||
			!strings.Contains(out, kids[len(kids)-1]+"  access  EdDSA  kept until 20") {
			t.Errorf("rotate-keys says:\n%s", out)
		}
		kids = append(kids, kid)
		if got := s.published(t); !slices.Equal(got, reversed(kids)) {
			t.Errorf("jwks.json has %v, want %v", got, reversed(kids))
		}
		if a := s.send(t, call{path: reverse + place, bearer: first}); time.Since(exchanged) < 5*time.Second {
			a.want(200) // it lives for 6 s, and a slow machine may need longer for all rotations
		}
		time.Sleep(300 * time.Millisecond)
	}
	rotated := time.Now()
	// User tokens of before live on.
	s.send(t, call{path: accounts, bearer: user}).want(200)
	fresh := s.userToken(t, "rotation")
	if kidOf(t, fresh) == kidOf(t, user) {
		t.Error("user tokens are signed with the key of before")
	}
	s.send(t, call{path: accounts, bearer: fresh}).want(200)
	for len(s.published(t)) > 1 {
		if time.Since(rotated) > 40*time.Second {
			t.Fatal("old keys are still published")
		}
		time.Sleep(200 * time.Millisecond)
	}
	gone := time.Since(rotated)
	if gone < 6*time.Second {
		t.Errorf("old keys went after %v already, their tokens live for 6 s", gone)
	}
	close(stop)
	load.Wait()
	t.Logf("%d answers, none refused; the last old key went %v after it had been followed", answered.Load(),
		gone.Round(time.Millisecond))
	if answered.Load() < 500 {
		t.Error("that was no load")
	}
	if got := s.published(t); !slices.Equal(got, kids[len(kids)-1:]) {
		t.Errorf("jwks.json has %v, want the newest alone", got)
	}
	// The keys that are left are those of the store.
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	if got := s.published(t); !slices.Equal(got, kids[len(kids)-1:]) {
		t.Errorf("after a restart jwks.json has %v, want %v", got, kids[len(kids)-1:])
	}
	s.send(t, call{path: accounts, bearer: user}).want(200)
}

func reversed(list []string) []string {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// A key that one server makes is good on the others from its first token on, and they sign with it within a second.
func TestClusterRotation(t *testing.T) {
	leaveOut(t, "it starts two clusters")
	for _, options := range []string{"", "{\nlisten off\n}"} {
		c := startCluster(t, pgtest.DSN(t), options)
		user := c.nodes[0].userToken(t, "cluster-rotation")
		acc := c.nodes[0].create(t, user, nil)
		stop := make(chan struct{})
		var load sync.WaitGroup
		var answered atomic.Int64
		load.Go(func() { drive(t, c.nodes, acc, stop, &answered) })
		load.Go(func() { drive(t, slices.Clone(c.nodes[1:]), acc, stop, &answered) })
		rotations := 0
		// once returns how long after a rotation the last server signed with the new key.
		once := func(round int) (slowest time.Duration) {
			c.nodes[round%3].rotateKeys(t)
			rotations++
			rotated := time.Now()
			token, _ := c.nodes[round%3].exchange(t, acc.ClientToken, acc.ServerToken)
			minted := c.nodes[round%3].userToken(t, "cluster-rotation")
			for _, s := range c.nodes {
				s.send(t, call{path: reverse + place, bearer: token}).want(200)
				s.send(t, call{path: accounts, bearer: minted}).want(200)
			}
			for _, s := range c.nodes {
				for {
					theirs, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
					if kidOf(t, theirs) == kidOf(t, token) {
						break
					}
					if time.Since(rotated) > 5*time.Second {
						t.Fatal("a server still signs with the key of before")
					}
					time.Sleep(10 * time.Millisecond)
				}
				slowest = max(slowest, time.Since(rotated))
			}
			if got := c.nodes[(round+1)%3].published(t); len(got) != rotations+1 {
				t.Errorf("jwks.json has %d keys after %d rotations", len(got), rotations)
			}
			t.Logf("all signed with the new key after %v", slowest)
			return slowest
		}
		for round := range 6 {
			testpace.Within(t, "signing with the new key on all servers", time.Second,
				func() time.Duration { return once(round) })
		}
		close(stop)
		load.Wait()
		t.Logf("%q: %d answers, none refused", options, answered.Load())
	}
}

// Keys that have come of age are rotated by themselves.
func TestRotationBySchedule(t *testing.T) {
	leaveOut(t, "it waits for a schedule")
	t.Parallel()
	s := newServer(t, "signing_algorithm EdDSA", "signing_algorithm EdDSA\nkey_rotation 1h")
	s.raced = true
	store, err := bolt.Open(s.store, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, use := range []account.KeyUse{account.KeyAccess, account.KeyUser} {
		_, private, err := ed25519.GenerateKey(nil)
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := x509.MarshalPKCS8PrivateKey(private)
		if err != nil {
			t.Fatal(err)
		}
		k := account.Key{ID: "old-" + string(use), Use: use, Algorithm: "EdDSA", Private: encoded,
			CreatedAt: time.Now().Add(-2 * time.Hour)}
		if _, err := store.AddFirstKey(t.Context(), k); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	deadline := time.Now().Add(10 * time.Second)
	for len(s.published(t)) != 2 {
		if time.Now().After(deadline) {
			t.Fatalf("jwks.json has %v", s.published(t))
		}
		time.Sleep(100 * time.Millisecond)
	}
	if kid := kidOf(t, s.userToken(t, "schedule")); kid == "old-user" {
		t.Error("user tokens are signed with the key of before")
	}
	time.Sleep(2500 * time.Millisecond)
	if got := s.published(t); len(got) != 2 || got[1] != "old-access" {
		t.Errorf("jwks.json has %v", got)
	}
}
