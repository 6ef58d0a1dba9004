package roadgraph

import (
	"math"
	"sync/atomic"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Ahead is how far bearings look along a road, in metres: beyond the first ones, which often bend into the junction,
// and before the next bend.
const Ahead = 10.0

// Junctions finds the roads that meet at a place, also those that a route may not take. It may be used again, by one
// goroutine at a time. Their graph remembers many places for all of them.
type Junctions struct {
	snapper
	node  position
	east  float64 // metres in 1e-7 degrees of longitude at the node
	roads []Leaving
	line  [MaxBaseEdgeSegments + 1]position
}

// Leaving is a road at a junction, as an arc that leaves it. The mode need not be allowed to travel it.
type Leaving struct {
	Traits
	Arc     uint32
	Bearing float32 // of the beginning of the arc, degrees clockwise from north, from 0 to 360
}

// Traits are what an edge is, without its size.
type Traits struct {
	Name, Ref uint32 // see Graph.Text
	Class     region.RoadClass
	Flags     Flags
}

// knownJunction is a junction that was found before, with all of its roads.
type knownJunction struct {
	node  position
	count int32
	roads [knownRoads]Leaving
}

// knownJunctions are the last junctions of each hash, at most 8 MB.
type knownJunctions [1 << knownBits]atomic.Pointer[knownJunction]

const (
	knownRoads = 5
	knownBits  = 16
)

// Meeting returns the roads that meet where an arc ends, in no particular order. They are valid until the next call.
// Callers do not change them.
func (j *Junctions) Meeting(g *Graph, at Head) []Leaving {
	node := position{at.EndLat, at.EndLon}
	table := g.known.Load()
	if table == nil {
		table = new(knownJunctions)
		g.known.Store(table) // one of two at the same time is lost
	}
	place := &table[(uint32(node.lat)*0x9E3779B1+uint32(node.lon))*0x85EBCA6B>>(32-knownBits)]
	if k := place.Load(); k != nil && k.node == node {
		return k.roads[:k.count]
	}
	j.move(g, node)
	j.roads = j.roads[:0]
	j.visited, j.query = 0, geo.Box{MinX: at.EndLon, MinY: at.EndLat, MaxX: at.EndLon, MaxY: at.EndLat}
	for i := range g.index {
		j.index = &g.index[i]
		j.descend(j.index.tree.Height, 0, j.index.tree.Count[j.index.tree.Height])
	}
	for i := range j.roads {
		l := &j.roads[i]
		l.Traits, l.Bearing = g.Traits(l.Arc>>1), float32(j.bearing(l.Arc))
	}
	if len(j.roads) <= knownRoads {
		k := &knownJunction{node: node, count: int32(len(j.roads))}
		copy(k.roads[:], j.roads)
		place.Store(k)
	}
	return j.roads
}

// move goes to a junction.
func (j *Junctions) move(g *Graph, to position) {
	if j.g != g {
		j.snapper = snapper{g: g, maxVisited: math.MaxInt, found: j.endsOf}
	}
	j.node, j.east = to, geo.MetresPerUnit*math.Cos(float64(to.lat)*unit)
}

// endsOf adds the ends of a base edge that are the ends of its edge, and at the node.
func (j *Junctions) endsOf(base uint32) {
	g := j.g
	e := g.baseEdges.At(int(base))
	if e.Flags&g.begins != 0 && (position{e.Lat, e.Lon}) == j.node {
		j.add(2 * base)
	}
	if !g.continuesWith(g.baseEdges.At(int(base)+1).Flags) && g.end(base, e) == j.node {
		j.add(2*j.edge(base, e) + 1)
	}
}

// add adds an arc, unless another part of its base edge has added it.
func (j *Junctions) add(arc uint32) {
	for i := len(j.roads) - 1; i >= 0 && i >= len(j.roads)-maxCompared; i-- {
		if j.roads[i].Arc == arc {
			return
		}
	}
	j.roads = append(j.roads, Leaving{Arc: arc})
}

// bearing returns the direction from the node to the place Ahead along an arc that begins there.
func (j *Junctions) bearing(arc uint32) float64 {
	g, edge := j.g, arc>>1
	base, x, y, metres := edge, 0.0, 0.0, Ahead
	if arc&1 == 1 {
		base = g.LastBaseEdge(edge)
	}
	for at := j.node; ; {
		e := g.baseEdges.At(int(base))
		line := append(j.line[:0], position{e.Lat, e.Lon})
		for words := g.words(base, e); len(words) > 0; {
			p := line[len(line)-1]
			words = p.next(words)
			line = append(line, p)
		}
		for i := range line {
			p := line[i]
			if arc&1 == 1 {
				p = line[len(line)-1-i]
			}
			dx, dy := float64(geo.Eastward(at.lon, p.lon))*j.east, float64(p.lat-at.lat)*geo.MetresPerUnit
			at = p
			length := math.Sqrt(dx*dx + dy*dy)
			if length >= metres {
				return degrees(x+dx*metres/length, y+dy*metres/length)
			}
			x, y, metres = x+dx, y+dy, metres-length
		}
		switch {
		case arc&1 == 1 && base > edge:
			base--
		case arc&1 == 0 && g.continues(edge, base):
			base++
		default:
			return degrees(x, y)
		}
	}
}

// degrees returns the direction of a vector, clockwise from north, from 0 to 360.
func degrees(x, y float64) float64 {
	d := math.Atan2(x, y) * 180 / math.Pi
	if d < 0 {
		d += 360
	}
	return d
}

// Traits returns the traits of an edge.
func (g *Graph) Traits(edge uint32) Traits {
	first := g.baseEdges.At(int(edge))
	r := g.roads.At(int(first.Road))
	kind := g.kind(r)
	return Traits{r.Name, kind.Ref, kind.Class, Flags(kind.Flags)<<RoadFlags | g.flags(first.Flags)}
}

// RoadAt returns the road at the end of an arc, or at its beginning, and whether the arc travels it in the direction
// of its way.
func (g *Graph) RoadAt(arc uint32, end bool) (road uint32, along bool) {
	base := arc >> 1
	if end == (arc&1 == 0) {
		base = g.LastBaseEdge(base)
	}
	e := g.baseEdges.At(int(base))
	return e.Road, (e.Flags&Reversed == 0) == (arc&1 == 0)
}
