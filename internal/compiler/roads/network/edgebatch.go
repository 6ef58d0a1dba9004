package network

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// edgeBatch is the base edges of consecutive chains, with data that does not depend on earlier ones. The numbers of
// base edges and of words of shapes count from the first in the batch.
type edgeBatch struct {
	edges    []roadgraph.BaseEdge // with numbers of roads in Data
	shape    []uint32
	leaves   [len(roadgraph.Indexes)][]leaf
	meets    []meeting // two for each base edge
	controls []roadgraph.Control
	into     map[cursor]uint32 // see builder

	nodes []uint32 // of a base edge
	line  []Node
}

// reset empties the lists and keeps their memory.
func (p *edgeBatch) reset() {
	clear(p.into)
	*p = edgeBatch{edges: p.edges[:0], shape: p.shape[:0], meets: p.meets[:0], controls: p.controls[:0], into: p.into,
		leaves: [len(roadgraph.Indexes)][]leaf{p.leaves[0][:0], p.leaves[1][:0]}, nodes: p.nodes, line: p.line}
}

// leaf is a leaf of the index that is not in a group yet.
type leaf struct {
	edge           uint32
	skip, segments int
	modes          region.Modes
	box            geo.Box
}

// meeting is an end of a base edge with its node, or NoNode if it is not a junction for the modes of the base edge.
type meeting struct {
	node uint32
	edgeEnd
}

// chain adds the base edges of a chain.
func (p *edgeBatch) chain(b *builder, of *chain) {
	metres, length := 0.0, uint64(0) // the length of the chain so far, and the same in whole millimetres
	next, on := of.start(), region.Modes(0)
	for {
		c, begins := next, allModes&^on
		p.nodes, next, on = b.edge(c, p.nodes[:0])
		p.line = p.line[:0]
		for _, n := range p.nodes {
			p.line = append(p.line, b.nodes[n])
		}
		number, m := uint32(len(p.edges)), b.modes(c.road)
		first, last := p.line[0], p.line[len(p.line)-1]
		edge := roadgraph.BaseEdge{Lat: first.Lat, Lon: first.Lon, FirstShape: uint32(len(p.shape)), Road: c.road,
			Flags: edgeFlags(&b.roads[c.road], c.step < 0) | roadgraph.FlagsOf(roadgraph.BeginsEdgeSet, begins&m)}
		edge.EndNorth, edge.EndEast = endOf(first, last)
		for i, to := range p.line[1:] {
			metres += distance(p.line[i], to)
		}
		before := length
		length = uint64(math.Round(metres * 1000))
		edge.Length = uint32(min(length-before, math.MaxUint32))
		p.edges = append(p.edges, edge)
		p.addShape(number, m)
		if b.via[c.road] {
			p.into[c] = 2 * number
			p.into[cursor{c.road, c.at + c.step*int32(len(p.line)-1), -c.step}] = 2*number + 1
		}
		p.meet(b, m)
		p.control(b, number, c.step < 0)
		if on == 0 {
			return
		}
	}
}

// meet adds the ends of a base edge.
func (p *edgeBatch) meet(b *builder, m region.Modes) {
	last := len(p.nodes) - 1
	for end, at := range [2]int{0, last} {
		n := p.nodes[at]
		flags := b.flags[n]
		if flags.junction()&m == 0 {
			p.meets = append(p.meets, meeting{node: NoNode})
			continue
		}
		next, step := at, 1-2*end
		for next += step; next > 0 && next < last && p.line[next] == p.line[at]; next += step {
		}
		e := edgeEnd{Bearing: bearing(p.line[at], p.line[next]), Two: flags.two(), Restricted: flags&restrictedBit != 0}
		if flags&specialBit != 0 {
			e.Blocked = b.specialAt(n).Stops
		}
		p.meets = append(p.meets, meeting{n, e})
	}
}

// control adds the controls on a base edge.
func (p *edgeBatch) control(b *builder, edge uint32, against bool) {
	for i, n := range p.nodes {
		if b.flags[n]&specialBit == 0 {
			continue
		}
		if flags := b.specialAt(n).Control; flags != 0 {
			if against {
				flags = flags.Reversed()
			}
			p.controls = append(p.controls, roadgraph.Control{BaseEdge: edge, Point: uint16(i), Flags: flags})
		}
	}
}

