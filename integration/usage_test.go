package integration

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

// used returns what an account has used this month, by scope.
func (s *server) used(t *testing.T, user string, acc serviceAccount) map[string]account.Usage {
	t.Helper()
	var page struct {
		Data []struct {
			Scope string
			account.Usage
		}
	}
	s.send(t, call{path: accounts + "/usage?step=month&account=" + acc.ID, bearer: user}).want(200).into(&page)
	used := map[string]account.Usage{}
	for _, row := range page.Data {
		used[row.Scope] = row.Usage
	}
	return used
}

// asking is clients that ask for a place over and over.
type asking struct {
	clients sync.WaitGroup
	stop    chan struct{}
	passed  atomic.Int64
}

// ask begins to ask servers in turn. Where they are to be killed requests may fail.
func ask(t *testing.T, token string, mayFail bool, servers ...*server) *asking {
	a := &asking{stop: make(chan struct{})}
	for i := range 8 {
		a.clients.Go(func() {
			for n := i; ; n++ {
				select {
				case <-a.stop:
					return
				default:
				}
				answer, err := servers[n%len(servers)].trySend(t, call{path: reverse + place, bearer: token})
				switch {
				case err == nil && answer.status == 200:
					a.passed.Add(1)
				case !mayFail:
					t.Errorf("a request failed: %v %v", answer, err)
					return
				}
			}
		})
	}
	return a
}

// until waits until so many more requests have passed.
func (a *asking) until(t *testing.T, more int64) {
	t.Helper()
	enough := a.passed.Load() + more
	for began := time.Now(); a.passed.Load() < enough; time.Sleep(time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatalf("fewer than %d requests passed in 30 s", more)
		}
	}
}

func (a *asking) end() int64 {
	close(a.stop)
	a.clients.Wait()
	return a.passed.Load()
}

// Each request is counted once, also across reloads, a stop, and a kill, which may lose
// what was not handed over in the last second.
func TestUsageIsExact(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		usageIsExact(t, startRaced(t, "flush 10s", "flush 1s"))
	})
	t.Run("postgres", func(t *testing.T) {
		leaveOut(t, "starts a cluster")
		t.Parallel()
		dsn := pgtest.DSN(t)
		one, two := startPair(t, dsn, dsn, "flush 10s", "flush 1s") // which a kill may lose
		usageIsExact(t, one, two)
	})
}

func usageIsExact(t *testing.T, servers ...*server) {
	pace := testkit.Watch(t)
	s := servers[0]
	user := s.userToken(t, "exact")
	acc := s.create(t, user, nil)
	token, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	sum := func() int64 { return s.used(t, user, acc)["REVERSEGEOCODING"].Requests }

	load := ask(t, token, false, servers...)
	for i := range 3 {
		load.until(t, 50)
		text, err := caddyfileWith("access_token_ttl 15m", fmt.Sprintf("access_token_ttl %dm", 12+i))
		if err != nil {
			t.Fatal(err)
		}
		if len(servers) == 1 {
			if status, text := s.reload(t, text); status != 200 {
				t.Errorf("reload: %d %s", status, text)
			}
		}
	}
	passed := load.end()
	for _, one := range servers { // at once: nothing is given the time to be handed over
		if err := one.stop(); err != nil {
			t.Fatal(err)
		}
	}
	for _, one := range servers {
		if err := one.start(); err != nil {
			t.Fatal(err)
		}
	}
	if got := sum(); got != passed || passed == 0 {
		t.Fatalf("%d requests passed, %d were counted", passed, got)
	}

	load = ask(t, token, true, servers...)
	load.until(t, 200)
	early := load.passed.Load()
	time.Sleep(pace.Pause(1500 * time.Millisecond))
	for _, one := range servers {
		one.crash(t)
	}
	late := load.end()
	for _, one := range servers {
		if err := one.start(); err != nil {
			t.Fatal(err)
		}
	}
	// Each client may have had one request under way whose answer was lost.
	if got := sum() - passed; got < early || got > late+8*int64(len(servers)) {
		t.Errorf("%d requests passed until a second before the kill, %d until then: %d were counted", early, late, got)
	}
}
