package trace

import "github.com/paulmach/orb"

// maxSampled limits the points that CountSampled checks.
const maxSampled = 32

// Sample returns the positions that CountSampled checks.
func Sample(points []Point) []orb.Point {
	sample := make([]orb.Point, 0, min(len(points), maxSampled))
	CountSampled(points, func(p orb.Point) bool {
		sample = append(sample, p)
		return false
	})
	return sample
}

// CountSampled counts the points of a trace for which something holds. Of a long trace it checks only a few, evenly
// spread, the first and the last included; asked is their number.
func CountSampled(points []Point, holds func(orb.Point) bool) (count, asked int) {
	asked = min(len(points), maxSampled)
	for i := range asked {
		if holds(points[i*(len(points)-1)/max(asked-1, 1)].Location) {
			count++
		}
	}
	return count, asked
}
