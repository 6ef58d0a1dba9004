// Package drives simulates drives and reads recorded ones. Of each, both the true path and the noisy trace are known.
// It knows no matcher. Start with Recipe.Simulate, which draws routes by a Router and adds noise; ReadDrives and
// ReadTrips read files.
package drives

import (
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/trace"
)

// Drive is a trace and the truth about it.
type Drive struct {
	Cell
	Trace orb.LineString // the recorded positions
	Truth orb.LineString // the road geometry driven, from the first position to the last
	Times []float64      // seconds since the first position, one for each; nil where they are not known
}

// Cell is a pair of noise and interval: a cell of the tables.
type Cell struct {
	Sigma    float64 // metres: one standard deviation of the noise, north and east alike
	Interval float64 // seconds between two positions
}

// Sigmas and Intervals are the values that the tables have rows and columns for.
var (
	Sigmas    = []float64{4, 10, 20}
	Intervals = []float64{1, 5, 15, 30, 60}
)

// Cells are all pairs of Sigmas and Intervals, in the order of the tables.
func Cells() []Cell {
	var cells []Cell
	for _, sigma := range Sigmas {
		for _, interval := range Intervals {
			cells = append(cells, Cell{sigma, interval})
		}
	}
	return cells
}

// Points are the positions of a trace as a request has them: without times and accuracies, as most traces come.
func Points(line orb.LineString) []trace.Point {
	points := make([]trace.Point, len(line))
	for i, p := range line {
		points[i] = trace.At(p.Lat(), p.Lon())
	}
	return points
}

// Timed are the positions of a drive with their times.
func (d *Drive) Timed() []trace.Point {
	points := Points(d.Trace)
	for i := range d.Times {
		points[i].Time = d.Times[i]
	}
	return points
}
