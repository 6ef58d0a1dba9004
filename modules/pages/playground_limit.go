package pages

import (
	"sync"
	"time"
)

const (
	windowLength = time.Minute
	// windowEach is how many tokens an address gets in a window. A page needs one in eleven minutes.
	windowEach = 30
	// windowAddresses bounds the memory: further addresses get nothing until the next window.
	windowAddresses = 10_000
)

// window counts what addresses take, from one minute to the next.
type window struct {
	now func() time.Time

	mu    sync.Mutex
	ends  time.Time
	taken map[string]int // by address
}

func newWindow(now func() time.Time) *window { return &window{now: now} }

// take counts one for an address. Where there is none left, it returns for how long to wait.
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
