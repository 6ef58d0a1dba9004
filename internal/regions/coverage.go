package regions

import "github.com/paulmach/orb"

// Partial is implemented by engines that cover only a part of the Earth. Others are assumed to cover all of it.
type Partial interface {
	// Covers reports whether a position is in that part. It is safe for concurrent use.
	Covers(p orb.Point) bool
}

// BestCovering returns the index of the first candidate that covers all positions, or else of the first of those that
// cover most, and how many it covers. measure returns how many positions of how many a candidate covers, or a negative
// number to skip it. It is not called for candidates after one that covers all. If all are skipped, best is -1.
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

// CoversPoint is a measure for BestCovering of one position.
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