// addShape adds the shape of a base edge and its leaves. A segment across the antimeridian has a leaf on either side.
func (p *edgeBatch) addShape(edge uint32, m region.Modes) {
	leaves := &p.leaves[0]
	if m&region.Car == 0 {
		leaves = &p.leaves[1]
	}
	first := len(p.shape)
	none := leaf{edge: edge, modes: m, box: geo.EmptyBox}
	one := none
	for i, to := range p.line[1:] {
		from, skip := p.line[i], len(p.shape)-first
		p.shape = roadgraph.AppendShape(p.shape, from.Lat, from.Lon, to.Lat, to.Lon)
		across := int64(from.Lon)-int64(to.Lon) != -int64(geo.Eastward(from.Lon, to.Lon))
		if one.segments > 0 && (across || one.segments == roadgraph.LeafSegments) {
			*leaves = append(*leaves, one)
			one = none
		}
		if across {
			low, high := min(from.Lat, to.Lat), max(from.Lat, to.Lat)
			west := geo.Box{MinX: -halfTurn, MinY: low, MaxX: min(from.Lon, to.Lon), MaxY: high}
			east := geo.Box{MinX: max(from.Lon, to.Lon), MinY: low, MaxX: halfTurn, MaxY: high}
			*leaves = append(*leaves, leaf{edge, skip, 1, m, west}, leaf{edge, skip, 1, m, east})
			continue
		}
		if one.segments == 0 {
			one.skip = skip
		}
		one.segments++
		one.box.ExtendTo(from.Lon, from.Lat)
		one.box.ExtendTo(to.Lon, to.Lat)
	}
	if one.segments > 0 {
		*leaves = append(*leaves, one)
	}
}

const halfTurn = 1_800_000_000 // 180° in 1e-7 degrees

func edgeFlags(r *Road, against bool) (flags roadgraph.BaseEdgeFlags) {
	a := r.Attributes
	if against {
		a = reversed(a)
		flags = roadgraph.Reversed
	}
	return flags |
		roadgraph.FlagsOf(roadgraph.OpenForwardSet, a.Forward) | roadgraph.FlagsOf(roadgraph.OpenBackwardSet, a.Backward) |
		roadgraph.FlagsOf(roadgraph.DestinationOnlyForwardSet, a.DestinationForward) |
		roadgraph.FlagsOf(roadgraph.DestinationOnlyBackwardSet, a.DestinationBackward) |
		roadgraph.FlagsOf(roadgraph.PrivateForwardSet, a.PrivateForward) |
		roadgraph.FlagsOf(roadgraph.PrivateBackwardSet, a.PrivateBackward)
}

// endOf returns EndNorth and EndEast of a roadgraph.BaseEdge.
func endOf(first, last Node) (north, east int16) {
	dLat, dLon := int64(last.Lat)-int64(first.Lat), geo.Eastward(first.Lon, last.Lon)
	if dLat != int64(int16(dLat)) || dLon != int32(int16(dLon)) || dLat == roadgraph.FarEnd {
		return roadgraph.FarEnd, 0
	}
	return int16(dLat), int16(dLon)
}

// distance returns the great-circle distance of two nodes in metres.
func distance(a, b Node) float64 {
	return geo.Distance(float64(a.Lat)*1e-7, float64(a.Lon)*1e-7, float64(b.Lat)*1e-7, float64(b.Lon)*1e-7)
}

const bearingBits = 24

// bearing returns the direction in which the great circle from a to b leaves a, in 2^-24 turns clockwise from north.
// Only its lowest 24 bits count.
func bearing(a, b Node) uint32 {
	const unit = math.Pi / 180 * 1e-7
	sinA, cosA := math.Sincos(float64(a.Lat) * unit)
	sinLon, cosLon := math.Sincos(float64(geo.Eastward(a.Lon, b.Lon)) * unit)
	sinB, cosB := math.Sincos(float64(b.Lat) * unit)
	turn := math.Atan2(sinLon*cosB, cosA*sinB-sinA*cosB*cosLon) / (2 * math.Pi)
	return uint32(int32(math.Round(turn * (1 << bearingBits))))
}
