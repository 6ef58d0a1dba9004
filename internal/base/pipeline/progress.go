package pipeline

import (
	"sync"
	"time"
)

// Bar reports the progress of stages, with a bounded rate and without concurrent calls. It is safe for concurrent use.
// A nil Bar reports nothing.
type Bar struct {
	mu          sync.Mutex
	report      func(stage string, done, total int64)
	stage       string
	done, total int64
	last        time.Time
}

// interval is the shortest time between two reports, except those of the start and the end of a stage.
const interval = 50 * time.Millisecond

// NewBar returns a Bar that calls report, which may be nil. done equals total only at the end of a stage.
func NewBar(report func(stage string, done, total int64)) *Bar { return &Bar{report: report} }

// Split starts a stage of several concurrent parts of equal size, and returns a Bar for each. stages are the numbers of
// stages of these Bars.
func (b *Bar) Split(stage string, stages ...int) []*Bar {
	const part = 1 << 20
	b.Start(stage, part*int64(len(stages)))
	bars := make([]*Bar, len(stages))
	for i, n := range stages {
		share, before := part/int64(n), int64(0)
		bars[i] = NewBar(func(_ string, done, total int64) {
			now := share * done / total
			b.Add(now - before)
			before = now % share // the next stage starts at 0
		})
	}
	return bars
}

// Start starts a stage of total steps, such as bytes or objects, which take about the same time each.
func (b *Bar) Start(stage string, total int64) {
	b.update(true, func() { b.stage, b.done, b.total = stage, 0, max(total, 1) })
}

// Add counts finished steps. Only Finish counts the last one.
func (b *Bar) Add(n int64) { b.update(false, func() { b.done = min(b.done+n, b.total-1) }) }

// Finish ends a stage.
func (b *Bar) Finish() { b.update(true, func() { b.done = b.total }) }

// Stop stops all reports.
func (b *Bar) Stop() { b.update(false, func() { b.report = nil }) }

// update changes the state, and reports it if report is set or interval has passed. Steps before the first stage are
// not reported.
func (b *Bar) update(report bool, change func()) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
	if now := time.Now(); b.report != nil && b.stage != "" && (report || now.Sub(b.last) >= interval) {
		b.last = now
		b.report(b.stage, b.done, b.total)
	}
}
