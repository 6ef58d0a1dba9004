package store

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

// TestOvershoot: how many requests two servers let through beyond a quota, as docs/run/limits.md says. MAPS_TEST_FLUSH is
// the flush interval of the servers.
func TestOvershoot(t *testing.T) {
	testkit.Whole(t)
	flush := time.Second
	if set := os.Getenv("MAPS_TEST_FLUSH"); set != "" {
		var err error
		if flush, err = time.ParseDuration(set); err != nil {
			t.Fatal(err)
		}
	}
	const rate = 250 // requests per second and server
	seconds := int64(flush / time.Second)
	for _, test := range []struct {
		name        string
		limit, most int64
	}{
		// From 80% to the limit takes longer than a flush: what the other server lets through in 2 s.
		{"slow", 2 * rate * 8 * seconds, 2 * rate},
		// The quota is used up between two flushes: each server lets all of it through.
		{"burst", rate * seconds / 2, rate * seconds / 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			pace := testkit.Watch(t)
			passed := twoServers(t, rate, test.limit, flush)
			// A machine that is busy flushes later, while requests go on.
			most := test.most + int64(rate*(pace.Allow(time.Second)-time.Second).Seconds())
			if over := passed - test.limit; over < 0 || over > most {
				t.Errorf("%d requests passed a quota of %d; at most %d more should", passed, test.limit, most)
			}
			t.Logf("%v between flushes: %d of %d", flush, passed, test.limit)
		})
	}
}

// twoServers sends requests at a rate to each of two servers until both refuse, and returns how many passed.
func twoServers(t *testing.T, rate, limit int64, flush time.Duration) (passed int64) {
	t.Helper()
	dsn := pgtest.DSN(t)
	limits := usage.Limits{Account: account.NewLimits([]account.Quota{
		{Scope: "TILE", Unit: account.UnitRequests, Window: account.WindowMonth, Limit: limit}})}
	ctx, stop := context.WithCancel(t.Context())
	var servers, flushing sync.WaitGroup
	var mu sync.Mutex
	for range 2 {
		s := openPostgres(t, dsn)
		m := usage.NewMeter(s, s.Now, nil)
		m.Configure(flush, usage.DefaultRetention)
		flushing.Go(func() { m.Run(ctx, func(what string, err error) { t.Errorf("%s: %v", what, err) }) })
		servers.Go(func() {
			ticker := time.NewTicker(time.Second / time.Duration(rate))
			defer ticker.Stop()
			for refused := 0; refused < 20; <-ticker.C {
				_, err := m.Counter("org", "sa_a").Admit(ctx, account.Scope("TILE").Set(), limits, s.Now().Unix())
				if err != nil {
					refused++
					continue
				}
				mu.Lock()
				passed++
				mu.Unlock()
			}
		})
	}
	servers.Wait()
	stop()
	flushing.Wait()
	return passed
}
