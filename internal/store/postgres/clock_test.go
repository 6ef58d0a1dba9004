package postgres

import (
	"fmt"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/mapsedge/caddy-maps/internal/credential"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

// TestClockReading: what is known of the database's clock is as good as the quickest answer told, and changes only by
// what contradicts it.
func TestClockReading(t *testing.T) {
	var c clock
	began := time.Now()
	there := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) // what the database's clock showed when this began
	off := func(at time.Duration) time.Duration { return c.last.Load().at(began.Add(at)).Sub(there.Add(at)) }
	for _, step := range []struct {
		name        string
		asked, trip time.Duration
		said        time.Duration // since there
		want        time.Duration // by how much it is off then
	}{
		{"the first, read in the middle", 0, 100 * time.Millisecond, 50 * time.Millisecond, 0},
		{"the next, read at the end", time.Second, 100 * time.Millisecond, 1100 * time.Millisecond, 0},
		{"a slow one, read at once", 2 * time.Second, 3 * time.Second, 2 * time.Second, 0},
		{"one that shows an error of before", 6 * time.Second, 10 * time.Millisecond, 6*time.Second + 45*time.Millisecond,
			40 * time.Millisecond},
		{"the clock was set an hour ahead", 7 * time.Second, 10 * time.Millisecond, time.Hour + 7*time.Second,
			time.Hour - 5*time.Millisecond},
		{"and back", 8 * time.Second, 10 * time.Millisecond, 8 * time.Second, -5 * time.Millisecond},
	} {
		c.read(there.Add(step.said), began.Add(step.asked), step.trip)
		if got := off(step.asked + step.trip); got != step.want {
			t.Errorf("%s: off by %v, want %v", step.name, got, step.want)
		}
	}
}

// TestClockSetBack: a clock that was set back is followed, by a second or by years, and one answer is enough for that.
func TestClockSetBack(t *testing.T) {
	const trip = 20 * time.Millisecond
	began := time.Now()
	there := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		back, want time.Duration
	}{
		{0, 0},
		{trip / 4, 0}, // within what an answer can tell
		{time.Second, time.Second},
		{5 * time.Minute, 5 * time.Minute},
		{20 * 365 * 24 * time.Hour, 20 * 365 * 24 * time.Hour},
	} {
		var c clock
		c.read(there.Add(trip/2), began, trip)
		asked := began.Add(time.Minute)
		for range 2 { // the second says nothing new
			c.read(there.Add(time.Minute+trip/2-test.back), asked, trip)
			if got := there.Add(time.Minute).Sub(c.last.Load().at(asked)); got != test.want {
				t.Errorf("set back by %v, it is followed by %v, want %v", test.back, got, test.want)
			}
		}
	}
}

// TestClockWithoutAnswer: while no answer comes, the time goes on from the last one, as fast as time passes here.
func TestClockWithoutAnswer(t *testing.T) {
	var c clock
	there := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	began := time.Now() // has a monotonic reading, as the time of every question has
	c.read(there, began, 0)
	for _, silent := range []time.Duration{0, time.Nanosecond, time.Minute, 100 * 24 * time.Hour} {
		if got := c.last.Load().at(began.Add(silent)); !got.Equal(there.Add(silent)) {
			t.Errorf("after %v it is %v, want %v", silent, got, there.Add(silent))
		}
	}
	s := new(Store)
	s.clock.read(there, time.Now(), 0)
	first := s.Now()
	time.Sleep(5 * time.Millisecond)
	if passed := s.Now().Sub(first); passed < 5*time.Millisecond || passed > time.Minute || first.Before(there) {
		t.Errorf("from %v on, %v passed in a moment", first, passed)
	}
}

