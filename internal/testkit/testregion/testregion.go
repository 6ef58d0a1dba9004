// Package testregion makes region files for tests: small ones by hand, that of the village in testdata, and those of
// extracts, compiled in this process or by a binary (Builder). Start with Village.
package testregion

import (
	"slices"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// Places that a test's region may cover.
func Dover() orb.Point    { return orb.Point{-75.52, 39.16} }
func Newcomer() orb.Point { return orb.Point{-75.0, 40.0} }

// Write writes a region without places and roads that covers some positions, and renames it into place. Its coverage is
// padded to about the given number of words, each of 4 bytes, with tiles that are nowhere.
func Write(t testing.TB, path string, data time.Time, words int, covers ...orb.Point) {
	t.Helper()
	var coverage []uint32
	for _, p := range covers {
		coverage = append(coverage, region.CoverageTile(p))
	}
	slices.Sort(coverage)
	for i := 2 * len(coverage); i < words; i += 2 { // a tile that is beside no other takes two words
		coverage = append(coverage, 1<<24+uint32(i)) // behind those that are somewhere
	}
	w := new(region.Writer)
	region.AddCoverage(w, coverage)
	if err := w.Commit(t.Context(), path, region.Meta{Timestamp: data}); err != nil {
		t.Fatal(err)
	}
}
