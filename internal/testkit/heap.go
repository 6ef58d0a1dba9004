package testkit

import (
	"runtime"
	"runtime/debug"
	"time"
)

// PeakHeap is by how many bytes the heap grows at most while something runs, beside what a collection would free at
// once. Nothing else may run.
func PeakHeap(do func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	most := before.HeapAlloc
	look := func() {
		runtime.ReadMemStats(&now)
		most = max(most, now.HeapAlloc)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticks := time.NewTicker(time.Millisecond)
		defer ticks.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticks.C:
				look()
			}
		}
	}()
	do()
	close(stop)
	<-stopped
	look()
	return most - before.HeapAlloc
}
