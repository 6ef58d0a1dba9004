package extract

import (
	"sync"
	"time"
)

// progress passes on how far a stage has come: never concurrently, and not more often than somebody can watch.
type progress struct {
	report func(stage string, done, total int64)

	mu          sync.Mutex
	stage       string
	done, total int64
	last        time.Time
}

// interval is the shortest time between two reports of a stage.
const interval = 50 * time.Millisecond

// start begins a stage of total steps (bytes or objects).
func (p *progress) start(stage string, total int64) {
	if p.report == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stage, p.done, p.total, p.last = stage, 0, total, time.Now()
	p.report(stage, 0, total)
}

func (p *progress) add(n int64) {
	if p.report == nil || n == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stage == "" {
		return // what is looked at to tell a file's format belongs to no stage
	}
	p.done = min(p.done+n, p.total)
	if now := time.Now(); now.Sub(p.last) >= interval {
		p.last = now
		p.report(p.stage, p.done, p.total)
	}
}

// finish ends a stage, whatever was counted.
func (p *progress) finish() {
	if p.report == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = p.total
	p.report(p.stage, p.done, p.total)
}
