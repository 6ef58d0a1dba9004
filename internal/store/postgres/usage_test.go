package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// afternoon is the present time of these tests.
var afternoon = time.Date(2026, 3, 15, 15, 30, 0, 0, time.UTC)

// flushOf counts n requests for each of so many accounts, in an hour so long ago, and for their organization.
func flushOf(node string, number uint64, accounts int, ago time.Duration, n int64) *usage.Flush {
	f := &usage.Flush{Node: node, Number: number, At: afternoon}
	for i := range accounts + 1 {
		c := usage.Count{Subject: usage.Subject{Organization: "org"}, Scope: account.ScopeTile,
			Start: afternoon.Add(-ago).Truncate(time.Hour).Unix(), Usage: account.Usage{Requests: n, Units: n}}
		if i > 0 {
			c.Account = fmt.Sprintf("sa_%05d", i)
		} else {
			c.Requests, c.Units = n*int64(accounts), n*int64(accounts)
		}
		f.Hours = append(f.Hours, c)
	}
	return f
}

// used adds up an organization's requests, at each step.
func used(t *testing.T, s *Store) (sums [3]int64) {
	t.Helper()
	for i, step := range []account.Step{account.StepHour, account.StepDay, account.StepMonth} {
		rows, err := s.Usage(t.Context(), usage.Query{Organization: "org", Step: step, From: afternoon.AddDate(0, -2, 0),
			To: afternoon.AddDate(0, 1, 0), Limit: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			sums[i] += r.Requests
		}
	}
	return sums
}

// TestFlushesAtOnce flushes on two servers for the same accounts, in hours that are over and in the present one, while
// both fold.
func TestFlushesAtOnce(t *testing.T) {
	dsn := pgtest.DSN(t)
	stores := []*Store{open(t, dsn), open(t, dsn)}
	const accounts, rounds = 300, 40
	var flushing, folding sync.WaitGroup
	done := make(chan struct{})
	for i, s := range stores {
		flushing.Go(func() {
			for n := range rounds {
				f := flushOf(fmt.Sprint("node ", i), uint64(n+1), accounts, time.Duration(n%3)*time.Hour, 1)
				if _, err := s.AddUsage(t.Context(), f); err != nil {
					t.Error(err)
				}
			}
		})
		folding.Go(func() {
			for {
				if _, err := s.FoldUsage(t.Context(), afternoon, usage.DefaultRetention); err != nil {
					t.Error(err)
				}
				select {
				case <-done:
					return
				case <-time.After(5 * time.Millisecond):
				}
			}
		})
	}
	flushing.Wait()
	close(done)
	folding.Wait()
	if got, want := used(t, stores[0]), int64(len(stores)*accounts*rounds); got != [3]int64{want, want, want} {
		t.Errorf("%d requests by hour, day and month, want %d", got, want)
	}
}

// TestLostAnswer cuts a server off while its flush waits for a row. Whether the flush is repeated at once, or later
// after an error and when the first attempt was carried out, it counts once.
func TestLostAnswer(t *testing.T) {
	for name, again := range map[string]bool{"repeated at once": true, "repeated later": false} {
		t.Run(name, func(t *testing.T) {
			dsn := pgtest.DSN(t)
			proxy := pgtest.NewProxy(t, dsn)
			near, far := open(t, dsn), open(t, proxy.DSN)
			if _, err := near.AddUsage(t.Context(), flushOf("near", 1, 1, 0, 1)); err != nil {
				t.Fatal(err)
			}
			release := lockRecent(t, near)
			f := flushOf("far", 1, 1, 0, 10)
			answer := make(chan error, 1)
			go func() {
				_, err := far.AddUsage(context.Background(), f)
				answer <- err
			}()
			// waits returns the process of the database that carries a flush out and waits, other than one that did.
			waits := func(before int) int {
				t.Helper()
				for {
					if pid := pgtest.Query[int](t, dsn, `SELECT coalesce(max(pid), 0) FROM pg_stat_activity
						WHERE wait_event_type = 'Lock' AND query LIKE 'WITH flush%' AND pid <> $1`, before); pid != 0 {
						return pid
					}
					select {
					case err := <-answer:
						t.Fatalf("the flush did not wait: error %v", err)
					case <-time.After(time.Millisecond):
					}
				}
			}
			first := waits(0)
			if again {
				proxy.Cut()
				waits(first)
			} else {
				proxy.Refuse()
				if err := <-answer; err == nil || errors.Is(err, account.ErrUnchanged) {
					t.Fatalf("error %v, want one that leaves open whether it counted", err)
				}
				proxy.Accept()
			}
			err := release()
			if err != nil {
				t.Fatal(err)
			}
			if again {
				err = <-answer
			} else {
				_, err = far.AddUsage(t.Context(), f)
			}
			if got := used(t, near); err != nil || got[0] != 11 {
				t.Errorf("error %v; %d requests, want 11", err, got[0])
			}
		})
	}
}

// lockRecent keeps others from changing what was used recently until release is called.
func lockRecent(t *testing.T, s *Store) (release func() error) {
	t.Helper()
	conn, err := s.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Release)
	lock, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Exec(t.Context(), "SELECT 1 FROM maps_usage_recent FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	return func() error { return lock.Rollback(context.Background()) }
}

// TestSlowFold: a fold that has to wait for longer than a request would is not given up.
func TestSlowFold(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	s := open(t, dsn)
	if _, err := s.AddUsage(t.Context(), flushOf("node", 1, 1, time.Hour, 1)); err != nil {
		t.Fatal(err)
	}
	release := lockRecent(t, s)
	released := make(chan error, 1)
	time.AfterFunc(2500*time.Millisecond, func() { released <- release() })
	began := time.Now()
	if _, err := s.FoldUsage(t.Context(), afternoon, usage.DefaultRetention); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took < 2*time.Second {
		t.Errorf("it waited for %v only", took)
	}
	if err := <-released; err != nil {
		t.Fatal(err)
	}
	if left := pgtest.Query[int](t, dsn, "SELECT count(*) FROM maps_usage_recent"); left > 0 {
		t.Errorf("%d rows are not folded", left)
	}
}

// TestFlushRefused: what the database refused is certainly not counted.
func TestFlushRefused(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := open(t, dsn)
	pgtest.Exec(t, dsn, "ALTER TABLE maps_usage_recent ADD CHECK (requests < 100)")
	for _, test := range []struct {
		n    int64
		want int64
	}{{1, 1}, {100, 1}, {2, 3}} {
		_, err := s.AddUsage(t.Context(), flushOf("node", uint64(test.n), 1, 0, test.n))
		if refused := test.n == 100; refused != errors.Is(err, account.ErrUnchanged) || !refused && err != nil {
			t.Errorf("flush of %d: error %v", test.n, err)
		}
		if got := used(t, s); got[0] != test.want {
			t.Errorf("after %d: %d requests, want %d", test.n, got[0], test.want)
		}
		pgtest.Exec(t, dsn, "UPDATE maps_usage_flushes SET number = 0")
	}
}

// fillYear gives an organization a year of months, and days of the last of them, for so many accounts under two scopes.
func fillYear(t testing.TB, dsn string, accounts int) {
	t.Helper()
	pgtest.Exec(t, dsn, `INSERT INTO maps_usage (step, organization, start, account, scope, requests, refused, errors,
			units)
		SELECT s.step, 'org', s.start, 'sa_' || lpad(n::text, 5, '0'), scope, n, 0, 0, n
		FROM (SELECT 'month' AS step, extract(epoch FROM m)::bigint AS start
				FROM generate_series('2025-04-01 00:00+00'::timestamptz, '2026-03-01 00:00+00', '1 month') AS m
			UNION ALL SELECT 'day', extract(epoch FROM d)::bigint
				FROM generate_series('2026-03-01 00:00+00'::timestamptz, '2026-03-14 00:00+00', '1 day') AS d) AS s,
			generate_series(1, `+fmt.Sprint(accounts)+`) AS n, unnest('{TILE,GEOCODING}'::text[]) AS scope`)
	pgtest.Exec(t, dsn, `INSERT INTO maps_usage_recent (organization, start, account, scope, requests, refused, errors,
			units)
		SELECT 'org', h, 'sa_' || lpad(n::text, 5, '0'), scope, n, 0, 0, n
		FROM unnest('{1773586800,1773583200}'::bigint[]) AS h, generate_series(1, `+fmt.Sprint(accounts)+`) AS n,
			unnest('{TILE,GEOCODING}'::text[]) AS scope`)
	pgtest.Exec(t, dsn, "ANALYZE maps_usage, maps_usage_recent")
}

// aYear is a query for a year by month.
func aYear() usage.Query {
	return usage.Query{Organization: "org", Step: account.StepMonth, From: time.Date(2025, 4, 1, 0, 0, 0, 0, time.UTC),
		To: time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC), Limit: 1000}
}

