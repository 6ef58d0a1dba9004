package testkit

import (
	"flag"
	"testing"

	_ "pgregory.net/rapid" // has the flag
)

// share is by how much less is done.
const share = 5

const checks = "100" // of a property, as rapid has it

func init() {
	if f := flag.Lookup("rapid.checks"); RaceDetector && f.DefValue == checks {
		if err := f.Value.Set("20"); err != nil {
			panic(err)
		}
	}
}

// Little is whether to do less than the whole.
func Little() bool { return RaceDetector || testing.Short() }

// Some is how many of n things alike a test looks at: all of them, or a fifth.
func Some(n int) int {
	if Little() {
		return max(n/share, 1)
	}
	return n
}

// Whole leaves a test out that cannot be made smaller, where less than the whole is to be done.
func Whole(t testing.TB) {
	t.Helper()
	if Little() {
		t.Skip("takes long: done without -short and the race detector")
	}
}
