package routing

import (
	"cmp"
	"math"
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"

	sphere "github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// place is a waypoint on a road.
type place struct {
	edge     uint32
	offset   float64 // metres from the edge's first node
	point    orb.Point
	distance float64 // metres from the waypoint
	isolated bool
	// from and to are the ends of routes that begin and end here.
	from, to []end
}

// snapRadii are the distances in metres within which roads are looked for: most places are near one.
var snapRadii = [...]float64{35, 150, 400, MaxRadius}

// defaultWithin is how much the direction of travel may differ from a heading, in degrees.
const defaultWithin = 45.0

// snap finds the road nearest to a waypoint that leads to the rest of the network. isolated allows other roads.
func (w *worker) snap(m *metric, at *Waypoint, isolated bool) (p place, ok bool) {
	limit := min(cmp.Or(at.Radius, MaxRadius), MaxRadius)
	for _, radius := range snapRadii {
		radius = min(radius, limit)
		w.hits = m.Graph.Near(at.Location.Lat(), at.Location.Lon(), radius, w.hits[:0])
		slices.SortFunc(w.hits, compareHits)
		for i, hit := range w.hits {
			if p, ok = w.place(m, at, hit); ok && (isolated || !p.isolated) {
				w.addSame(m, at, &p, w.hits[i+1:])
				return p, true
			}
		}
		if radius == limit {
			break
		}
	}
	return p, false
}

// addSame adds the ends of other roads at a place: a waypoint at a junction is on all of them.
func (w *worker) addSame(m *metric, at *Waypoint, p *place, hits []roadgraph.Hit) {
	const same = 0.01 // metres
	for _, hit := range hits {
		if hit.Distance > p.distance+same {
			return
		}
		if q, ok := w.place(m, at, hit); ok && q.isolated == p.isolated && distance(p.point, q.point) < same {
			p.from, p.to = append(p.from, q.from...), append(p.to, q.to...)
		}
	}
}

func compareHits(a, b roadgraph.Hit) int {
	return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.Edge, b.Edge))
}

// place returns a waypoint on an edge, or false if no route may begin or end there.
func (w *worker) place(m *metric, at *Waypoint, hit roadgraph.Hit) (p place, ok bool) {
	g := m.Graph
	e := g.Edge(hit.Edge)
	length := float64(e.Length) / 1000
	p = place{edge: hit.Edge, offset: min(float64(hit.Offset)/1000, length), distance: hit.Distance,
		isolated: m.isolated(hit.Edge)}
	p.point = g.At(hit.Edge, p.offset)
	first, last := m.ends(hit.Edge)
	for k, open := range [...]roadgraph.Flags{roadgraph.Forward, roadgraph.Backward} {
		if !e.Flags.Has(open) || !w.mayTravel(m, at, &p, k == 1, length) {
			continue
		}
		head, tail, along := last, first, p.offset
		if k == 1 {
			head, tail, along = first, last, length-p.offset
		}
		arc := 2*hit.Edge + uint32(k)
		c := m.leaf(head, &w.search.builder)
		i, found := c.find(arc)
		if !found || c.costs[i] == noWay {
			continue
		}
		share := 0.0
		if length > 0 {
			share = along / length
		}
		to := Cost(math.Round(float64(c.costs[i]) * share))
		there := uint32(math.Round(along * 1000))
		p.from = append(p.from, end{arc, head, along, c.costs[i] - to, c.lengths[i] - min(there, c.lengths[i])})
		p.to = append(p.to, end{arc, tail, along, to, there})
		if e.Flags.Has(roadgraph.HasStates) {
			for state, last := g.StatesOf(arc); state < last; state++ {
				p.to = append(p.to, end{state, tail, along, to, there})
			}
		}
	}
	return p, len(p.from) > 0
}

// mayTravel reports whether a route may pass a waypoint in a direction, by its heading and its side.
func (w *worker) mayTravel(m *metric, at *Waypoint, p *place, backward bool, length float64) bool {
	if math.IsNaN(at.Heading) && at.Side == AnySide {
		return true
	}
	bearing := w.bearing(m.Graph, p, length)
	if backward {
		bearing += 180
	}
	if !math.IsNaN(at.Heading) && turnBetween(bearing, at.Heading) > cmp.Or(at.Within, defaultWithin) {
		return false
	}
	const onRoad = 0.5 // metres: such a place has no side
	if at.Side == AnySide || p.distance < onRoad {
		return true
	}
	right := math.Mod(geo.Bearing(p.point, at.Location)-bearing+720, 360) < 180
	first, _ := m.ends(p.edge)
	left := m.leaves.At(int(first)).LeftDriving != 0
	return (right != left) == (at.Side == Curb)
}

// bearing returns the direction of an edge at a place, in degrees clockwise from north.
func (w *worker) bearing(g *roadgraph.Graph, p *place, length float64) float64 {
	const reach = 5.0 // metres
	return geo.Bearing(g.At(p.edge, max(p.offset-reach, 0)), g.At(p.edge, min(p.offset+reach, length)))
}

// turnBetween returns the difference of two directions, 0 to 180 degrees.
func turnBetween(a, b float64) float64 {
	d := math.Abs(math.Mod(a-b, 360))
	return min(d, 360-d)
}

func (p *place) snapped(g *roadgraph.Graph) Snapped {
	return Snapped{Location: p.point, Name: g.Name(p.edge), Distance: p.distance}
}

// distance returns metres.
func distance(a, b orb.Point) float64 { return sphere.Distance(a[1], a[0], b[1], b[0]) }
