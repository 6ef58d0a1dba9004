// Package coverage decides who answers a request: of several that know a part of the Earth each, the first that covers
// all that is asked about, or else the one that covers most of it.
package regions

import "github.com/paulmach/orb"

// Partial is what knows a part of the Earth. Whoever does not implement it is taken to cover all of it.
type Partial interface {
	// Covers reports whether a position lies in that part. It may be called by several goroutines at a time.
	Covers(p orb.Point) bool
}

// BestCovering returns the index of the first candidate that covers everything, or else of the first of those that cover most.
// measure tells how many of how many positions a candidate covers; a negative number leaves the candidate out. It is
// not asked about candidates behind one that covers everything. Where all are left out, best is -1. covered is what
// measure said of the best.
func BestCovering[T any](candidates []T, measure func(T) (covered, of int)) (best, covered int) {
	best, covered = -1, -1
	for i, candidate := range candidates {
		part, of := measure(candidate)
		if part > covered {
			best, covered = i, part
		}
		if part == of {
			return i, part
		}
	}
	return best, covered
}

// CoversPoint measures whether a candidate covers a position, for Best.
func CoversPoint(candidate any, p orb.Point) (covered, of int) {
	if c, partial := candidate.(Partial); partial && !c.Covers(p) {
		return 0, 1
	}
	return 1, 1
}

// AnyCovers reports whether one of several covers a position.
func AnyCovers[T Partial](all []T, p orb.Point) bool {
	for _, c := range all {
		if c.Covers(p) {
			return true
		}
	}
	return false
}
