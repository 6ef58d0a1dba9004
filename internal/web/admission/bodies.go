package admission

import (
	"context"
	"sync/atomic"
	"time"
)

// smallMemory is the size, in bytes, up to which the memory of a request is insignificant beside that of its
// connection.
const smallMemory = 32 << 10

// Bodies is the budget of memory for bodies that are being read, from clients and from upstream services.
type Bodies struct {
	pool  *Pool
	limit atomic.Int64 // time.Duration
}

// NewBodies returns a budget of so many bytes. No request waits for it longer than limit. refused may be nil.
func NewBodies(bytes int64, limit time.Duration, refused func()) *Bodies {
	b := &Bodies{pool: NewBudget(bytes, smallMemory, refused)}
	b.limit.Store(int64(limit))
	return b
}

// Configure changes the size of the budget, and how long requests may wait.
func (b *Bodies) Configure(bytes int64, limit time.Duration) {
	b.pool.Resize(bytes)
	b.limit.Store(int64(limit))
}

// Held is the number of bytes in use.
func (b *Bodies) Held() int64 { return b.pool.Held() }

// Waiting is the number of requests that wait.
func (b *Bodies) Waiting() int64 { return b.pool.Waiting() }

// atMost counts a larger body as half of the budget, since otherwise no other body could be read at the same time.
func (b *Bodies) atMost(bytes int64) int64 { return min(bytes, b.pool.size.Load()/2) }

// Reservation is the part of the budget that one request holds. It is for one goroutine at a time, and must be
// released. The zero Reservation belongs to no budget and has no limit.
type Reservation struct {
	bodies *Bodies
	caller Caller
	bytes  int64
	since  time.Time
}

// For returns an empty Reservation for a request.
func (b *Bodies) For(c Caller) Reservation { return Reservation{bodies: b, caller: c} }

// Resize changes the size, and waits if more bytes are needed than are available. The error is an *OverloadError or
// that of the context. After an error, the size is unchanged.
func (r *Reservation) Resize(ctx context.Context, bytes int64) error {
	if r.bodies == nil {
		return nil
	}
	bytes = r.bodies.atMost(bytes)
	switch {
	case bytes == r.bytes:
		return nil
	case r.bytes > 0 && max(r.bytes, bytes) <= smallMemory:
		return nil // insignificant
	case bytes < r.bytes:
		r.bodies.pool.Reduce(r.caller, r.bytes, bytes)
		r.bytes = bytes
		return nil
	}
	if err := r.bodies.pool.Grow(ctx, r.caller, r.bytes, bytes, time.Duration(r.bodies.limit.Load())); err != nil {
		return err
	}
	r.replace(bytes)
	return nil
}

// TryGrow increases the size to so many bytes if they are available.
func (r *Reservation) TryGrow(bytes int64) bool {
	if r.bodies == nil {
		return true
	}
	if bytes = r.bodies.atMost(bytes); bytes <= r.bytes {
		return true
	}
	if !r.bodies.pool.TryGrow(r.caller, r.bytes, bytes) {
		return false
	}
	r.replace(bytes)
	return true
}

// replace sets the size.
func (r *Reservation) replace(bytes int64) {
	if r.bytes == 0 {
		r.since = time.Now()
	}
	r.bytes = bytes
}

// Release releases all bytes.
func (r *Reservation) Release() {
	if r.bytes == 0 {
		return
	}
	r.bodies.pool.Release(r.caller, r.bytes, 0)
	r.bodies.pool.Observe(time.Since(r.since))
	r.bytes = 0
}
