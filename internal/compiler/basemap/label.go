package basemap

import (
	"slices"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
	"github.com/mapsedge/caddy-maps/internal/tiles/mapfile"
)

// labelRows is how many rows of an area are searched for the place of its label. It is odd, so that one is in the
// middle.
const labelRows = 7

// labelPoint returns a position inside an area: of some rows through it, the middle of the longest stretch inside.
func labelPoint(rings []clip.Ring) geo.Projected {
	box := boundsOf(&mapfile.Shape{Rings: rings})
	best, widest := rings[0][0], int32(-1) // for an area of no height
	var crossings []int32
	for i := range int64(labelRows) {
		row := (labelRows/2 + (i+1)/2*(1-i%2*2) + labelRows) % labelRows // from the middle outwards
		// Half a unit off, so that no vertex is on the row.
		y := float64(box.Min.Y) + float64(int64(box.Max.Y-box.Min.Y)*(2*row+1)/(2*labelRows)) + 0.5
		crossings = crossings[:0]
		for _, ring := range rings {
			crossings = appendCrossings(crossings, ring, y)
		}
		slices.Sort(crossings)
		for k := 0; k+1 < len(crossings); k += 2 {
			if width := crossings[k+1] - crossings[k]; width > widest {
				best, widest = geo.Projected{X: crossings[k] + width/2, Y: int32(y)}, width
			}
		}
	}
	return best
}

// appendCrossings appends the positions at which a ring crosses a row, rounded to the west.
func appendCrossings(crossings []int32, ring clip.Ring, y float64) []int32 {
	a := ring[len(ring)-1]
	for _, b := range ring {
		if (float64(a.Y) < y) != (float64(b.Y) < y) {
			x := float64(a.X) + (y-float64(a.Y))*float64(b.X-a.X)/float64(b.Y-a.Y)
			crossings = append(crossings, int32(x))
		}
		a = b
	}
	return crossings
}
