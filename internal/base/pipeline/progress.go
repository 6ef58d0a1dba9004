package pipeline

import (
	"sync"
	"time"
)

// Bar reports the progress of work that has stages, one after the other. It never calls its function concurrently, and
// only as often as people can read. A nil Bar reports nothing. All methods are safe for concurrent use.
type Bar struct {
	mu          sync.Mutex
	report      func(stage string, done, total int64)
	stage       string
	done, total int64
	last        time.Time
}

// interval is the shortest time between two reports of a stage, apart from those at its beginning and end.
const interval = 50 * time.Millisecond

// NewBar makes a Bar that calls report, which may be nil. Done equals total at the end of a stage and not before.
func NewBar(report func(stage string, done, total int64)) *Bar { return &Bar{report: report} }

// Split begins a stage of several parts of equal size that are worked on concurrently, and returns a Bar for each. Its
// arguments are the numbers of stages that these Bars will have.
func (b *Bar) Split(stage string, stages ...int) []*Bar {
	const part = 1 << 20
	b.Start(stage, part*int64(len(stages)))
	bars := make([]*Bar, len(stages))
	for i, n := range stages {
		share, before := part/int64(n), int64(0)
		bars[i] = NewBar(func(_ string, done, total int64) {
			now := share * done / total
			b.Add(now - before)
			before = now % share // 0 for the next stage
		})
	}
	return bars
}

// Start begins a stage of total steps, such as bytes or objects.
func (b *Bar) Start(stage string, total int64) {
	b.update(true, func() { b.stage, b.done, b.total = stage, 0, max(total, 1) })
}

// Add counts n more steps. The last step is left to Finish.
func (b *Bar) Add(n int64) { b.update(false, func() { b.done = min(b.done+n, b.total-1) }) }

// Finish ends a stage: all of its steps are done.
func (b *Bar) Finish() { b.update(true, func() { b.done = b.total }) }

// Stop ends all reports, even if other goroutines go on counting.
func (b *Bar) Stop() { b.update(false, func() { b.report = nil }) }

// update changes the counts, and reports them if it must or if the last report is long enough ago. Steps before the
// first stage, such as the first bytes of files, are not reported.
func (b *Bar) update(must bool, change func()) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
	if now := time.Now(); b.report != nil && b.stage != "" && (must || now.Sub(b.last) >= interval) {
		b.last = now
		b.report(b.stage, b.done, b.total)
	}
}
