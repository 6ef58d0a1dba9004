package geometry

import (
	"slices"

	"github.com/paulmach/orb"
)

// Inside returns the middle of the widest stretch of an area at a latitude.
func (g *Geometry) Inside(y float64) (x float64, ok bool) {
	var xs []float64
	for line := range g.Lines {
		for i := 1; i < len(line); i++ {
			a, b := line[i-1], line[i]
			if ay, by := float64(a.Y), float64(b.Y); (ay > y) != (by > y) {
				xs = append(xs, float64(a.X)+(float64(b.X)-float64(a.X))*(y-ay)/(by-ay))
			}
		}
	}
	slices.Sort(xs)
	width := -1.0
	for i := 0; i+1 < len(xs); i += 2 {
		if w := xs[i+1] - xs[i]; w > width {
			width, x, ok = w, (xs[i]+xs[i+1])/2, true
		}
	}
	return x, ok
}

// Inner is a point of the geometry: of an area, one inside it.
func (g *Geometry) Inner() orb.Point {
	if g.Shape == Area {
		y := (float64(g.Box.MinY) + float64(g.Box.MaxY)) / 2
		if x, ok := g.Inside(y); ok {
			return orb.Point{x / UnitsPerDegree, y / UnitsPerDegree}
		}
	}
	return Coord{g.Box.MinX, g.Box.MinY}.Point()
}
