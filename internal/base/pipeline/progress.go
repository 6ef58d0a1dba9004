// Package progress tells how far a build has come.
package pipeline

import (
	"sync"
	"time"
)

// Bar passes on how far a stage has come: never concurrently, and not more often than somebody can watch. A nil Bar
// tells nobody. It is safe for use by any number of goroutines.
type Bar struct {
	mu          sync.Mutex
	report      func(stage string, done, total int64)
	stage       string
	done, total int64
	last        time.Time
}

// interval is the shortest time between two reports of a stage, but for those of its beginning and its end.
const interval = 50 * time.Millisecond

// NewBar makes a Bar that calls report, which may be nil, with how much of a stage is done; done equals total at its end
// and not before.
func NewBar(report func(stage string, done, total int64)) *Bar { return &Bar{report: report} }

// Split begins a stage of several parts that are worked on at a time, of equal size, and returns a Bar for each. Given
// is for each part how many stages its Bar will have.
func (b *Bar) Split(stage string, stages ...int) []*Bar {
	const part = 1 << 20
	b.Start(stage, part*int64(len(stages)))
	bars := make([]*Bar, len(stages))
	for i, n := range stages {
		share, before := part/int64(n), int64(0)
		bars[i] = NewBar(func(_ string, done, total int64) {
			now := share * done / total
			b.Add(now - before)
			before = now % share // the next stage begins with nothing
		})
	}
	return bars
}

// Start begins a stage of total steps: bytes, objects, or what else takes about the same time each.
func (b *Bar) Start(stage string, total int64) {
	b.update(true, func() { b.stage, b.done, b.total = stage, 0, max(total, 1) })
}

// Add counts steps that are done. The last one is for Finish to count.
func (b *Bar) Add(n int64) { b.update(false, func() { b.done = min(b.done+n, b.total-1) }) }

// Finish ends a stage, whatever was counted.
func (b *Bar) Finish() { b.update(true, func() { b.done = b.total }) }

// Stop has the Bar tell nobody any more, whoever goes on counting.
func (b *Bar) Stop() { b.update(false, func() { b.report = nil }) }

// update changes what is told, and tells it if it has to, or if the last time is long enough ago. What is counted
// before the first stage, when formats are told from the first bytes of files, is not told.
func (b *Bar) update(tell bool, change func()) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
	if now := time.Now(); b.report != nil && b.stage != "" && (tell || now.Sub(b.last) >= interval) {
		b.last = now
		b.report(b.stage, b.done, b.total)
	}
}
