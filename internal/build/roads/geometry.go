package roads

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

const (
	millimetres    = 1000.0
	maxMillimetres = math.MaxUint32
)

// pointDistance is the great-circle distance in metres between two points of a shape.
func pointDistance(a, b *roadgraph.Point) float64 {
	return roadgraph.Distance(float64(a.Lat)*1e-7, float64(a.Lon)*1e-7, float64(b.Lat)*1e-7, float64(b.Lon)*1e-7)
}

// bearing is the direction from a to b in radians, clockwise from north, on the flat map around a.
func bearing(a, b *roadgraph.Point) float64 {
	dx := float64(b.Lon-a.Lon) * math.Cos(float64(a.Lat)*math.Pi/180*1e-7)
	return math.Atan2(dx, float64(b.Lat-a.Lat))
}
