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

	// whole is the Bar that this one is a part of, and share how much of it each stage is.
	whole *Bar
	share int64
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

// Split begins a stage of several parts that are worked on at a time, of equal size, and returns a Bar for each. Given
// is for each part how many stages its Bar will have.
func (b *Bar) Split(stage string, stages ...int) []*Bar {
	const part = 1 << 20
	parts := make([]*Bar, len(stages))
	if b == nil {
		return parts
	}
	b.Start(stage, int64(len(stages))*part)
	for i, n := range stages {
		parts[i] = &Bar{whole: b, share: part / int64(n)}
	}
	return parts
}

// Start begins a stage of total steps: bytes, objects, or what else takes about the same time each.
func (b *Bar) Start(stage string, total int64) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(b.total - b.done) // of the stage before
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
	b.add(min(n, b.total-1-b.done))
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
	b.add(b.total - b.done)
	b.tell()
}

// add counts steps, and what they are of the whole.
func (b *Bar) add(n int64) {
	before := b.done
	b.done += n
	if b.whole != nil && b.total > 0 {
		b.whole.Add(b.share*b.done/b.total - b.share*before/b.total)
	}
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