// TestUsageByIndex: a page costs as much as is on it, not as much as is kept.
func TestUsageByIndex(t *testing.T) {
	dsn := pgtest.DSN(t)
	s := open(t, dsn)
	fillYear(t, dsn, 1000)
	last := &usage.Position{Start: afternoon.AddDate(0, 0, -14).Truncate(24 * time.Hour).Unix(), Account: "sa_00900"}
	for name, narrow := range map[string]func(*usage.Query){
		"the first page": func(*usage.Query) {},
		"the last page":  func(q *usage.Query) { q.After = last },
		"one account":    func(q *usage.Query) { q.Account = "sa_00500" },
		"one day":        func(q *usage.Query) { q.Step, q.From = account.StepDay, afternoon.AddDate(0, 0, -3) },
	} {
		q := aYear()
		q.Limit = 100
		narrow(&q)
		sql, args := usageSQL(q, q.Limit)
		var plan strings.Builder
		if err := s.query(t.Context(), "EXPLAIN (ANALYZE, TIMING OFF) "+sql, func(row pgx.Row) error {
			var line string
			err := row.Scan(&line)
			plan.WriteString(line + "\n")
			return err
		}, args...); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(plan.String(), "Seq Scan on maps_usage ") {
			t.Errorf("%s is read from all that is kept:\n%s", name, &plan)
		}
		t.Logf("%s:\n%s", name, &plan)
	}
}
