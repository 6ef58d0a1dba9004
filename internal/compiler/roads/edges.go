package roads

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/hilbert"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/sphere"
)

// emitter makes the edges of all chains, with their shapes and the leaves of the index.
type emitter struct {
	*builder
	shape  *region.SectionWriter
	words  []uint32
	leaves [len(roadgraph.Indexes)]*leafWriter
	meets  *scratch.Sorter[meeting]

	made   int     // edges
	metres float64 // of the chain so far
	length uint64  // the same in whole millimetres
}

// meeting is an end of an edge at a junction.
type meeting struct {
	// Place is where on the curve the node is, roughly: what is near on the ground is then near in the list.
	Place, Node uint32
	edgeEnd
}

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

// maxEdges is how many edges there may be: arcs have numbers of 32 bits, and copies need some.
const maxEdges = 1<<31 - 1<<24

// makeEdges makes the edges of chains in their order, and lists where they meet.
func (b *builder) makeEdges(chains *scratch.Sorter[chain]) error {
	e := &emitter{builder: b}
	e.shape = b.w.Direct(roadgraph.ShapeSection, sizeOf[uint32]())
	for i := range e.leaves {
		e.leaves[i] = newLeafWriter(b.w, b.dir, &roadgraph.Indexes[i])
	}
	if b.count() >= maxEdges || b.edgeCount >= maxEdges {
		return fmt.Errorf("the extract has too many roads: %d edges", b.edgeCount)
	}
	_, err := b.edges.Extend(b.edgeCount + 1)
	if _, failed := b.usedAs.Extend(b.count()); err != nil || failed != nil {
		return errors.Join(err, failed)
	}
	e.meets = scratch.NewSorter(b.dir, "road-meetings", b.memory, func(x, y meeting) int {
		return cmp.Or(cmp.Compare(x.Place, y.Place), cmp.Compare(x.Node, y.Node), cmp.Compare(x.End, y.End))
	})
	b.bar.Start("edges", int64(chains.Len()))
	if err := chains.Each(e.chain); err != nil {
		return err
	}
	b.bar.Finish()
	b.edges.Slice()[e.made] = roadgraph.Edge{FirstShape: uint32(e.points())}
	if err := region.Append(e.shape, e.words...); err != nil {
		return err
	}
	if err := e.shape.Close(); err != nil {
		return err
	}
	for _, l := range e.leaves {
		if err := l.finish(); err != nil {
			return err
		}
	}
	// What is no longer needed goes before the lists of ends are made.
	if err := errors.Join(b.freeNodes(), b.partners.Free(), b.usedAs.Free()); err != nil {
		return err
	}
	return b.listEnds(e.meets)
}

// points is how many words of shapes there are so far.
func (e *emitter) points() uint64 { return uint64(e.shape.Len())/4 + uint64(len(e.words)) }

// chain makes the edges of a chain.
func (e *emitter) chain(chain *chain) error {
	e.bar.Add(1)
	e.metres, e.length = 0, 0
	c := chain.start()
	begins := allModes
	for {
		line, next, on, _ := e.edge(c, e.line[:0])
		e.line = line
		if err := e.emit(c, line, begins&e.network.modes(c.road)); err != nil {
			return err
		}
		if on == 0 {
			return nil
		}
		begins = allModes &^ on
		c = next
	}
}

// emit makes an edge of a road, through some nodes.
func (e *emitter) emit(c cursor, line []uint32, begins mapdata.Modes) error {
	number := e.made
	e.made++
	if e.points() > math.MaxUint32-3*roadgraph.MaxEdgeShape {
		return fmt.Errorf("the extract has too many roads: %d points of %d edges", e.points(), e.edgeCount)
	}
	r := &e.network.roads[c.road]
	used, err := e.use(c.road)
	if err != nil {
		return err
	}
	first, last := e.nodes[line[0]], e.nodes[line[len(line)-1]]
	edge := roadgraph.Edge{Lat: first.Lat, Lon: first.Lon, FirstShape: uint32(e.points()), Road: used,
		Flags: flagsOfEdge(r, c.step < 0) | roadgraph.FlagsOf(roadgraph.Begins, begins)}
	edge.EndNorth, edge.EndEast = endOf(first, last)
	for i := 1; i < len(line); i++ {
		from, to := e.nodes[line[i-1]], e.nodes[line[i]]
		e.metres += distance(from, to)
		e.words = roadgraph.AppendShape(e.words, from.Lat, from.Lon, to.Lat, to.Lon)
	}
	before := e.length
	e.length = uint64(math.Round(e.metres * 1000))
	edge.Length = uint32(min(e.length-before, math.MaxUint32))
	e.edges.Slice()[number] = edge
	leaves := e.leaves[0]
	if e.modes(c.road)&mapdata.Car == 0 {
		leaves = e.leaves[1]
	}
	if err := leaves.edge(uint32(number), e.modes(c.road), line, e.nodes); err != nil {
		return err
	}
	e.restricted.edge(uint32(number), c, len(line))
	if len(e.words) > 1<<12 {
		if err := region.Append(e.shape, e.words...); err != nil {
			return err
		}
		e.words = e.words[:0]
	}
	return e.meet(uint32(number), e.modes(c.road), line)
}

