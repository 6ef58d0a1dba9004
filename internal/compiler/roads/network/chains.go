package network

import (
	"cmp"

	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// cursor is a place from which a piece of a road is travelled: at a node of it, in steps of 1 or -1 through its nodes.
type cursor struct {
	road     uint32
	at, step int32
}

func (b *builder) node(c cursor) uint32 {
	return b.data.RoadNodes.Slice()[b.roads[c.road].FirstNode+uint64(c.at)]
}

// start is the place to travel a road from one of its ends, given as partners has it.
func (b *builder) start(end uint32) cursor {
	if end&1 == 0 {
		return cursor{end >> 1, 0, 1}
	}
	return cursor{end >> 1, int32(len(b.data.NodesOf(end>>1)) - 1), -1}
}

// next is the place after a piece of road, and the node there. ok is false where no other road continues this one.
func (b *builder) next(c cursor) (next cursor, node uint32, ok bool) {
	nodes := b.data.NodesOf(c.road)
	c.at += c.step
	node = nodes[c.at]
	end := 2 * c.road
	switch {
	case c.step > 0 && int(c.at) == len(nodes)-1:
		end++
	case c.step > 0 || c.at > 0:
		return c, node, true
	}
	partner := b.partners.Slice()[end]
	if partner == noPartner {
		return c, node, false
	}
	return b.start(partner - 1), node, true
}

// edge goes along a road up to where an edge ends: at a junction for any of its modes, at its way's end, or after as
// many pieces as an edge may have. It returns the nodes, the place behind, and for whom a segment goes on there. ok
// is false where no road continues this one.
func (b *builder) edge(c cursor, nodes []uint32) (_ []uint32, next cursor, on mapdata.Modes, ok bool) {
	flags := b.flags.Slice()
	m := b.modes(c.road)
	nodes = append(nodes, b.node(c))
	for {
		next, node, ok := b.next(c)
		nodes = append(nodes, node)
		if !ok {
			return nodes, next, 0, false
		}
		on := m & b.modes(next.road) &^ flags[node].junction()
		if on != m || next.road != c.road || next.at != c.at+c.step || len(nodes) > roadgraph.MaxEdgeShape {
			return nodes, next, on, true
		}
		c = next
	}
}

// chain is edges that follow one another, of which each continues a segment of the one before for some mode.
type chain struct {
	Order uint64 // along the curve
	Road  uint32
	From  uint32 // twice the node of the road, and 1 where it begins against the road
}

func (c *chain) start() cursor {
	return cursor{c.Road, int32(c.From >> 1), 1 - 2*int32(c.From&1)}
}

// findChains divides all roads into chains, which are sorted along the curve by the middle of their boxes.
func (b *builder) findChains() (*scratch.Sorter[chain], error) {
	chains := scratch.NewSorter(b.dir, "road-chains", b.memory, func(x, y chain) int {
		if x.Order != y.Order {
			return cmp.Compare(x.Order, y.Order)
		}
		return cmp.Or(cmp.Compare(x.Road, y.Road), cmp.Compare(x.From, y.From))
	})
	done := newBits(len(b.roads))
	for i := range uint32(len(b.roads)) {
		if done.has(i) {
			continue
		}
		start, ring := b.firstOf(i)
		for c := start; ; {
			done.add(c.road)
			partner := b.partners.Slice()[2*c.road+uint32(1+c.step)/2]
			if partner == noPartner {
				break
			}
			if c = b.start(partner - 1); c == start {
				break
			}
		}
		if ring {
			start = b.cutRing(start)
		}
		if err := b.divide(start, chains); err != nil {
			return nil, err
		}
	}
	return chains, nil
}

// firstOf is where the roads that a road is one of, as they continue one another, begin, so that the road is travelled
// along; or the road's own beginning where they are a ring.
func (b *builder) firstOf(road uint32) (start cursor, ring bool) {
	start = cursor{road, 0, 1}
	for {
		partner := b.partners.Slice()[2*start.road+uint32(1-start.step)/2]
		if partner == noPartner {
			return start, false
		}
		before := b.start((partner - 1) ^ 1) // the other end of that road, to be travelled towards this one
		if before.road == road {
			return before, true
		}
		start = before
	}
}

// cutRing finds where a ring of roads is to begin: at a node that is a junction for as many modes as possible, cars
// first. There all segments of the ring end.
func (b *builder) cutRing(start cursor) cursor {
	flags := b.flags.Slice()
	best, score := start, -1
	for c := start; ; {
		m := b.modes(c.road)
		if at := flags[b.node(c)].junction() & m; rank(at) > score {
			best, score = c, rank(at)
		}
		if c, _, _ = b.next(c); c == start {
			break
		}
	}
	node := b.node(best)
	flags[node] |= nodeFlags(flags[node].two()&b.modes(best.road)) << junctionBits
	return best
}

// rank orders sets of modes by the first of the modes that they differ in.
func rank(m mapdata.Modes) (r int) {
	for i, mode := range modes {
		if m&mode != 0 {
			r |= 4 >> i
		}
	}
	return r
}

// divide adds the chains of roads that continue one another. It cuts segments that would have too many points.
func (b *builder) divide(start cursor, chains *scratch.Sorter[chain]) error {
	var points [len(modes)]int // of the segment of each mode so far
	first, box := start, boxtree.Empty
	for c := start; ; {
		var on mapdata.Modes
		var ok bool
		b.line, c, on, ok = b.edge(c, b.line[:0])
		b.edgeCount++
		for _, n := range b.line {
			box.ExtendTo(b.nodes[n].Lon, b.nodes[n].Lat)
		}
		last := b.line[len(b.line)-1]
		for i, mode := range modes {
			if points[i] += len(b.line) - 1; points[i]+roadgraph.MaxEdgeShape >= roadgraph.MaxShape && on&mode != 0 {
				b.flags.Slice()[last] |= nodeFlags(mode) << junctionBits
				on &^= mode
			}
			if on&mode == 0 {
				points[i] = 0
			}
		}
		if on != 0 {
			continue
		}
		reversed := uint32(1-first.step) / 2
		if err := chains.Add(chain{box.Order(), first.road, uint32(first.at)<<1 | reversed}); err != nil {
			return err
		}
		if !ok || c == start {
			return nil
		}
		first, box = c, boxtree.Empty
	}
}
