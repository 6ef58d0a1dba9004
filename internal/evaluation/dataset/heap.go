package dataset

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// heapWatch looks every few milliseconds at how much of the heap is in use.
type heapWatch struct {
	before, most uint64
	end          chan struct{}
	ended        chan struct{}
}

const heapInterval = 5 * time.Millisecond

func watchHeap() *heapWatch {
	runtime.GC()
	h := &heapWatch{end: make(chan struct{}), ended: make(chan struct{})}
	h.before = heapInUse()
	h.most = h.before
	go func() {
		defer close(h.ended)
		ticker := time.NewTicker(heapInterval)
		defer ticker.Stop()
		for {
			h.most = max(h.most, heapInUse())
			select {
			case <-h.end:
				return
			case <-ticker.C:
			}
		}
	}()
	return h
}

// stop is the most that was in use at a time, less what was in use before.
func (h *heapWatch) stop() int64 {
	close(h.end)
	<-h.ended
	return int64(max(h.most, heapInUse()) - h.before)
}

func heapInUse() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
