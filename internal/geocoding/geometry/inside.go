package geometry

import (
	"math"
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

// Inner is a point of the geometry: of an area, one inside it; of a line, one near its middle.
func (g *Geometry) Inner() orb.Point {
	switch g.Shape {
	case Area:
		y := (float64(g.Box.MinY) + float64(g.Box.MaxY)) / 2
		if x, ok := g.Inside(y); ok {
			return orb.Point{x / UnitsPerDegree, y / UnitsPerDegree}
		}
	case Line:
		return g.halfway()
	}
	return Coord{g.Box.MinX, g.Box.MinY}.Point()
}

// halfway returns the middle of the piece of a line that is nearest to the middle of its box. Most lines are one piece.
func (g *Geometry) halfway() (middle orb.Point) {
	x, y := (float64(g.Box.MinX)+float64(g.Box.MaxX))/2, (float64(g.Box.MinY)+float64(g.Box.MaxY))/2
	nearest := math.Inf(1)
	for line := range g.Lines {
		left := 0.0
		for i := range line[1:] {
			left += Distance(line[i], line[i+1]) / 2
		}
		for i := range line[1:] {
			a, b := line[i], line[i+1]
			if length := Distance(a, b); left > length {
				left -= length
				continue
			} else if length > 0 {
				t := left / length
				p := orb.Point{float64(a.X) + t*(float64(b.X)-float64(a.X)), float64(a.Y) + t*(float64(b.Y)-float64(a.Y))}
				if d := math.Hypot(p[0]-x, p[1]-y); d < nearest {
					nearest, middle = d, orb.Point{p[0] / UnitsPerDegree, p[1] / UnitsPerDegree}
				}
			}
			break
		}
	}
	return middle
}
