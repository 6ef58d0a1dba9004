package admission

import (
	"hash/maphash"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	rateShards = 16
	// bucketsPerShard bounds the memory: 16,384 buckets of about 200 bytes in all shards.
	bucketsPerShard = 1024
	// evictionTries is how many buckets are compared when one must go.
	evictionTries = 16
)

// Rates limits the rate of requests of each client or account, with a token bucket for each: a burst of all events of a
// window, refilled evenly over the window. It is safe for concurrent use.
//
// Full buckets, which count nothing, make room for new ones. If none of a few is full, one of these goes, so that a
// flood from many networks never refuses a client that has sent nothing yet.
type Rates struct {
	events int
	window time.Duration
	now    func() time.Time
	seed   maphash.Seed
	shards [rateShards]rateShard
}

type rateShard struct {
	mu      sync.Mutex
	buckets map[string]*rate.Limiter
}

// NewRates returns limits of events in each window. Both are positive.
func NewRates(events int, window time.Duration) *Rates {
	return newRates(events, window, time.Now)
}

func newRates(events int, window time.Duration, now func() time.Time) *Rates {
	r := &Rates{events: events, window: window, now: now, seed: maphash.MakeSeed()}
	for i := range r.shards {
		r.shards[i].buckets = make(map[string]*rate.Limiter)
	}
	return r
}

// Rate is the state of a bucket after a request.
type Rate struct {
	Allowed   bool
	Remaining int           // whole events that are left
	Full      time.Duration // until all events are available again
	Retry     time.Duration // until the request would be allowed; 0 if it was
}

// Take counts a request of n events, at least 1. A request for more events than a window has empties the bucket, and is
// refused only while others have taken from it.
func (r *Rates) Take(key string, n int) Rate {
	now := r.now()
	bucket := r.bucket(key, now)
	n = min(n, r.events)
	state := Rate{Allowed: bucket.AllowN(now, n)}
	tokens := bucket.TokensAt(now)
	state.Remaining = max(0, int(tokens))
	state.Full = r.refill(float64(r.events) - tokens)
	if !state.Allowed {
		state.Retry = r.refill(float64(n) - tokens)
	}
	return state
}

// refill is the time in which a bucket gets so many events.
func (r *Rates) refill(events float64) time.Duration {
	return time.Duration(math.Ceil(max(0, events) / float64(r.events) * float64(r.window)))
}

func (r *Rates) bucket(key string, now time.Time) *rate.Limiter {
	shard := &r.shards[maphash.String(r.seed, key)%rateShards]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	bucket, known := shard.buckets[key]
	if !known {
		if len(shard.buckets) >= bucketsPerShard {
			shard.evict(now, float64(r.events))
		}
		bucket = rate.NewLimiter(rate.Limit(float64(r.events)/r.window.Seconds()), r.events)
		shard.buckets[key] = bucket
	}
	return bucket
}

// evict removes a full bucket, or the last of those that it compared. Maps are iterated in a random order.
func (s *rateShard) evict(now time.Time, full float64) {
	tries := 0
	for key, bucket := range s.buckets {
		if tries++; bucket.TokensAt(now) >= full || tries == evictionTries {
			delete(s.buckets, key)
			return
		}
	}
}
