package integration

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

const (
	sqliteLine = "store sqlite {$MAPS_STORE:./data/accounts.db}"
	place      = "?lat=39.15&lon=-75.52"
)

// cluster is three servers that share a PostgreSQL.
type cluster struct {
	nodes []*server
	dsn   string
}

// startCluster starts three servers at once, the first ones that the database sees. Its password, which the database
// does not ask for, must be found in nothing that they leave behind.
func startCluster(t *testing.T, dsn string, replacements ...string) *cluster {
	t.Helper()
	c := new(cluster)
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	password, given := u.User.Password()
	if !given {
		password = fmt.Sprintf("pw-%d", time.Now().UnixNano())
		u.User = url.UserPassword(u.User.Username(), password)
	}
	secret(password)
	c.dsn = u.String()
	replacements = append([]string{sqliteLine, databaseStore}, replacements...)
	errs := make([]error, 3)
	var all sync.WaitGroup
	for i := range errs {
		s := newServer(t, replacements...)
		s.raced = true
		s.useDatabase(t, c.dsn)
		c.nodes = append(c.nodes, s)
		t.Cleanup(func() {
			s.end(t)
			if err := s.searchSecrets(); err != nil {
				t.Error(err)
			}
		})
		all.Go(func() { errs[i] = s.start() })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return c
}

// until sends requests with a token every few milliseconds until the status is the given one, and returns when the last
// request before that began.
func (s *server) until(t *testing.T, token string, status int, limit time.Duration) (last time.Time) {
	deadline := time.Now().Add(limit)
	for time.Now().Before(deadline) {
		began := time.Now()
		a, err := s.trySend(t, call{path: reverse + place, bearer: token})
		if err != nil {
			t.Error(err)
			return last
		}
		if a.status == status {
			return last
		}
		if a.status != 200 && a.status != 401 && a.status != 503 {
			t.Errorf("status %d: %s", a.status, a.body)
		}
		last = began
		time.Sleep(2 * time.Millisecond)
	}
	t.Errorf("no status %d within %v", status, limit)
	return last
}

// A change on one server is known to all others within a second, also while the database's connections are cut again and
// again.
func TestClusterHearsOfSuspension(t *testing.T) {
	for _, test := range []struct {
		name   string
		rounds int
		cut    bool
	}{
		{"undisturbed", 6, false},
		{"connections being cut", 10, true},
	} {
		if testing.Short() {
			test.rounds = 2
		}
		t.Run(test.name, func(t *testing.T) {
			if test.cut {
				leaveOut(t, "starts another cluster")
			}
			dsn := pgtest.DSN(t)
			c := startCluster(t, dsn)
			pace := testkit.Watch(t)
			var cutting sync.WaitGroup
			stop := make(chan struct{})
			var applications []string
			for _, s := range c.nodes {
				applications = append(applications, s.application)
			}
			var cuts atomic.Int64
			if test.cut {
				cutting.Go(func() {
					var took time.Duration // to connect to the database and ask it for something
					for {
						select {
						case <-stop:
							return
						// Between two cuts the servers have to be able to connect and ask.
						case <-time.After(max(pace.Pause(100*time.Millisecond), 4*took)):
							began := time.Now()
							cuts.Add(int64(pgtest.CutConnections(t, dsn, applications...)))
							took = time.Since(began)
						}
					}
				})
			}
			var slowest time.Duration
			for round := 0; round < test.rounds || test.cut && cuts.Load() < 20 && round < 10*test.rounds; round++ {
				testkit.Within(t, "the end of a token after its suspension was confirmed", time.Second,
					func() time.Duration {
						took := c.suspendOnce(t)
						slowest = max(slowest, took)
						return took
					})
			}
			close(stop)
			cutting.Wait()
			if test.cut && cuts.Load() < 20 {
				t.Errorf("only %d connections were cut", cuts.Load())
			}
			t.Logf("%d rounds and more, %d connections cut: the others said yes for at most %v",
				test.rounds, cuts.Load(), slowest)
		})
	}
}

// suspendOnce suspends an account on one server, and returns how long after that the others accepted its token.
func (c *cluster) suspendOnce(t *testing.T) time.Duration {
	t.Helper()
	// Anything may have to be tried again while connections are cut.
	persist := func(what string, do func() *answer, status int) *answer {
		t.Helper()
		for range 50 {
			if a := do(); a.status == status {
				return a
			} else if a.status != 503 {
				a.want(status)
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Fatalf("%s: 503 again and again", what)
		return nil
	}
	first := c.nodes[0]
	user := c.nodes[1].userToken(t, "cluster") // minted on one server, good on all
	var created accountBody
	persist("creating", func() *answer {
		return first.send(t, call{method: "POST", path: accounts, bearer: user, contentType: jsonType,
			body: `{"platform":"WEB","scopes":["REVERSEGEOCODING"]}`})
	}, 201).into(&created)
	var tokens tokensBody
	persist("exchanging", func() *answer {
		return c.nodes[2].send(t, exchangeCall(secret(created.Data.ClientToken), secret(created.Data.ServerToken)))
	}, 200).into(&tokens)
	token := secret(tokens.Data.AccessToken)
	secret(tokens.Data.RefreshToken)
	for _, s := range c.nodes {
		s.until(t, token, 200, 5*time.Second)
	}
	last := make([]time.Time, len(c.nodes))
	var asking sync.WaitGroup
	for i, s := range c.nodes[1:] {
		asking.Go(func() { last[i] = s.until(t, token, 401, 10*time.Second) })
	}
	time.Sleep(50 * time.Millisecond)
	// From when the suspension was confirmed. If it has to be asked for again, the first may have taken place.
	persist("suspending", func() *answer {
		return first.send(t, call{method: "PATCH", path: accounts + "/" + created.Data.ID, bearer: user,
			contentType: jsonType, body: `{"status":"SUSPENDED"}`})
	}, 200)
	confirmed := time.Now()
	first.send(t, call{path: reverse + place, bearer: token}).want(401) // there, with the next request
	asking.Wait()
	var slowest time.Duration
	for _, at := range last {
		slowest = max(slowest, at.Sub(confirmed))
	}
	return slowest
}

// The database is away: known tokens live on for max_stale and no longer, management fails at once, and all comes
// back by itself.
func TestClusterWithoutDatabase(t *testing.T) {
	leaveOut(t, "waits while the database is away")
	for _, test := range []struct {
		name        string
		leave, back func(*pgtest.Proxy)
		// atOnce is how long management may take before the loss is known, and known how long that may take
		atOnce, known time.Duration
	}{
		{"refused", (*pgtest.Proxy).Refuse, (*pgtest.Proxy).Accept, 500 * time.Millisecond, time.Second},
		{"silent", (*pgtest.Proxy).Freeze, (*pgtest.Proxy).Thaw, 2500 * time.Millisecond, 3 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			const maxStale = 4 * time.Second
			proxy := pgtest.NewProxy(t, pgtest.DSN(t))
			c := startCluster(t, proxy.DSN, "max_stale 60s", "max_stale 4s")
			pace := testkit.Watch(t)
			one, other := c.nodes[0], c.nodes[1]
			user := one.userToken(t, "away")
			acc := one.create(t, user, nil)
			token, refresh := one.exchange(t, acc.ClientToken, acc.ServerToken)
			for _, s := range c.nodes {
				s.until(t, token, 200, 5*time.Second)
			}
			management := []call{
				{path: accounts + "/" + acc.ID, bearer: user},
				{path: accounts, bearer: user},
				{method: "PATCH", path: accounts + "/" + acc.ID, bearer: user, contentType: jsonType,
					body: `{"status":"SUSPENDED"}`},
				{method: "DELETE", path: accounts + "/" + acc.ID, bearer: user},
				{method: "POST", path: accounts, bearer: user, contentType: jsonType, body: `{"platform":"WEB","scopes":["TILE"]}`},
				exchangeCall(acc.ClientToken, acc.ServerToken),
				refreshCall(refresh),
			}
			fails := func(s *server) time.Duration {
				t.Helper()
				var all sync.WaitGroup
				began := time.Now()
				for _, m := range management {
					all.Go(func() {
						a, err := s.trySend(t, m)
						if err != nil || a.status != http.StatusServiceUnavailable ||
							!strings.Contains(string(a.body), `"service unavailable"`) {
							t.Errorf("%s %s: %v, %+v", m.method, m.path, err, a)
						}
					})
				}
				all.Wait()
				return time.Since(began)
			}
			test.leave(proxy)
			left := time.Now()
			if took := fails(other); took > pace.Allow(test.atOnce) {
				t.Errorf("management took %v to fail", took)
			}
			time.Sleep(test.known - time.Since(left))
			// The account was active when the database was last asked.
			other.send(t, call{path: reverse + place, bearer: token}).want(200)
			var all sync.WaitGroup
			for _, s := range c.nodes[1:] {
				all.Go(func() {
					last := s.until(t, token, 503, maxStale+5*time.Second)
					lived := last.Sub(left)
					if lived > pace.Allow(maxStale+100*time.Millisecond) || lived < maxStale-pace.Allow(time.Second) {
						t.Errorf("a known token lived for %v, max_stale is %v", lived, maxStale)
					}
					t.Logf("a known token lived for %v", lived)
				})
			}
			testkit.Within(t, "management, once it is known that the database is away,", 300*time.Millisecond,
				func() time.Duration { return fails(other) })
			all.Wait()
			var health struct {
				Status    string  `json:"status"`
				Store     string  `json:"store"`
				Staleness float64 `json:"staleness"`
			}
			a := other.send(t, call{path: "/healthz"}).want(503)
			if err := json.Unmarshal(a.body, &health); err != nil || health.Status != "unavailable" ||
				health.Store != "unavailable" || health.Staleness < maxStale.Seconds() {
				t.Errorf("health: %s", a.body)
			}
			test.back(proxy)
			came := time.Now()
			for _, s := range c.nodes[1:] {
				s.until(t, token, 200, 5*time.Second)
			}
			t.Logf("back after %v", time.Since(came))
			testkit.Within(t, "the end of a token after the database has come back", time.Second, func() time.Duration {
				other.setStatus(t, user, acc.ID, "ACTIVE")
				for _, s := range c.nodes {
					s.until(t, token, 200, 5*time.Second)
				}
				other.setStatus(t, user, acc.ID, "SUSPENDED")
				began := time.Now()
				for _, s := range c.nodes {
					s.until(t, token, 401, 10*time.Second)
				}
				return time.Since(began)
			})
			other.send(t, call{path: "/healthz"}).want(200)
		})
	}
}

// A server that was stopped, as a virtual machine can be, knows with its first request that it has missed something.
func TestClusterFrozenServer(t *testing.T) {
	leaveOut(t, "waits while a server is paused")
	t.Parallel()
	c := startCluster(t, pgtest.DSN(t), "max_stale 60s", "max_stale 1s")
	frozen := c.nodes[1]
	user := c.nodes[0].userToken(t, "frozen")
	acc := c.nodes[0].create(t, user, nil)
	token, _ := c.nodes[0].exchange(t, acc.ClientToken, acc.ServerToken)
	frozen.until(t, token, 200, 5*time.Second)
	if err := pauseProcess(frozen.cmd.Process); err != nil {
		t.Skipf("left out: processes cannot be stopped here: %v", err)
	}
	c.nodes[0].setStatus(t, user, acc.ID, "SUSPENDED")
	asked := make(chan *answer, 8)
	for range cap(asked) { // they wait in the socket, and are served first
		go func() {
			a, err := frozen.trySend(t, call{path: reverse + place, bearer: token})
			if err != nil {
				t.Error(err)
			}
			asked <- a
		}()
	}
	time.Sleep(1500 * time.Millisecond)
	if err := resumeProcess(frozen.cmd.Process); err != nil {
		t.Fatal(err)
	}
	for range cap(asked) {
		if a := <-asked; a != nil && a.status == 200 {
			t.Error("a token was accepted after the account had been suspended for longer than max_stale")
		}
	}
	frozen.until(t, token, 401, 2*time.Second)
}
