package matching

import (
	"math"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

const (
	// onLine is the greatest distance in metres of a location on the path from it: services round both.
	onLine = 2.0
	// sameDegrees is the greatest difference in degrees between equal positions.
	sameDegrees = 1e-7
	// placingWork is how many segments of the path are looked at for each of its coordinates and each point, at most:
	// points that are nowhere on it would have all of it looked at.
	placingWork = 32
)

// PlacePoints gives each matched tracepoint its index in the path, for the answer of a remote service. A location on
// the path becomes a coordinate of it, and the ways are adjusted. A location that is not on the rest of the path gets
// the index of the coordinate before. Distance does not change.
func (r *Result) PlacePoints() {
	most := len(r.Path) + len(r.Tracepoints)
	p := placing{path: r.Path, line: make(orb.LineString, 1, most), moved: make([]int, 1, len(r.Path)),
		work: placingWork * most}
	p.line[0] = r.Path[0]
	for i := range r.Tracepoints {
		if t := &r.Tracepoints[i]; t.Matched {
			t.Index = p.place(t.Location)
			if same(p.line[t.Index], t.Location) {
				t.Location = p.line[t.Index]
			}
		}
	}
	for len(p.moved) < len(p.path) {
		p.advance()
	}
	for i := range r.Ways {
		r.Ways[i].From, r.Ways[i].To = p.moved[r.Ways[i].From], p.moved[r.Ways[i].To]
	}
	r.Path = p.line
}

// placing adds points to a path.
type placing struct {
	path, line orb.LineString
	moved      []int // for each coordinate of path that is in line, its index there
	work       int
}

// advance moves to the next coordinate of the path.
func (p *placing) advance() {
	p.moved = append(p.moved, len(p.line))
	p.line = append(p.line, p.path[len(p.moved)-1])
}

// place moves to where a position is on the path, and returns the index of its coordinate.
func (p *placing) place(at orb.Point) int {
	last := len(p.line) - 1
	if same(p.line[last], at) {
		return last
	}
	found, nearest := -1, onLine
	for i := len(p.moved) - 1; i+1 < len(p.path) && p.work > 0; i++ {
		p.work--
		from := p.path[i]
		if i == len(p.moved)-1 {
			from = p.line[last]
		}
		d := distanceToSegment(at, from, p.path[i+1])
		if d < nearest {
			found, nearest = i, d
		} else if found >= 0 {
			break // the path leads away from it
		}
	}
	if found < 0 {
		return last
	}
	for len(p.moved)-1 < found {
		p.advance()
	}
	if same(p.path[found+1], at) {
		p.advance()
	} else if !same(p.line[len(p.line)-1], at) {
		p.line = append(p.line, at)
	}
	return len(p.line) - 1
}

func same(a, b orb.Point) bool {
	return math.Abs(geo.LongitudeDegrees(a[0]-b[0])) < sameDegrees && math.Abs(a[1]-b[1]) < sameDegrees
}

// distanceToSegment returns the distance in metres from a position to the line between two others nearby.
func distanceToSegment(at, a, b orb.Point) float64 {
	const metres = 111195.0 // of a degree
	shrink := math.Cos(at[1] * math.Pi / 180)
	ax, ay := geo.LongitudeDegrees(a[0]-at[0])*shrink, a[1]-at[1]
	dx, dy := geo.LongitudeDegrees(b[0]-a[0])*shrink, b[1]-a[1]
	share := 0.0
	if n := dx*dx + dy*dy; n > 0 {
		share = min(max(-(ax*dx+ay*dy)/n, 0), 1)
	}
	return metres * math.Hypot(ax+share*dx, ay+share*dy)
}