// use is the number of a road in the file: roads are there in the order in which edges are of them.
func (e *emitter) use(road uint32) (uint32, error) {
	at := &e.usedAs.Slice()[road]
	if *at == 0 {
		*at = uint32(e.roadOf.Len()) + 1
		if err := e.roadOf.Append(road); err != nil {
			return 0, err
		}
	}
	return *at - 1, nil
}

// writeRoads writes the roads that edges are of, and their names.
func (b *builder) writeRoads() error {
	names, err := newNameWriter(b)
	if err != nil {
		return err
	}
	out := b.w.Direct(roadgraph.RoadsSection, sizeOf[roadgraph.Road]())
	for _, road := range b.roadOf.Slice() {
		r := &b.roads[road]
		record := roadgraph.Road{WayLow: uint32(r.Way), WayHigh: uint32(uint64(r.Way) >> 32), Class: r.Class,
			Flags: flagsOf(r), Layer: r.Layer,
			Speeds: [4]uint8{r.SpeedForward, r.SpeedBackward, r.BicycleSpeed, r.FootSpeed}}
		var failed [2]error
		record.Name, failed[0] = names.add(r.Name)
		record.Ref, failed[1] = names.add(r.Ref)
		if err := cmp.Or(failed[0], failed[1], region.Append(out, record)); err != nil {
			return err
		}
	}
	return cmp.Or(out.Close(), names.free())
}

func flagsOfEdge(r *extract.Road, reversed bool) roadgraph.EdgeFlags {
	forward, backward, localForward, localBackward := r.Forward, r.Backward, r.DestinationForward, r.DestinationBackward
	flags := roadgraph.EdgeFlags(0)
	if reversed {
		forward, backward, localForward, localBackward = backward, forward, localBackward, localForward
		flags = roadgraph.Reversed
	}
	return flags |
		roadgraph.FlagsOf(roadgraph.OpenForward, forward) | roadgraph.FlagsOf(roadgraph.OpenBackward, backward) |
		roadgraph.FlagsOf(roadgraph.LocalForward, localForward) | roadgraph.FlagsOf(roadgraph.LocalBackward, localBackward)
}

// endOf is where an edge ends as roadgraph.Edge has it.
func endOf(first, last extract.Node) (north, east int16) {
	dLat, dLon := int64(last.Lat)-int64(first.Lat), sphere.Eastward(first.Lon, last.Lon)
	if dLat != int64(int16(dLat)) || dLon != int32(int16(dLon)) || dLat == roadgraph.FarEnd {
		return roadgraph.FarEnd, 0
	}
	return int16(dLat), int16(dLon)
}

// meet lists the ends of an edge that are junctions for its modes.
func (e *emitter) meet(edge uint32, m mapdata.Modes, line []uint32) error {
	last := len(line) - 1
	for end, at := range [2]int{0, last} {
		n := line[at]
		flags := e.flags.Slice()[n]
		if flags.junction()&m == 0 {
			continue
		}
		next, step := at, 1-2*end
		for next += step; next > 0 && next < last && e.nodes[line[next]] == e.nodes[n]; next += step {
		}
		about := bearing(e.nodes[n], e.nodes[line[next]]) | uint32(flags.two())<<twoAt
		if flags&blockedBit != 0 {
			about |= uint32(e.blocked(n)) << blockedAt
		}
		place := hilbert.OfPosition(e.nodes[n].Lon, e.nodes[n].Lat)
		if err := e.meets.Add(meeting{uint32(place >> 32), n, edgeEnd{2*edge + uint32(end), about}}); err != nil {
			return err
		}
	}
	return nil
}

// listEnds makes one list of the ends of edges, by node, and notes for each where those of its node begin.
func (b *builder) listEnds(meets *scratch.Sorter[meeting]) error {
	at, err := b.firstEnd.Extend(2 * b.edges.Len())
	if err != nil {
		return err
	}
	ends, err := b.ends.Extend(meets.Len())
	if err != nil {
		return err
	}
	n, first, node := 0, 0, uint32(0)
	err = meets.Each(func(m *meeting) error {
		if n == 0 || m.Node != node {
			if n > 0 {
				ends[n-1].About |= lastEnd
			}
			first, node = n, m.Node
			b.restricted.meeting(node, uint32(first))
		} else if n-first == maxMeeting {
			at := b.edges.Slice()[m.End>>1]
			return fmt.Errorf("more than %d roads meet near %v, %v", maxMeeting, float64(at.Lat)/1e7, float64(at.Lon)/1e7)
		}
		at[m.End] = uint32(first) + 1
		ends[n] = m.edgeEnd
		n++
		return nil
	})
	if n > 0 {
		ends[n-1].About |= lastEnd
	}
	return err
}

// maxMeeting is how many ends of edges may be at one node: two words for each mode of each are at most what an edge
// has.
const maxMeeting = roadgraph.MaxTurns / 12
