package pages

import (
	"sync"
	"time"
)

const (
	windowLength = time.Minute
	// windowEach is the number of tokens per address and window. A page needs one in eleven minutes.
	windowEach = 30
	// windowAddresses limits the memory. Further addresses get no token until the next window.
	windowAddresses = 10_000
)

// window counts the tokens of each address in the current minute.
type window struct {
	now func() time.Time

	mu    sync.Mutex
	ends  time.Time
	taken map[string]int // by address
}

func newWindow(now func() time.Time) *window { return &window{now: now} }

// take counts one token for an address. If none is left, it returns how long to wait.
func (w *window) take(address string) (wait time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	if !now.Before(w.ends) {
		w.ends, w.taken = now.Add(windowLength), make(map[string]int)
	}
	n, known := w.taken[address]
	if n >= windowEach || !known && len(w.taken) >= windowAddresses {
		return w.ends.Sub(now)
	}
	w.taken[address] = n + 1
	return 0
}
