package testkit

import (
	"sync/atomic"
	"testing"
	"time"
)

const (
	// nap is how long the watch sleeps at a time, and so its resolution.
	nap = 2 * time.Millisecond
	// turns is how often a measured step may wait for the scheduler: in the request, its answer, the database, timers.
	turns = 16
	// tries is how often Within measures on a busy machine.
	tries = 10
	// raceSlowdown is the largest factor by which the race detector slows work down.
	raceSlowdown = 8
)

// Pace measures how late the machine schedules a process that has work to do.
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

// waited is how long a measured step may have waited for the scheduler.
func (p *Pace) waited() time.Duration { return turns * time.Duration(p.worst.Load()) }

// Allow returns a limit of the product for this machine: longer by the time that was waited for the scheduler, and at
// most twice as long.
func (p *Pace) Allow(limit time.Duration) time.Duration { return limit + min(p.waited(), limit) }

// Pause returns how long a test waits for a state that it does not measure: longer by as much as the machine is late.
func (p *Pace) Pause(least time.Duration) time.Duration { return least + p.waited() }

// Within calls do, which returns how long a step took, and fails the test if that is over the limit. It measures again
// only if the machine's lateness can explain the excess.
func Within(t testing.TB, what string, limit time.Duration, do func() time.Duration) {
	t.Helper()
	within(t, what, limit, do, func() (func() time.Duration, func()) {
		p, stop := watch()
		return p.waited, stop
	})
}

// within is Within with a watch that tests replace.
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

// Work fails the test if do takes more processor time than the limit, or eight times that under the race detector. The
// time is that of the whole process, so nothing else may run in it. Where the system does not report it, the wall time
// counts.
func Work(t testing.TB, what string, limit time.Duration, do func()) {
	t.Helper()
	if RaceDetector {
		limit *= raceSlowdown
	}
	before := ProcessorTime()
	do()
	took := ProcessorTime() - before
	if took > limit {
		t.Errorf("%s took %v of processor time, and may take %v", what, took, limit)
		return
	}
	t.Logf("%s took %v of processor time", what, took)
}
