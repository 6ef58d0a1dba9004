package integration

import (
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

// killRounds is how often servers are killed: MAPS_TEST_KILLS times, by default 2 in short runs and 5 in others.
func killRounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("MAPS_TEST_KILLS")
	if text == "" {
		if testing.Short() {
			return 2
		}
		return 5
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("MAPS_TEST_KILLS: %q is no number of kills", text)
	}
	return n
}

// What a server has confirmed is there after it was killed at any moment, and nothing that had ended comes back.
func TestConfirmedChangesSurviveKill(t *testing.T) {
	t.Parallel()
	options := append([]string{"access_token_ttl 15m", "access_token_ttl 12h"}, rotating...)
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		surviveKills(t, []*server{startRaced(t, options...)}, nil)
	})
	t.Run("postgres", func(t *testing.T) {
		leaveOut(t, "needs PostgreSQL")
		t.Parallel()
		c := startCluster(t, pgtest.DSN(t), options...)
		surviveKills(t, c.nodes[:2], c.nodes[2])
	})
}

// confirmed is an account with everything that a server has confirmed about it.
type confirmed struct {
	account         serviceAccount
	access, refresh string
	status          string // "" if it was deleted
	revoked         bool   // its grant was ended
}

// surviveKills kills the victims in turn while accounts and grants are made and ended on them, and compares what was
// confirmed. The witness, if there is one, is a server that lives on.
func surviveKills(t *testing.T, victims []*server, witness *server) {
	kills, checked := killRounds(t), 0
	var all []*confirmed
	for round := range kills {
		s := victims[round%len(victims)]
		user := s.userToken(t, "durable")
		var mu sync.Mutex
		var recent []*confirmed
		var clients sync.WaitGroup
		for range 4 {
			clients.Go(func() {
				for {
					c, alive := liveOnce(t, s, user)
					mu.Lock()
					if c != nil {
						recent = append(recent, c)
					}
					mu.Unlock()
					if !alive {
						return
					}
				}
			})
		}
		if round%4 == 3 { // signing keys change as well
			clients.Go(func() { _, _ = sendTo(t, adminClient, "http://"+s.admin, rotateCall("{}")) })
		}
		some := func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(recent) >= 5
		}
		for began := time.Now(); !some() && time.Since(began) < 30*time.Second; time.Sleep(time.Millisecond) {
		}
		time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond) // at any moment
		s.crash(t)
		clients.Wait()
		httpClient.CloseIdleConnections()
		if len(recent) < 5 {
			t.Error("nothing was confirmed before the kill")
		}
		if witness != nil {
			for _, c := range recent {
				c.check(t, witness, user, 5*time.Second) // which hears within a second
			}
		}
		if round%5 == 4 { // once more, while it starts
			if err := s.launch(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond)
			s.crash(t)
		}
		if err := s.start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, recent...)
		for _, c := range all {
			c.check(t, s, user, 0)
			checked++
		}
		if t.Failed() {
			t.Fatalf("after %d kills", round+1)
		}
	}
	t.Logf("%d kills, %d accounts, %d checks", kills, len(all), checked)
}

// liveOnce makes an account and a grant, and ends some of them. It returns nil where a change got no answer, because the
// server was killed: it may have taken place or not.
func liveOnce(t *testing.T, s *server, user string) (c *confirmed, alive bool) {
	try := func(c call, status int, into any) bool {
		a, err := s.trySend(t, c)
		if err != nil {
			return false
		}
		if a.want(status); into != nil {
			a.into(into)
		}
		return true
	}
	var made accountBody
	create := call{method: "POST", path: accounts, bearer: user, contentType: jsonType,
		body: `{"platform":"WEB","scopes":["DIRECTION","REVERSEGEOCODING"]}`}
	if !try(create, 201, &made) {
		return nil, false
	}
	c = &confirmed{account: made.Data, status: "ACTIVE"}
	exchange := exchangeCall(secret(made.Data.ClientToken), secret(made.Data.ServerToken))
	one := call{method: "PATCH", path: accounts + "/" + c.account.ID, bearer: user, contentType: jsonType}
	var tokens tokensBody
	renewed := func() {
		c.access, c.refresh = secret(tokens.Data.AccessToken), secret(tokens.Data.RefreshToken)
	}
	if !try(exchange, 200, &tokens) {
		return c, false // a grant whose tokens no one has
	}
	renewed()
	switch rand.IntN(6) {
	case 0:
		if !try(refreshCall(c.refresh), 200, &tokens) {
			return nil, false
		}
		renewed()
	case 1:
		if !try(call{method: "POST", path: external + "/revoke", contentType: jsonType,
			body: `{"refresh_token":"` + c.refresh + `"}`}, 204, nil) {
			return nil, false
		}
		c.revoked = true
	case 2, 3:
		next := []string{"SUSPENDED", "REVOKED"}[rand.IntN(2)]
		one.body = `{"status":"` + next + `"}`
		if !try(one, 200, nil) {
			return nil, false
		}
		c.status, c.revoked = next, true
	case 4:
		if !try(call{method: "DELETE", path: one.path, bearer: user}, 204, nil) {
			return nil, false
		}
		c.status, c.revoked = "", true
	}
	return c, true
}

// check compares what was confirmed with what a server says, at once or within a time.
func (c *confirmed) check(t *testing.T, s *server, user string, within time.Duration) {
	t.Helper()
	one := call{path: accounts + "/" + c.account.ID, bearer: user}
	exchange := exchangeCall(c.account.ClientToken, c.account.ServerToken)
	if c.status == "" {
		s.send(t, one).want(404)
	} else {
		var found accountBody
		if s.send(t, one).want(200).into(&found); found.Data.Status != c.status {
			t.Errorf("%s is %s, and was confirmed to be %s", c.account.ID, found.Data.Status, c.status)
		}
	}
	if c.status == "ACTIVE" {
		s.exchange(t, c.account.ClientToken, c.account.ServerToken)
	} else {
		s.send(t, exchange).want(401)
	}
	if c.access == "" {
		return
	}
	status := 200
	if c.revoked {
		status = 401
		s.send(t, refreshCall(c.refresh)).want(401)
	}
	if within > 0 {
		s.until(t, c.access, status, within)
	}
	s.send(t, call{path: reverse + place, bearer: c.access}).want(status)
}
