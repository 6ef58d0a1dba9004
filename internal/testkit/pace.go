package testkit

import (
	"sync/atomic"
	"testing"
	"time"
)

const (
	// nap is how long the watch sleeps at a time, and so how fine it measures.
	nap = 2 * time.Millisecond
	// turns is how many times a process, or one that it waits for, may have to wait for its turn on the way to what a
	// limit is for: a request, its answer, the database's, some timers.
	turns = 16
	// tries is how many times Within does something on a busy machine.
	tries = 10
	// raceSlowdown is by how much the race detector makes work longer, at most.
	raceSlowdown = 8
)

// Pace knows how late the machine lets a process run that has something to do.
type Pace struct{ worst atomic.Int64 } // nanoseconds

// Watch measures until the test ends.
func Watch(t testing.TB) *Pace {
	p, stop := watch()
	t.Cleanup(stop)
	return p
}

// watch measures until it is stopped.
func watch() (p *Pace, stop func()) {
	p = new(Pace)
	stopping, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			asleep := time.Now()
			select {
			case <-stopping:
				return
			case <-time.After(nap):
			}
			if late := int64(time.Since(asleep) - nap); late > p.worst.Load() {
				p.worst.Store(late)
			}
		}
	}()
	return p, func() {
		close(stopping)
		<-stopped
	}
}

// waited is how long something may have waited for its turns.
func (p *Pace) waited() time.Duration { return turns * time.Duration(p.worst.Load()) }

// Allow is a limit of the product on this machine: some milliseconds more on one that has nothing else to do, and as
// much more as has been waited for turns on one that has, but at most as much again.
func (p *Pace) Allow(limit time.Duration) time.Duration { return limit + min(p.waited(), limit) }

// Pause is how long a test waits for something to come about that it does not measure: as much longer as the machine is
// late. It is no limit.
func (p *Pace) Pause(least time.Duration) time.Duration { return least + p.waited() }

// Within has something done, which returns how long it took, and fails the test if it never keeps to its limit. It is
// done again only where it took longer by no more than what the machine was late meanwhile may explain.
func Within(t testing.TB, what string, limit time.Duration, do func() time.Duration) {
	t.Helper()
	within(t, what, limit, do, func() (func() time.Duration, func()) {
		p, stop := watch()
		return p.waited, stop
	})
}

// within is Within with the watch that tells how late the machine is.
func within(
	t testing.TB,
	what string,
	limit time.Duration,
	do func() time.Duration,
	watch func() (waited func() time.Duration, stop func()),
) {
	t.Helper()
	for try := 1; ; try++ {
		waited, stop := watch()
		took := func() time.Duration {
			defer stop() // also where the test ends here
			return do()
		}()
		if took <= limit {
			return
		}
		if try == tries || took-limit > waited() {
			t.Errorf("%s took %v at the %d. try, and may take %v", what, took, try, limit)
			return
		}
	}
}

// Work fails the test if what it has done takes more processor time than the limit, or, under the race detector, than
// eight times that. The time is that of the whole process, so nothing else may run in it; where the system does not
// tell it, it is the time by the clock.
func Work(t testing.TB, what string, limit time.Duration, do func()) {
	t.Helper()
	if RaceDetector {
		limit *= raceSlowdown
	}
	before := processorTime()
	do()
	took := processorTime() - before
	if took > limit {
		t.Errorf("%s took %v of processor time, and may take %v", what, took, limit)
		return
	}
	t.Logf("%s took %v of processor time", what, took)
}
