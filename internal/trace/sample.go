package trace

import "github.com/paulmach/orb"

// maxSampled is how many points of a trace CountSampled asks for at most.
const maxSampled = 32

// Sample returns the positions that CountSampled asks for.
func Sample(points []Point) []orb.Point {
	sample := make([]orb.Point, 0, min(len(points), maxSampled))
	CountSampled(points, func(p orb.Point) bool {
		sample = append(sample, p)
		return false
	})
	return sample
}

// CountSampled counts for how many points of a trace something holds. Of a long trace it asks for a few only, evenly
// spread and with the first and the last among them; asked is their number.
func CountSampled(points []Point, holds func(orb.Point) bool) (count, asked int) {
	asked = min(len(points), maxSampled)
	for i := range asked {
		if holds(points[i*(len(points)-1)/max(asked-1, 1)].Location) {
			count++
		}
	}
	return count, asked
}
