// Package testpace lets tests hold the product to limits of time on machines that do other work as well.
package testpace

import (
	"sync/atomic"
	"testing"
	"time"
)

// Pace knows how late the machine lets a process run that has something to do.
type Pace struct{ worst atomic.Int64 } // nanoseconds

const (
	// nap is how long the watch sleeps at a time, and so how fine it measures.
	nap = 2 * time.Millisecond
	// turns is how many times a process, or one that it waits for, may have to wait for its turn on the way to what a
	// limit is for: a request, its answer, the database's, some timers.
	turns = 16
	// raceSlowdown is by how much the race detector makes work longer, at most.
	raceSlowdown = 8
)

// Watch measures until the test ends.
func Watch(t testing.TB) *Pace {
	p := new(Pace)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			asleep := time.Now()
			select {
			case <-stop:
				return
			case <-time.After(nap):
			}
			if late := int64(time.Since(asleep) - nap); late > p.worst.Load() {
				p.worst.Store(late)
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		<-stopped
	})
	return p
}

// Allow is a limit of the product on this machine: some milliseconds more on one that has nothing else to do, and as
// much more as has been waited for turns on one that has.
func (p *Pace) Allow(limit time.Duration) time.Duration {
	return limit + turns*time.Duration(p.worst.Load())
}

// AllowWork is Allow for a limit of what takes processor time, which the race detector makes longer.
func (p *Pace) AllowWork(limit time.Duration) time.Duration {
	if RaceDetector {
		limit *= raceSlowdown
	}
	return p.Allow(limit)
}
