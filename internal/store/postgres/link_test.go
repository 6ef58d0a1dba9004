package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/testpace"
)

// hears makes changes on one server, at different moments between two questions of another, and checks that each is
// heard in time and that the other never took the database for away.
func hears(t *testing.T, pace *testpace.Pace, one *Store, h *heard, rounds int, limit time.Duration) {
	t.Helper()
	h.mu.Lock()
	before := len(h.errs)
	h.mu.Unlock()
	var slowest time.Duration
	for range rounds {
		_, after, err := one.UpdateAccount(t.Context(), "sa_1", toggle)
		if err != nil {
			t.Fatal(err)
		}
		slowest = max(slowest, h.until(t, "a change", limit+10*time.Second,
			func() bool { return h.versions["sa_1"] >= after.Version }))
		time.Sleep(170 * time.Millisecond)
	}
	t.Logf("heard after at most %v", slowest)
	if slowest > pace.Allow(limit) {
		t.Errorf("a change was heard after %v, want %v", slowest, limit)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.errs) > before {
		t.Errorf("the database answers, and was taken for away: %v", h.errs[before:])
	}
	if h.missed > 0 {
		t.Errorf("changes were missed %d times", h.missed)
	}
}

// limitedRole makes a user with a limit of connections, and returns the connection string for it.
func limitedRole(t *testing.T, dsn string, limit int) (as, role string) {
	t.Helper()
	schema := pgtest.Query[string](t, dsn, "SELECT current_schema()")
	role = schema + "_limited"
	pgtest.Exec(t, dsn, fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD 'some password' CONNECTION LIMIT %d", role, limit))
	t.Cleanup(func() { pgtest.Exec(t, dsn, "DROP OWNED BY "+role+"; DROP ROLE "+role) })
	pgtest.Exec(t, dsn, "GRANT USAGE ON SCHEMA "+schema+" TO "+role)
	pgtest.Exec(t, dsn, "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "+schema+" TO "+role)
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(role, "some password")
	return u.String(), role
}

// takeOver ends the connection on which a server hears of changes, as soon as it listens there, until somebody else
// has got its place. Who was first there has it at once.
func takeOver(t *testing.T, dsn, as, role string) {
	t.Helper()
	stop, taken := make(chan struct{}), make(chan struct{})
	var greedy sync.WaitGroup
	t.Cleanup(func() {
		close(stop)
		greedy.Wait()
	})
	greedy.Go(func() {
		for {
			conn, err := pgx.Connect(context.Background(), as)
			if err == nil {
				close(taken)
				<-stop
				_ = conn.Close(context.Background())
				return
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	// Until the next question, LISTEN is what the connection did last.
	ended := 0
	for deadline := time.Now().Add(20 * time.Second); ; {
		ended += pgtest.Query[int](t, dsn,
			"SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = $1 AND query ILIKE 'listen %'", role)
		select {
		case <-taken:
			return
		case <-time.After(2 * time.Millisecond): // the server was quicker
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d connections were ended, and the server took each place again", ended)
		}
	}
}

// TestNoConnectionOfItsOwn ends the connection on which a server hears of changes, while no other can be made. Those
// that it has for requests will do, however busy they are.
func TestNoConnectionOfItsOwn(t *testing.T) {
	t.Parallel()
	for _, busy := range []bool{false, true} {
		t.Run(fmt.Sprint("busy: ", busy), func(t *testing.T) {
			t.Parallel()
			pace := testpace.Watch(t)
			dsn := pgtest.DSN(t)
			one := open(t, dsn)
			addAccount(t, one, "sa_1")
			as, role := limitedRole(t, dsn, 2) // one of the pool, and the watcher's
			other := open(t, as)
			h := watch(t, other)
			takeOver(t, dsn, as, role)
			stop := make(chan struct{})
			var working sync.WaitGroup
			defer working.Wait()
			defer close(stop)
			for range 8 {
				if !busy {
					break
				}
				working.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
							_, _ = other.Account(context.Background(), "sa_1") // some find no connection
						}
					}
				})
			}
			hears(t, pace, one, h, 10, time.Second)
			if _, err := other.Account(t.Context(), "sa_1"); err != nil && !busy {
				t.Errorf("its own requests: %v", err)
			}
		})
	}
}

// TestBusyPool has requests hold all connections that they can, waiting for a lock, while no other can be made. The
// watcher has taken one of them for its own before.
func TestBusyPool(t *testing.T) {
	pace := testpace.Watch(t)
	dsn := pgtest.DSN(t)
	one := open(t, dsn)
	addAccount(t, one, "sa_1")
	addAccount(t, one, "sa_2")
	const conns = 2
	as, role := limitedRole(t, dsn, conns+1) // and the watcher's
	other := open(t, as)
	locked := func() (release func()) {
		conn, err := pgx.Connect(t.Context(), dsn)
		if err != nil {
			t.Fatal(err)
		}
		for _, sql := range []string{"BEGIN", "SELECT 1 FROM maps_accounts WHERE id = 'sa_2' FOR UPDATE"} {
			if _, err := conn.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		return func() { _ = conn.Close(context.Background()) }
	}
	waiting := func() int {
		return pgtest.Query[int](t, dsn,
			"SELECT count(*) FROM pg_stat_activity WHERE usename = $1 AND wait_event_type = 'Lock'", role)
	}
	stop := make(chan struct{})
	var working sync.WaitGroup
	defer working.Wait()
	defer close(stop)
	work := func(workers int, until func() bool) {
		for range workers {
			working.Go(func() {
				for !until() {
					_, _, err := other.UpdateAccount(context.Background(), "sa_2",
						func(*account.Account) (bool, error) { return false, nil })
					if err != nil && !errors.Is(err, account.ErrUnchanged) {
						t.Errorf("a change of a locked account: %v", err)
					}
				}
			})
		}
	}
	// The pool gets its connections.
	release := locked()
	var filled atomic.Bool
	work(conns, filled.Load)
	for waiting() < conns {
		time.Sleep(5 * time.Millisecond)
	}
	filled.Store(true)
	release()
	working.Wait()

	h := watch(t, other)
	takeOver(t, dsn, as, role)
	time.Sleep(time.Second)
	defer locked()()
	work(8, func() bool {
		select {
		case <-stop:
			return true
		default:
			return false
		}
	})
	for waiting() < conns-1 {
		time.Sleep(5 * time.Millisecond)
	}
	hears(t, pace, one, h, 10, time.Second)
}

// TestSwallowedListen: LISTEN leads nowhere on every connection that is made, and takes what is said after it with it.
func TestSwallowedListen(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]bool{"from the start": false, "later": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pace := testpace.Watch(t)
			dsn := pgtest.DSN(t)
			proxy := pgtest.NewProxy(t, dsn)
			one := open(t, dsn)
			addAccount(t, one, "sa_1")
			if !late {
				proxy.Swallow("listen ")
			}
			h := watch(t, open(t, proxy.DSN))
			hears(t, pace, one, h, 6, time.Second)
			proxy.Swallow("listen ")
			for range 2 {
				proxy.Cut()
				hears(t, pace, one, h, 3, time.Second)
			}
		})
	}
}

