package network

import (
	"cmp"
	"math/bits"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// cursor is a position and a direction on a road: at is an index of its nodes, and step is 1 or -1. A zero step means
// no cursor.
type cursor struct {
	road     uint32
	at, step int32
}

// ahead returns the end of its road to which a cursor leads, numbered as in partners.
func (c cursor) ahead() uint32 { return 2*c.road + uint32(1+c.step)/2 }

// start returns the cursor at an end of a road, into the road.
func (b *builder) start(end uint32) cursor {
	if end&1 == 0 {
		return cursor{end >> 1, 0, 1}
	}
	return cursor{end >> 1, int32(len(b.data.NodesOf(end>>1)) - 1), -1}
}

// beyond returns the start of the road that continues the road of a cursor.
func (b *builder) beyond(c cursor) cursor {
	partner := b.partners[c.ahead()]
	if partner == noPartner {
		return cursor{}
	}
	return b.start(partner - 1)
}

// edge follows a road to the end of a base edge: a junction for any of its modes, the end of its way, or the greatest
// number of segments. It returns the nodes, the cursor after them, and the modes whose edge goes on there.
func (b *builder) edge(c cursor, line []uint32) (_ []uint32, next cursor, on region.Modes) {
	nodes, m, flags := b.data.NodesOf(c.road), b.modes(c.road), b.flags
	line = append(line, nodes[c.at])
	for {
		c.at += c.step
		line = append(line, nodes[c.at])
		on := m &^ flags[nodes[c.at]].junction()
		if c.at == 0 || int(c.at) == len(nodes)-1 {
			if next = b.beyond(c); next.step == 0 {
				return line, next, 0
			}
			return line, next, on & b.modes(next.road)
		}
		if on != m || len(line) > roadgraph.MaxBaseEdgeSegments {
			return line, c, on
		}
	}
}

// chain is consecutive base edges, each of which continues the edge of some mode.
type chain struct {
	Order uint64 // along the Hilbert curve
	Road  uint32
	From  uint32 // twice the index of the road's node, plus 1 if the chain runs against the road
}

func (c *chain) start() cursor {
	return cursor{c.Road, int32(c.From >> 1), 1 - 2*int32(c.From&1)}
}

// findChains divides all roads into chains, and sorts these by the middles of their boxes along the Hilbert curve.
func (b *builder) findChains() (*scratch.Sorter[chain], error) {
	chains := scratch.NewSorter(b.dir, "road-chains", b.dir.SortMemory(), func(x, y chain) int {
		if x.Order != y.Order {
			return cmp.Compare(x.Order, y.Order)
		}
		return cmp.Or(cmp.Compare(x.Road, y.Road), cmp.Compare(x.From, y.From))
	})
	done := make([]uint64, len(b.roads)/64+1) // a bit for each road
	for i := range uint32(len(b.roads)) {
		if done[i/64]>>(i%64)&1 != 0 {
			continue
		}
		start, ring := b.firstOf(i)
		for c := start; c.step != 0; {
			done[c.road/64] |= 1 << (c.road % 64)
			if c = b.beyond(c); c == start {
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

// firstOf returns the start of the connected roads that contain a road, so that the road is travelled in its direction.
// If they form a ring, it returns the road's own start and true.
func (b *builder) firstOf(road uint32) (start cursor, ring bool) {
	for back := b.start(2*road + 1); ; {
		before := b.beyond(back)
		if before.step == 0 {
			return b.start(back.ahead()), false
		}
		if before.road == road {
			return b.start(2 * road), true
		}
		back = before
	}
}

// cutRing returns the start for a ring of roads: a node that is a junction for as many modes as possible, cars first.
// The edges of all modes end there.
func (b *builder) cutRing(start cursor) cursor {
	at := func(c cursor) *nodeFlags { return &b.flags[b.data.NodesOf(c.road)[c.at]] }
	best, score := start, uint8(0)
	for c := start; ; {
		if rank := bits.Reverse8(uint8(at(c).junction() & b.modes(c.road))); rank > score { // cars are the lowest bit
			best, score = c, rank
		}
		if b.line, c, _ = b.edge(c, b.line[:0]); c == start {
			break
		}
	}
	at(best).mark(at(best).two() & b.modes(best.road))
	return best
}

// divide adds the chains of connected roads. It cuts edges that would have too many points.
func (b *builder) divide(start cursor, chains *scratch.Sorter[chain]) error {
	var points [len(modes)]int // of the edge of each mode so far
	first, box := start, geo.EmptyBox
	for c := start; ; {
		var on region.Modes
		b.line, c, on = b.edge(c, b.line[:0])
		b.edgeCount++
		for _, n := range b.line {
			box.ExtendTo(b.nodes[n].Lon, b.nodes[n].Lat)
		}
		last := b.line[len(b.line)-1]
		for i, mode := range modes {
			if points[i] += len(b.line) - 1; points[i]+roadgraph.MaxBaseEdgeSegments >= roadgraph.MaxShape && on&mode != 0 {
				b.flags[last].mark(mode)
				on &^= mode
			}
			if on&mode == 0 {
				points[i] = 0
			}
		}
		if on != 0 {
			continue
		}
		against := uint32(1-first.step) / 2
		if err := chains.Add(chain{box.Order(), first.road, uint32(first.at)<<1 | against}); err != nil {
			return err
		}
		if c == start || c.step == 0 {
			return nil
		}
		first, box = c, geo.EmptyBox
	}
}
