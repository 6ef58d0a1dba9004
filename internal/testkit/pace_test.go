package testkit

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// recorder is a test that notes whether it failed.
type recorder struct {
	testing.TB
	failures []string
}

func (*recorder) Helper()             {}
func (*recorder) Logf(string, ...any) {}
func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// lates are the machines that the tests run on, by how long a turn has to be waited for.
var lates = []time.Duration{
	0, time.Millisecond, 20 * time.Millisecond, time.Second, time.Hour, math.MaxInt64 / turns / 2,
}

// pace is that of a machine that was late.
func pace(late time.Duration) *Pace {
	p := new(Pace)
	p.worst.Store(int64(late))
	return p
}

// However busy a machine is, three times the limit is never allowed, and the limit always is.
func TestAllowIsBounded(t *testing.T) {
	for _, late := range lates {
		for _, limit := range []time.Duration{time.Microsecond, 50 * time.Millisecond, time.Second, time.Minute} {
			if got := pace(late).Allow(limit); got < limit || got >= 3*limit {
				t.Errorf("%v late: a limit of %v is %v", late, limit, got)
			}
		}
	}
	if got := pace(time.Millisecond).Allow(time.Second); got != time.Second+turns*time.Millisecond {
		t.Errorf("a millisecond late: %v", got)
	}
}

// A step that always takes too long fails after a bounded number of tries, however busy the machine is, and at once if
// the machine has nothing else to do.
func TestWithin(t *testing.T) {
	const limit = 50 * time.Millisecond
	for _, late := range lates {
		for _, tt := range []struct {
			name  string
			took  func(try int) time.Duration
			fails func(waited time.Duration) bool
			most  int
		}{
			{"in time", func(int) time.Duration { return limit }, func(time.Duration) bool { return false }, 1},
			{"just too long", func(int) time.Duration { return limit + 1 }, func(time.Duration) bool { return true }, tries},
			{"three times as long", func(int) time.Duration { return 3 * limit }, func(time.Duration) bool { return true },
				tries},
			{"an hour", func(int) time.Duration { return time.Hour }, func(time.Duration) bool { return true }, tries},
			{"late once", func(try int) time.Duration {
				if try == 1 {
					return 3 * limit
				}
				return limit / 2
			}, func(waited time.Duration) bool { return waited < 2*limit }, 2},
		} {
			var r recorder
			done, stopped := 0, 0
			within(&r, "it", limit, func() time.Duration { done++; return tt.took(done) },
				func() (func() time.Duration, func()) { return pace(late).waited, func() { stopped++ } })
			if want := tt.fails(pace(late).waited()); want != (len(r.failures) == 1) || len(r.failures) > 1 {
				t.Errorf("%s, %v late: failures %q", tt.name, late, r.failures)
			}
			if done > tt.most || late == 0 && done > 1 || stopped != done {
				t.Errorf("%s, %v late: done %d times, watched %d times", tt.name, late, done, stopped)
			}
		}
	}
}

// TestWithinForReal breaks a limit by the clock, on this machine as it is.
func TestWithinForReal(t *testing.T) {
	t.Parallel()
	sleep := func(d time.Duration) func() time.Duration {
		return func() time.Duration {
			began := time.Now()
			time.Sleep(d)
			return time.Since(began)
		}
	}
	var broken recorder
	Within(&broken, "sleeping", 20*time.Millisecond, sleep(60*time.Millisecond))
	if len(broken.failures) != 1 {
		t.Errorf("three times the limit: failures %q", broken.failures)
	}
	Within(t, "sleeping", time.Second, sleep(10*time.Millisecond))
}

// Waiting is no work, and work is counted as such.
func TestWork(t *testing.T) {
	const limit = 40 * time.Millisecond
	busy := func(d time.Duration) func() {
		return func() {
			for began := ProcessorTime(); ProcessorTime()-began < d; {
			}
		}
	}
	broken := 3 * limit
	if RaceDetector {
		broken *= raceSlowdown
	}
	var r recorder
	Work(&r, "computing", limit, busy(broken))
	if len(r.failures) != 1 {
		t.Errorf("three times the limit: failures %q", r.failures)
	}
	Work(t, "computing", 50*limit, busy(limit))
}

// TestWatch: no timer is early, so that some lateness is always seen.
func TestWatch(t *testing.T) {
	p, stop := watch()
	time.Sleep(10 * nap)
	stop()
	if p.worst.Load() <= 0 {
		t.Errorf("never late, not even by %v", time.Duration(p.worst.Load()))
	}
}
