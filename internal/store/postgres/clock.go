package postgres

import (
	"sync/atomic"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// clock is the database's clock as far as it is known here. Between two readings it goes on by what passes here,
// whatever this machine's clock is set to.
type clock struct{ last atomic.Pointer[reading] }

// reading says what the database's clock showed.
type reading struct{ here, there time.Time }

func (r *reading) at(now time.Time) time.Time { return r.there.Add(now.Sub(r.here)) }

// read notes what the database's clock said in an answer. It said so at some time between the question and the
// answer; only what contradicts what is known changes it, so that a slow answer does not spoil what a quick one told.
func (c *clock) read(said, asked time.Time, trip time.Duration) {
	answered := asked.Add(trip)
	if r := c.last.Load(); r != nil {
		if known := r.at(answered); !known.Before(said) && !known.After(said.Add(trip)) {
			return
		}
	}
	c.last.Store(&reading{here: answered, there: said.Add(trip / 2)})
}

// Now implements account.Clock.
func (s *Store) Now() time.Time { return s.clock.last.Load().at(time.Now()) }

// trips remembers how long the last round trips took.
type trips struct {
	list [3]time.Duration
	next int
	// usual is the shortest of them: one answer that was held up says nothing about the next.
	usual atomic.Int64
}

func (t *trips) add(d time.Duration) {
	t.list[t.next] = d
	t.next = (t.next + 1) % len(t.list)
	t.usual.Store(int64(min(t.list[0], t.list[1], t.list[2])))
}

// times returns a number of usual round trips, within limits.
func (t *trips) times(n int, least, most time.Duration) time.Duration {
	return min(max(time.Duration(n)*time.Duration(t.usual.Load()), least), most)
}

var _ account.Clock = (*Store)(nil)
