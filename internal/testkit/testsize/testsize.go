// Package testsize tells tests of pure computation how much of it they do. In a short run (go test -short) that is
// little, so that there is an answer soon. Under the race detector it is as little, because it makes each step ten
// times as long and can find nothing in steps that share no memory. The whole is done without either.
//
// A package that imports this one has the race detector run a fifth of the checks of each property, which is what a
// short run does; -rapid.checks is as many as it says.
package testsize

import (
	"flag"
	"testing"

	_ "pgregory.net/rapid" // has the flag

	"github.com/mapsedge/caddy-maps/internal/testkit/testpace"
)

// share is by how much less is done.
const share = 5

const checks = "100" // of a property, as rapid has it

func init() {
	if f := flag.Lookup("rapid.checks"); testpace.RaceDetector && f.DefValue == checks {
		if err := f.Value.Set("20"); err != nil {
			panic(err)
		}
	}
}

// Little is whether to do less than the whole.
func Little() bool { return testpace.RaceDetector || testing.Short() }

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