// TestSlowLink: a database that is far away answers late, not never. Changes are heard after a second and three round
// trips at most, calls succeed, and a server can start.
func TestSlowLink(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		delay      time.Duration // each way
		open       func(testing.TB, string) *Store
		sudden     bool
		disconnect bool
	}{
		{name: "from the start", delay: 600 * time.Millisecond, open: open},
		{name: "from the start, polled", delay: 300 * time.Millisecond, open: openQuiet},
		{name: "of a sudden", delay: 300 * time.Millisecond, open: open, sudden: true},
		{name: "of a sudden, and connections are cut", delay: 600 * time.Millisecond, open: open, sudden: true,
			disconnect: true},
	} {
		t.Run(fmt.Sprintf("%v %s", test.delay, test.name), func(t *testing.T) {
			t.Parallel()
			if testing.Short() && test.delay > 300*time.Millisecond {
				t.Skip("it waits for half a minute")
			}
			pace := testpace.Watch(t)
			dsn := pgtest.DSN(t)
			proxy := pgtest.NewProxy(t, dsn)
			one := open(t, dsn)
			addAccount(t, one, "sa_1")
			if !test.sudden {
				proxy.Delay(test.delay)
			}
			began := time.Now()
			other := test.open(t, proxy.DSN)
			t.Logf("opened after %v", time.Since(began))
			h := watch(t, other)
			proxy.Delay(test.delay)
			trip := 2 * test.delay
			hears(t, pace, one, h, 4, time.Second+3*trip)
			if test.disconnect {
				proxy.Cut()
				hears(t, pace, one, h, 2, time.Second+6*trip) // connecting takes three
			}
			for range 2 {
				if _, err := other.Account(t.Context(), "sa_1"); err != nil {
					t.Errorf("a question: %v", err)
				}
				if _, _, err := other.UpdateAccount(t.Context(), "sa_1", toggle); err != nil {
					t.Errorf("a change: %v", err)
				}
			}
			proxy.Delay(0) // to be closed sooner
		})
	}
}
