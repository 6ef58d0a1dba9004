package testkit

import (
	"flag"
	"testing"

	_ "pgregory.net/rapid" // has the flag
)

// share is the divisor of reduced runs.
const share = 5

const checks = "100" // rapid's default per property

func init() {
	if f := flag.Lookup("rapid.checks"); RaceDetector && f.DefValue == checks {
		if err := f.Value.Set("20"); err != nil {
			panic(err)
		}
	}
}

// Little reports whether tests do a part of their work: with -short and under the race detector.
func Little() bool { return RaceDetector || testing.Short() }

// Some returns how many of n similar cases a test checks: all, or a fifth.
func Some(n int) int {
	if Little() {
		return max(n/share, 1)
	}
	return n
}

// Whole skips a test that cannot be made smaller where tests do a part of their work.
func Whole(t testing.TB) {
	t.Helper()
	if Little() {
		t.Skip("takes long: done without -short and the race detector")
	}
}
