// Package progress tells how far a build has come.
package progress

import (
	"sync"
	"time"
)

// Bar passes on how far a stage has come: never concurrently, and not more often than somebody can watch. A nil Bar
// tells nobody. It is safe for use by any number of goroutines.
type Bar struct {
	report func(stage string, done, total int64)

	mu          sync.Mutex
	stage       string
	done, total int64
	last        time.Time
}

// interval is the shortest time between two reports of a stage.
const interval = 50 * time.Millisecond

// New makes a Bar that calls report, which may be nil, with how much of a stage is done; done equals total at its end
// and not before.
func New(report func(stage string, done, total int64)) *Bar {
	if report == nil {
		return nil
	}
	return &Bar{report: report}
}

// Start begins a stage of total steps: bytes, objects, or what else takes about the same time each.
func (b *Bar) Start(stage string, total int64) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stage, b.done, b.total, b.last = stage, 0, max(total, 1), time.Now()
	b.tell()
}

// Add counts steps that are done. The last one is for Finish to count.
func (b *Bar) Add(n int64) {
	if b == nil || n == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stage == "" {
		return // what is looked at to tell a file's format belongs to no stage
	}
	b.done = min(b.done+n, b.total-1)
	if now := time.Now(); now.Sub(b.last) >= interval {
		b.last = now
		b.tell()
	}
}

// Finish ends a stage, whatever was counted.
func (b *Bar) Finish() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done = b.total
	b.tell()
}

// Stop has the Bar tell nobody any more, whoever goes on counting.
func (b *Bar) Stop() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.report = nil
}

func (b *Bar) tell() {
	if b.report != nil {
		b.report(b.stage, b.done, b.total)
	}
}
