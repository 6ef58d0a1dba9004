package integration

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

// What is counted while the database is away arrives later, and the log says once that it waits. A server that is
// stopped meanwhile does not try for long, and says how much is lost.
func TestUsageWhileDatabaseIsAway(t *testing.T) {
	leaveOut(t, "waits while the database is away")
	t.Parallel()
	for _, test := range []struct {
		name     string
		cut, fix func(*pgtest.Proxy)
	}{
		{"refused", (*pgtest.Proxy).Refuse, (*pgtest.Proxy).Accept},
		{"silent", (*pgtest.Proxy).Freeze, (*pgtest.Proxy).Thaw},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			proxy := pgtest.NewProxy(t, pgtest.DSN(t))
			s := newServer(t, sqliteLine, databaseStore)
			s.raced = true
			s.useDatabase(t, proxy.DSN)
			s.run(t)
			pace := testkit.Watch(t)
			user := s.userToken(t, "away")
			acc := s.create(t, user, nil)
			token, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
			ask := func(n int) {
				t.Helper()
				for range n {
					s.send(t, call{path: reverse + place, bearer: token}).want(200)
				}
			}
			says := func(line string) {
				t.Helper()
				for deadline := time.Now().Add(pace.Allow(15 * time.Second)); ; time.Sleep(50 * time.Millisecond) {
					log, err := os.ReadFile(s.log)
					if err != nil {
						t.Fatal(err)
					}
					if n := strings.Count(string(log), line); n == 1 {
						return
					} else if n > 1 || time.Now().After(deadline) {
						t.Fatalf("the log has %d times %s", n, line)
					}
				}
			}
			ask(3)
			test.cut(proxy)
			ask(4)
			says("flushing usage to the store failed; it will be retried")
			time.Sleep(3 * time.Second)
			says("flushing usage to the store failed; it will be retried")
			test.fix(proxy)
			for began := time.Now(); !strings.Contains(string(s.send(t, call{path: "/healthz"}).body), `"store":"ok"`); {
				if time.Since(began) > 15*time.Second {
					t.Fatal("the database is back, and the server does not reach it")
				}
				time.Sleep(50 * time.Millisecond)
			}
			want := account.Usage{Requests: 7, Units: 7}
			if got := s.used(t, user, acc)["REVERSEGEOCODING"]; got != want {
				t.Errorf("%+v is kept, want %+v", got, want)
			}

			ask(1) // after a reconnect the token is read again
			s.used(t, user, acc)
			test.cut(proxy)
			ask(5)
			began := time.Now()
			if err := s.stop(); err != nil { // within 20 s
				t.Error(err)
			}
			t.Logf("stopped after %v", time.Since(began))
			says(`they are lost when the process ends","requests":5`)
		})
	}
}
