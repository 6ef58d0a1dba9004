package tilestest

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// distance is how far a position is from a segment.
func distance(a, b, p geo.Projected) float64 {
	dx, dy := float64(b.X)-float64(a.X), float64(b.Y)-float64(a.Y)
	px, py := float64(p.X)-float64(a.X), float64(p.Y)-float64(a.Y)
	t := 0.0
	if length2 := dx*dx + dy*dy; length2 > 0 {
		t = max(0, min((px*dx+py*dy)/length2, 1))
	}
	return math.Hypot(px-t*dx, py-t*dy)
}
