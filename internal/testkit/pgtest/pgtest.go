// Package pgtest provides tests with a PostgreSQL server: that of MAPS_TEST_POSTGRES, or else one that it starts if
// PostgreSQL is installed. Without either, and in short runs, tests that need one are skipped.
//
// It does not know the tables of the store. Start with DSN, and with Proxy for networks that fail.
package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// Variable is the environment variable with the connection string, a URL, of a PostgreSQL server in which tests may
// create schemas and end connections.
const Variable = "MAPS_TEST_POSTGRES"

// shared is the server of this process.
var shared struct {
	sync.Once
	dsn  string
	why  error // there is none
	stop func()
}

// Main runs the tests of a package, for its TestMain, and then stops the server if it was started.
func Main(m *testing.M) int {
	testkit.Waiting()
	defer Stop()
	return m.Run()
}

// Stop stops the server if this process started it. Tests must not use it afterwards.
func Stop() {
	shared.Do(func() {}) // never started: not started any more
	if shared.stop != nil {
		shared.stop()
	}
}

// DSN returns the connection string of a new schema, which is removed when the test ends. It skips the test if there is
// no server.
func DSN(t testing.TB) string {
	t.Helper()
	server := serverDSN(t)
	schema := fmt.Sprintf("caddy_maps_test_%d_%d", os.Getpid(), next())
	Exec(t, server, "CREATE SCHEMA "+schema)
	t.Cleanup(func() { Exec(t, server, "DROP SCHEMA IF EXISTS "+schema+" CASCADE") })
	return With(t, server, "search_path", schema)
}

// With returns a connection string with a parameter set.
func With(t testing.TB, dsn, name, value string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatalf("%s is no URL: it begins with postgres://", Variable)
	}
	q := u.Query()
	q.Set(name, value)
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20") // in PostgreSQL a + is not a space
	return u.String()
}

// Exec runs a statement on a new connection.
func Exec(t testing.TB, dsn, sql string, args ...any) {
	t.Helper()
	withConn(t, dsn, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, sql, args...)
		return err
	})
}

// Query returns one value.
func Query[T any](t testing.TB, dsn, sql string, args ...any) T {
	t.Helper()
	var value T
	withConn(t, dsn, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, sql, args...).Scan(&value)
	})
	return value
}

// CutConnections ends all connections with one of the application names, and returns how many there were. Set the name
// with the parameter application_name.
func CutConnections(t testing.TB, dsn string, applications ...string) int {
	t.Helper()
	return Query[int](t, dsn, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE application_name = ANY($1) AND pid <> pg_backend_pid()`, applications)
}

func serverDSN(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("needs PostgreSQL")
	}
	shared.Do(func() {
		if shared.dsn = os.Getenv(Variable); shared.dsn == "" {
			shared.dsn, shared.stop, shared.why = start()
		}
	})
	switch {
	case shared.why != nil:
		t.Skipf("left out: it needs a PostgreSQL, which %s can name: %v", Variable, shared.why)
	case shared.dsn == "":
		t.Fatal("the PostgreSQL of the tests has been stopped")
	}
	return shared.dsn
}

var counter struct {
	sync.Mutex
	n int
}

func next() int {
	counter.Lock()
	defer counter.Unlock()
	counter.n++
	return counter.n
}

func withConn(t testing.TB, dsn string, run func(context.Context, *pgx.Conn) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatalf("%s is no connection string", Variable)
	}
	cfg.RuntimeParams["application_name"] = "caddy-maps tests"
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if err := run(ctx, conn); err != nil {
		t.Fatalf("asking the PostgreSQL of the tests: %v", err)
	}
}
