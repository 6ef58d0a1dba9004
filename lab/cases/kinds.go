package cases

import (
	"math"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// crowded finds a place with many streets around.
func (f *finder) crowded(arcs []uint32) (orb.Point, bool) {
	const reach, enough = 150.0, 40
	at, _ := f.middle(arcs[len(arcs)/2])
	return at, len(f.around(at, reach)) >= enough
}

// parallel finds a place in a town where the road has another one beside it for three arcs on end, which is not its own
// other carriageway.
func (f *finder) parallel(arcs []uint32) (orb.Point, bool) {
	const inRow, shortest, reach, enough = 3, 60.0, 150.0, 25
	row := 0
	for i, arc := range arcs {
		if f.lengthOf(arc) < shortest {
			continue
		}
		if row++; !f.hasNeighbour(arc) {
			row = 0
		}
		if row == inRow {
			at, _ := f.middle(arcs[i-1])
			return at, len(f.around(at, reach)) >= enough
		}
	}
	return orb.Point{}, false
}

// hasNeighbour reports whether another road runs along the middle of an arc, 10 to 35 m away.
func (f *finder) hasNeighbour(arc uint32) bool {
	at, direction := f.middle(arc)
	own := f.graph.Name(f.graph.Arc(arc).Number >> 1)
	for _, h := range f.around(at, 35) {
		if h.Distance < 10 || f.graph.Name(h.Edge) == own {
			continue
		}
		_, other := f.along(h.Edge, float64(h.Offset)/1000)
		if math.Abs(math.Sin(other-direction)) < 0.1 {
			return true
		}
	}
	return false
}

// roundabout finds one that is not driven past at its first exit.
func (f *finder) roundabout(arcs []uint32) (orb.Point, bool) {
	const exits = 2
	row := 0
	for _, arc := range arcs {
		if !f.edgeOf(arc).Flags.Has(roadgraph.Roundabout) {
			row = 0
			continue
		}
		if row++; row == exits {
			at, _ := f.middle(arc)
			return at, true
		}
	}
	return orb.Point{}, false
}

// oneWay finds a one-way street that is no carriageway of a larger road.
func (f *finder) oneWay(arcs []uint32) (orb.Point, bool) {
	const shortest, row = 60.0, 2
	n := 0
	for _, arc := range arcs {
		s := f.edgeOf(arc)
		oneWay := s.Flags.Has(roadgraph.Forward) != s.Flags.Has(roadgraph.Backward)
		street := s.Class >= region.Unclassified && s.Class <= region.LivingStreet
		if !oneWay || !street || s.Flags&(roadgraph.Roundabout|roadgraph.Link) != 0 || f.lengthOf(arc) < shortest {
			n = 0
			continue
		}
		if n++; n == row {
			at, _ := f.middle(arc)
			return at, true
		}
	}
	return orb.Point{}, false
}

func (f *finder) edgeOf(arc uint32) roadgraph.Edge {
	edge, _ := f.graph.EdgeOf(arc)
	return f.graph.Edge(edge)
}

func (f *finder) lengthOf(arc uint32) float64 { return float64(f.graph.Arc(arc).Length) / 1000 }

// nearestTo is the index of the position nearest to a place.
func nearestTo(line orb.LineString, p orb.Point) int {
	best := 0
	distance := func(i int) float64 { return geo.Distance(line[i].Lat(), line[i].Lon(), p.Lat(), p.Lon()) }
	for i := range line {
		if distance(i) < distance(best) {
			best = i
		}
	}
	return best
}