// TestTrips: what is usual is the shortest of the last three, and what is derived from it stays within its limits.
func TestTrips(t *testing.T) {
	const ms = time.Millisecond
	for _, test := range []struct {
		trips []time.Duration
		want  time.Duration // of four usual ones, from 20 ms to 2 s
	}{
		{nil, 20 * ms},
		{[]time.Duration{ms, ms, ms}, 20 * ms},
		{[]time.Duration{100 * ms, 100 * ms, 100 * ms}, 400 * ms},
		{[]time.Duration{100 * ms, 100 * ms, 100 * ms, time.Hour, time.Hour}, 400 * ms}, // two that were held up
		{[]time.Duration{100 * ms, 100 * ms, 100 * ms, 300 * ms, 300 * ms, 200 * ms}, 800 * ms},
		{[]time.Duration{300 * ms, 300 * ms, 300 * ms, 50 * ms}, 200 * ms},
		{[]time.Duration{time.Hour, time.Hour, time.Hour}, 2 * time.Second},
	} {
		var list trips
		for _, d := range test.trips {
			list.add(d)
		}
		if got := list.times(4, 20*ms, 2*time.Second); got != test.want {
			t.Errorf("after %v: %v, want %v", test.trips, got, test.want)
		}
	}
}

// withClock returns the connection string of a database whose clock is off.
func withClock(t *testing.T, dsn string, off time.Duration) string {
	t.Helper()
	schema := pgtest.Query[string](t, dsn, "SELECT current_schema()")
	setClock(t, dsn, off)
	return pgtest.With(t, dsn, "search_path", schema+",pg_catalog") // which is looked in first, where it is not named
}

func setClock(t *testing.T, dsn string, off time.Duration) {
	t.Helper()
	pgtest.Exec(t, dsn, fmt.Sprintf(`CREATE OR REPLACE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE
		AS $$SELECT pg_catalog.clock_timestamp() + interval '%f seconds'$$`, off.Seconds()))
}

// TestStoreClock: servers go by the database's clock, whatever those of their machines say, and follow it when it is
// set.
func TestStoreClock(t *testing.T) {
	for _, off := range []time.Duration{-10 * time.Minute, 2 * time.Minute, 30 * time.Hour} {
		t.Run(fmt.Sprint(off), func(t *testing.T) {
			dsn := pgtest.DSN(t)
			n := newNode(t, withClock(t, dsn, off))
			is := func(want time.Duration) bool { return (time.Until(n.store.Now()) - want).Abs() < time.Second }
			if !is(off) {
				t.Errorf("the store's time is off by %v, want %v", time.Until(n.store.Now()), off)
			}
			_, client, server := n.holder(t)
			tokens := n.exchange(t, client, server)
			var claims jwt.RegisteredClaims
			if _, _, err := jwt.NewParser().ParseUnverified(tokens.Access, &claims); err != nil {
				t.Fatal(err)
			}
			if difference := time.Until(claims.IssuedAt.Time) - off; difference.Abs() > 5*time.Second {
				t.Errorf("the token was made %v from the store's time", difference)
			}
			if _, err := n.VerifyAccess(t.Context(), tokens.Access); err != nil {
				t.Errorf("the access token: %v", err)
			}
			if swept, err := n.live.SweepGrants(t.Context(), n.live.Now()); err != nil || swept != 0 {
				t.Errorf("%d grants were swept, error %v", swept, err)
			}
			if _, err := n.Refresh(t.Context(), tokens.Refresh, "", credential.RefreshOptions{}); err != nil {
				t.Errorf("the refresh token: %v", err)
			}
			keys, err := n.store.Keys(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range keys {
				if difference := time.Until(k.CreatedAt) - off; difference.Abs() > 30*time.Second {
					t.Errorf("a key was made %v from the store's time", difference)
				}
			}

			setClock(t, dsn, off+time.Hour)
			for began := time.Now(); !is(off + time.Hour); time.Sleep(10 * time.Millisecond) {
				if time.Since(began) > 5*time.Second {
					t.Fatalf("the database's clock was set, and the store's time is off by %v", time.Until(n.store.Now()))
				}
			}
		})
	}
}
