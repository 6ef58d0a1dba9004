package routes

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/routing"
)

// node is a group of junctions in the graph of a divider; see groups.
type node struct {
	lat, lon int32 // 1e-7 degrees
	number   uint32
	size     uint32 // junctions
	from, to uint32 // its links
}

// link leads from a node to a neighbour.
type link struct {
	to   uint32 // index of a node
	back uint32 // index of the link that leads back
	// room is how much can flow, at most: how bad it is to cut the roads. flow is how much does flow, negative if it
	// flows back.
	room, flow int16
}

// divider divides the junctions of all modes by nested dissection. Each part of them is a graph of its own, with its
// nodes next to each other and with its links next to each other. Its halves take its place, in the other of two lists.
type divider struct {
	ctx    context.Context
	nodes  [2][]node
	links  [2][]link
	work   work
	order  []uint32 // the groups in their new order
	begins []uint8  // for each element of order, the levels on which a cell begins there
	group  errgroup.Group
}

// span is a range of elements.
type span struct{ from, to int }

// partition divides the junctions: it fills leafOf, leaves and counts.
func (b *builder) partition(ctx context.Context) error {
	g, err := b.group()
	if err != nil {
		return err
	}
	links := 0
	for base := range b.baseEdges() {
		if first, last := g.ends(b, base); first != last {
			links += 2
		}
	}
	d := &divider{ctx: ctx, order: zeros[uint32](b, "order", g.count), begins: zeros[uint8](b, "begins", g.count)}
	for i := range d.nodes {
		d.nodes[i], d.links[i] = zeros[node](b, "nodes", g.count), zeros[link](b, "links", links)
	}
	d.work = work{zeros[uint32](b, "keys", g.count), zeros[uint32](b, "open", g.count), zeros[bool](b, "sides", g.count)}
	if b.failed != nil {
		return b.failed
	}
	b.connect(g, d.nodes[0], d.links[0])
	d.group.SetLimit(runtime.GOMAXPROCS(0))
	d.divide(0, span{0, g.count}, span{0, links}, len(g.of), math.MaxInt)
	if err := cmp.Or(d.group.Wait(), ctx.Err()); err != nil {
		return err
	}
	return b.numberCells(d, g)
}

// connect makes the graph of all groups.
func (b *builder) connect(g *groups, nodes []node, links []link) {
	for base := range b.baseEdges() {
		e := b.edges.At(int(base))
		first, last := g.ends(b, base)
		nodes[first].lat, nodes[first].lon = e.Lat, e.Lon
		if end := &nodes[last]; end.lat == 0 && end.lon == 0 {
			end.lat, end.lon = e.Lat, e.Lon // roughly, if the end is far: places only help to find good cuts
			if e.EndNorth != roadgraph.FarEnd {
				end.lat, end.lon = e.Lat+int32(e.EndNorth), e.Lon+int32(e.EndEast)
			}
		}
		if first != last {
			nodes[first].to++
			nodes[last].to++
		}
	}
	for _, group := range g.of {
		nodes[group].size++
	}
	sum := uint32(0)
	for i := range nodes {
		n := &nodes[i]
		n.number = uint32(i)
		n.from, n.to, sum = sum, sum, sum+n.to
	}
	for base := range b.baseEdges() {
		first, last := g.ends(b, base)
		if first == last {
			continue
		}
		flags := b.edges.At(int(base)).Flags
		room := int16(count(flags.Modes(roadgraph.OpenForwardSet)) + count(flags.Modes(roadgraph.OpenBackwardSet)))
		x, y := &nodes[first], &nodes[last]
		links[x.to], links[y.to] = link{last, y.to, room, 0}, link{first, x.to, room, 0}
		x.to++
		y.to++
	}
}

func count(m region.Modes) int { return bits.OnesCount8(uint8(m)) }

// divide divides some nodes with their links, which have some junctions, a part of a larger number of these.
func (d *divider) divide(list int, nodes, links span, junctions, larger int) {
	for level := range routing.Levels {
		if size := routing.LeafSize << (3 * level); junctions <= size && larger > size {
			d.begins[nodes.from] |= 1 << level
		}
	}
	g := graph{d.nodes[list][nodes.from:nodes.to], d.links[list][links.from:links.to]}
	if junctions <= routing.LeafSize || d.ctx.Err() != nil {
		for i := range g.nodes {
			d.order[nodes.from+i] = g.nodes[i].number
		}
		return
	}
	w := d.work.part(nodes)
	w.cut(g)
	other := graph{d.nodes[1-list][nodes.from:nodes.to], d.links[1-list][links.from:links.to]}
	first, inside := w.split(g, other)
	middle, end, size := nodes.from+first, links.from+inside[0], 0
	for i := range other.nodes[:first] {
		size += int(other.nodes[i].size)
	}
	half := func() error {
		d.divide(1-list, span{nodes.from, middle}, span{links.from, end}, size, junctions)
		return nil
	}
	if !d.group.TryGo(half) { // all processors are busy
		_ = half() // it has no error
	}
	d.divide(1-list, span{middle, nodes.to}, span{end, end + inside[1]}, junctions-size, junctions)
}

// numberCells numbers the cells of all levels in the order of the division.
func (b *builder) numberCells(d *divider, g *groups) error {
	for _, levels := range d.begins {
		b.counts[0] += int(levels & 1)
	}
	b.leaves = zeros[routing.Leaf](b, "leaves", b.counts[0]+1)
	if b.failed != nil {
		return b.failed
	}
	var next [routing.Levels]uint32 // one more than the present cell of each level
	leafOf := d.work.keys           // of each group
	for i, group := range d.order {
		for level := range next {
			next[level] += uint32(d.begins[i] >> level & 1)
		}
		leaf := next[0] - 1
		leafOf[group] = leaf
		for level := 1; level < routing.Levels; level++ {
			b.leaves[leaf].Parents[level-1] = next[level] - 1
		}
	}
	for level := range next {
		b.counts[level] = int(next[level])
	}
	b.leafOf = g.of
	for i, group := range b.leafOf {
		b.leafOf[i] = leafOf[group]
	}
	return nil
}
