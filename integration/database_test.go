package integration

import (
	"fmt"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

// databaseStore is the line of a Caddyfile for a server that keeps its accounts where useDatabase says.
const databaseStore = "store postgres {env.MAPS_TEST_DATABASE}"

var databaseUsers atomic.Int64

// useDatabase gives a server the connection string of its database. The database knows the server's connections by a
// name that no other server has.
func (s *server) useDatabase(t testing.TB, dsn string) {
	t.Helper()
	s.application = fmt.Sprintf("caddy-maps server %d %d", time.Now().UnixNano(), databaseUsers.Add(1))
	s.dsn = dsn
	u, err := url.Parse(pgtest.With(t, dsn, "application_name", s.application))
	if err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "MAPS_TEST_DATABASE="+u.String())
}

// crash kills the server, and waits until its database, if it has one, has seen that: until then it may still carry
// out what the server asked for last.
func (s *server) crash(t testing.TB) {
	t.Helper()
	if err := s.kill(); err != nil {
		t.Fatal(err)
	}
	if s.dsn == "" {
		return
	}
	const connections = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1"
	began := time.Now()
	for pgtest.Query[int](t, s.dsn, connections, s.application) > 0 {
		time.Sleep(5 * time.Millisecond)
		if time.Since(began) > 30*time.Second {
			t.Fatal("the database keeps the connections of a server that was killed")
		}
	}
}
