package network

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/hilbert"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/sphere"
)

// pieces are the edges of some chains in a row, with all that can be made of them without those before. The numbers of
// edges count from the first of these, and those of words of shapes, too.
type pieces struct {
	edges    []roadgraph.Edge // of roads by their numbers in the network
	shape    []uint32
	leaves   [len(roadgraph.Indexes)][]leaf
	meets    []meeting
	controls []roadgraph.Control
	via      []viaEdge
	chains   int
	line     []uint32
}

// reset empties the lists, whose memory stays.
func (p *pieces) reset() {
	*p = pieces{edges: p.edges[:0], shape: p.shape[:0], meets: p.meets[:0], controls: p.controls[:0], via: p.via[:0],
		leaves: [len(roadgraph.Indexes)][]leaf{p.leaves[0][:0], p.leaves[1][:0]}, line: p.line}
}

// leaf is one that is not in a group yet.
type leaf struct {
	edge         uint32
	skip, pieces int
	modes        mapdata.Modes
	box          boxtree.Box
}

// meeting is an end of an edge at a junction. In the key the node is below where it is on the curve, roughly: what is
// near on the ground is then near in the list.
type meeting struct {
	Key uint64
	edgeEnd
}

func (m *meeting) node() uint32 { return uint32(m.Key) }

// edgeEnd is an end of an edge at a junction: twice the edge's number, and 1 where it is the last one. What stands
// with it is the direction in which the edge leaves the node, in 2^24ths of a turn clockwise from north; above that
// the modes of which exactly two pieces of road meet there, those that cannot pass the node, and whether it is the
// last at its node.
type edgeEnd struct{ End, About uint32 }

const (
	bearingBits = 24
	bearingMask = 1<<bearingBits - 1
	twoAt       = bearingBits
	blockedAt   = bearingBits + 3
	lastEnd     = 1 << 30
)

func (e edgeEnd) two() mapdata.Modes     { return mapdata.Modes(e.About>>twoAt) & allModes }
func (e edgeEnd) blocked() mapdata.Modes { return mapdata.Modes(e.About>>blockedAt) & allModes }

// chain adds the edges of a chain.
func (p *pieces) chain(b *builder, chain *chain) {
	metres, length := 0.0, uint64(0) // of the chain so far, and the same in whole millimetres
	c := chain.start()
	begins := allModes
	for {
		line, next, on, _ := b.edge(c, p.line[:0])
		p.line = line
		r := &b.roads[c.road]
		first, last := b.nodes[line[0]], b.nodes[line[len(line)-1]]
		edge := roadgraph.Edge{Lat: first.Lat, Lon: first.Lon, FirstShape: uint32(len(p.shape)), Road: c.road,
			Flags: flagsOfEdge(r, c.step < 0) | roadgraph.FlagsOf(roadgraph.Begins, begins&b.modes(c.road))}
		edge.EndNorth, edge.EndEast = endOf(first, last)
		for i := 1; i < len(line); i++ {
			from, to := b.nodes[line[i-1]], b.nodes[line[i]]
			metres += distance(from, to)
			p.shape = roadgraph.AppendShape(p.shape, from.Lat, from.Lon, to.Lat, to.Lon)
		}
		before := length
		length = uint64(math.Round(metres * 1000))
		edge.Length = uint32(min(length-before, math.MaxUint32))
		number := uint32(len(p.edges))
		p.edges = append(p.edges, edge)
		p.addLeaves(number, b.modes(c.road), line, b.nodes)
		if b.restricted.roads.has(c.road) {
			p.via = append(p.via, viaEdge{c, 2 * number},
				viaEdge{cursor{c.road, c.at + c.step*int32(len(line)-1), -c.step}, 2*number + 1})
		}
		p.meet(b, number, b.modes(c.road), line)
		p.control(b, number, c.step < 0, line)
		if on == 0 {
			return
		}
		begins = allModes &^ on
		c = next
	}
}

