package admission

import (
	"context"
	"sync/atomic"
	"time"
)

// smallMemory is the size in bytes up to which the memory of a request is no more than what each connection takes
// anyway.
const smallMemory = 32 << 10

// Bodies shares the memory for the bodies that are read, from clients and from other services, between callers.
type Bodies struct {
	pool  *Pool
	limit atomic.Int64 // time.Duration
}

// NewBodies returns a Bodies of so many bytes. Nobody waits longer than limit. refused may be nil.
func NewBodies(bytes int64, limit time.Duration, refused func()) *Bodies {
	b := &Bodies{pool: NewBudget(bytes, smallMemory, refused)}
	b.limit.Store(int64(limit))
	return b
}

// Configure changes how many bytes there are, and how long a request waits for them at most.
func (b *Bodies) Configure(bytes int64, limit time.Duration) {
	b.pool.Resize(bytes)
	b.limit.Store(int64(limit))
}

// Held is how many bytes of the budget are in use.
func (b *Bodies) Held() int64 { return b.pool.Held() }

// Waiting is how many requests wait for a part of it.
func (b *Bodies) Waiting() int64 { return b.pool.Waiting() }

// atMost has one body that is larger than half of the budget count as that half, or nothing else could be read beside
// it.
func (b *Bodies) atMost(bytes int64) int64 { return min(bytes, b.pool.size.Load()/2) }

// Hold is the memory that one request may use. It is for one goroutine at a time, and has to be released. The zero
// Hold is that of a program without a budget, and holds whatever is asked for.
type Hold struct {
	bodies *Bodies
	caller Caller
	bytes  int64
	since  time.Time
}

// For returns the Hold of a request, which holds nothing yet.
func (b *Bodies) For(c Caller) Hold { return Hold{bodies: b, caller: c} }

// Resize makes it so many bytes, and waits where these are more than before and cannot be had. The error is an
// *OverloadError or the context's; then it is what it was before.
func (h *Hold) Resize(ctx context.Context, bytes int64) error {
	if h.bodies == nil {
		return nil
	}
	bytes = h.bodies.atMost(bytes)
	switch {
	case bytes == h.bytes:
		return nil
	case h.bytes > 0 && max(h.bytes, bytes) <= smallMemory:
		return nil // near enough
	case bytes < h.bytes:
		h.bodies.pool.Reduce(h.caller, h.bytes, bytes)
		h.bytes = bytes
		return nil
	}
	if err := h.bodies.pool.Grow(ctx, h.caller, h.bytes, bytes, time.Duration(h.bodies.limit.Load())); err != nil {
		return err
	}
	h.replace(bytes)
	return nil
}

// TryGrow makes it so many bytes, if it is less and they can be had without waiting.
func (h *Hold) TryGrow(bytes int64) bool {
	if h.bodies == nil {
		return true
	}
	if bytes = h.bodies.atMost(bytes); bytes <= h.bytes {
		return true
	}
	if !h.bodies.pool.TryGrow(h.caller, h.bytes, bytes) {
		return false
	}
	h.replace(bytes)
	return true
}

// replace notes what is held now.
func (h *Hold) replace(bytes int64) {
	if h.bytes == 0 {
		h.since = time.Now()
	}
	h.bytes = bytes
}

// Release gives everything back.
func (h *Hold) Release() {
	if h.bytes == 0 {
		return
	}
	h.bodies.pool.Release(h.caller, h.bytes, 0)
	h.bodies.pool.Observe(time.Since(h.since))
	h.bytes = 0
}
