// Package testheap lets tests hold the product to limits of memory.
package testheap

import (
	"runtime"
	"runtime/debug"
	"time"
)

// Peak is by how many bytes the heap grows at most while something runs, beside what a collection would free at once.
// Nothing else may run.
func Peak(do func()) uint64 {
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