// meet lists the ends of an edge that are junctions for its modes.
func (p *pieces) meet(b *builder, edge uint32, m mapdata.Modes, line []uint32) {
	last := len(line) - 1
	for end, at := range [2]int{0, last} {
		n := line[at]
		flags := b.flags.Slice()[n]
		if flags.junction()&m == 0 {
			continue
		}
		next, step := at, 1-2*end
		for next += step; next > 0 && next < last && b.nodes[line[next]] == b.nodes[n]; next += step {
		}
		about := bearing(b.nodes[n], b.nodes[line[next]]) | uint32(flags.two())<<twoAt
		if flags&specialBit != 0 {
			about |= uint32(b.specialAt(n).Stops) << blockedAt
		}
		place := hilbert.OfPosition(b.nodes[n].Lon, b.nodes[n].Lat)
		p.meets = append(p.meets, meeting{place>>32<<32 | uint64(n), edgeEnd{2*edge + uint32(end), about}})
	}
}

// control lists the controls on an edge.
func (p *pieces) control(b *builder, edge uint32, reversed bool, line []uint32) {
	for i, n := range line {
		if b.flags.Slice()[n]&specialBit == 0 {
			continue
		}
		if flags := b.specialAt(n).Control; flags != 0 {
			if reversed {
				flags = flags.Reversed()
			}
			p.controls = append(p.controls, roadgraph.Control{Edge: edge, Point: uint16(i), Flags: flags})
		}
	}
}

// addLeaves adds the leaves of an edge. A piece that crosses the antimeridian has a leaf at either side of it.
func (p *pieces) addLeaves(number uint32, m mapdata.Modes, line []uint32, nodes []Node) {
	leaves := &p.leaves[0]
	if m&mapdata.Car == 0 {
		leaves = &p.leaves[1]
	}
	one := leaf{edge: number, modes: m, box: boxtree.Empty}
	add := func() {
		if one.pieces > 0 {
			*leaves = append(*leaves, one)
		}
		one.pieces, one.box = 0, boxtree.Empty
	}
	var words [3]uint32
	for i, skip := 1, 0; i < len(line); i++ {
		a, b := nodes[line[i-1]], nodes[line[i]]
		across := int64(a.Lon)-int64(b.Lon) != -int64(sphere.Eastward(a.Lon, b.Lon))
		if across {
			add()
		}
		if one.pieces == 0 {
			one.skip = skip
		}
		one.pieces++
		one.box.ExtendTo(a.Lon, a.Lat)
		if across {
			low, high := min(a.Lat, b.Lat), max(a.Lat, b.Lat)
			one.box = boxtree.Box{MinX: -halfTurn, MinY: low, MaxX: min(a.Lon, b.Lon), MaxY: high}
			*leaves = append(*leaves, one)
			one.box = boxtree.Box{MinX: max(a.Lon, b.Lon), MinY: low, MaxX: halfTurn, MaxY: high}
		} else {
			one.box.ExtendTo(b.Lon, b.Lat)
		}
		if across || one.pieces == roadgraph.LeafShape {
			add()
		}
		skip += len(roadgraph.AppendShape(words[:0], a.Lat, a.Lon, b.Lat, b.Lon))
	}
	add()
}

const halfTurn = 1_800_000_000 // 180° in 1e-7 degrees

func flagsOfEdge(r *Road, reversed bool) (flags roadgraph.EdgeFlags) {
	forward := [3]mapdata.Modes{r.Forward, r.DestinationForward, r.PrivateForward}
	backward := [3]mapdata.Modes{r.Backward, r.DestinationBackward, r.PrivateBackward}
	if reversed {
		forward, backward = backward, forward
		flags = roadgraph.Reversed
	}
	return flags |
		roadgraph.FlagsOf(roadgraph.OpenForward, forward[0]) | roadgraph.FlagsOf(roadgraph.OpenBackward, backward[0]) |
		roadgraph.FlagsOf(roadgraph.LocalForward, forward[1]) | roadgraph.FlagsOf(roadgraph.LocalBackward, backward[1]) |
		roadgraph.FlagsOf(roadgraph.OwnedForward, forward[2]) | roadgraph.FlagsOf(roadgraph.OwnedBackward, backward[2])
}

// endOf is where an edge ends as roadgraph.Edge has it.
func endOf(first, last Node) (north, east int16) {
	dLat, dLon := int64(last.Lat)-int64(first.Lat), sphere.Eastward(first.Lon, last.Lon)
	if dLat != int64(int16(dLat)) || dLon != int32(int16(dLon)) || dLat == roadgraph.FarEnd {
		return roadgraph.FarEnd, 0
	}
	return int16(dLat), int16(dLon)
}
