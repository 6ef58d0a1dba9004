package places

import (
	"cmp"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
	"github.com/mapsedge/caddy-maps/internal/geocoding/tagging"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
	"github.com/mapsedge/caddy-maps/internal/minheap"
)

const (
	// maxApproach is how near, in metres, a road without a name must come to a house to be its own access.
	maxApproach = 10
	// maxDriveway is how long the way to a street may be on roads without a name, in metres.
	maxDriveway = 500
	// The cost of a street that a house's own access leads to: how far the access is, and a share of the way to the
	// street, since the longer it is the more houses it may lead to.
	drivewayShare, drivewayCost = 0.1, 5
)

// access is the road without a name that leads to a house.
type access struct {
	metres   float64 // from the house
	toStreet float64 // from there on such roads to the nearest street, in metres
	street   uint32
	_        uint32
}

// driveways are the roads without a name, and the streets that they lead to.
type driveways struct {
	data     *extract.Data
	streetAt *scratch.Array[uint32] // of each node of a road: the first street that it is part of, + 1; 0 for none
	items    *scratch.Array[uint32] // roads, along the curve
	index    *boxIndex
}

// newDriveways finds the roads without a name, and where streets begin.
func newDriveways(dir *scratch.Dir, d *extract.Data, streets []street) (*driveways, error) {
	w := &driveways{data: d, streetAt: scratch.NewArray[uint32](dir, "streetat"),
		items: scratch.NewArray[uint32](dir, "driveways"), index: newBoxIndex(dir, "drivewayboxes")}
	at, err := w.streetAt.Extend(d.Nodes.Len())
	if err != nil {
		return nil, err
	}
	type sorted struct {
		order uint64
		road  uint32
		_     uint32
	}
	sorter := scratch.NewSorter(dir, "driveways", sortMemory(dir), func(a, b sorted) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.road, b.road))
	})
	for i := range d.Roads.Slice() {
		r, nodes := &d.Roads.Slice()[i], d.NodesOf(i)
		if isDriveway(r) {
			box := w.box(nodes)
			err = cmp.Or(err, sorter.Add(sorted{order: box.Order(), road: uint32(i)}))
			continue
		}
		ref := placefile.NewRef(mapdata.KindWay, r.Way)
		n, ok := slices.BinarySearchFunc(streets, ref, func(s street, ref uint64) int {
			return cmp.Or(cmp.Compare(s.ref&3, ref&3), cmp.Compare(int64(s.ref)>>2, int64(ref)>>2))
		})
		if !ok || streets[n].kind == tagging.PathStreet {
			continue
		}
		for _, node := range nodes {
			if at[node] == 0 || uint32(n)+1 < at[node] {
				at[node] = uint32(n) + 1
			}
		}
	}
	err = cmp.Or(err, sorter.Each(func(s *sorted) error {
		return cmp.Or(w.items.Append(s.road), w.index.add(w.box(d.NodesOf(int(s.road)))))
	}))
	return w, cmp.Or(err, w.index.seal())
}

func isDriveway(r *extract.Road) bool {
	return r.Name == 0 && r.Class >= mapdata.Unclassified && r.Class <= mapdata.Track
}

// at is where a node is.
func (w *driveways) at(node uint32) geometry.Coord {
	n := &w.data.Nodes.Slice()[node]
	return geometry.Coord{X: n.Lon, Y: n.Lat}
}

func (w *driveways) box(nodes []uint32) boxtree.Box {
	b := boxtree.Empty
	for _, n := range nodes {
		b.Extend(w.at(n).Box())
	}
	return b
}

func (w *driveways) free() error { return cmp.Or(w.streetAt.Free(), w.items.Free(), w.index.free()) }

// edge is one of a road without a name.
type edge struct{ from, to uint32 }

// edges yields the edges that may touch a boxtree.Box, in the order of the roads. It returns how many were looked at.
func (w *driveways) edges(b *boxtree.Box, yield func(e edge, from, to geometry.Coord)) (steps int64) {
	var found []uint32
	items := w.items.Slice()
	steps = w.index.each(b, func(from, to int) { found = append(found, items[from:to]...) })
	slices.Sort(found)
	for _, i := range found {
		nodes := w.data.NodesOf(int(i))
		steps += int64(len(nodes))
		last := w.at(nodes[0])
		for k := 1; k < len(nodes); k++ {
			here := w.at(nodes[k])
			if box := geometry.BoxOf([]geometry.Coord{last, here}); box.Overlaps(b) {
				yield(edge{nodes[k-1], nodes[k]}, last, here)
			}
			last = here
		}
	}
	return steps
}

// approach is the street that is nearest on roads without a name, and how far it is.
type approach struct {
	metres float64
	street uint32
}

func (a approach) compare(o approach) int {
	return cmp.Or(cmp.Compare(a.metres, o.metres), cmp.Compare(a.street, o.street))
}

// network is the part of the roads without a name that some houses may have as theirs.
type network struct {
	w        *driveways
	nodes    []uint32 // sorted
	first    []uint32 // of the neighbours of each node
	beside   []uint32 // neighbours
	approach []approach
}

// network looks from all streets in a box along the roads without a name.
func (w *driveways) network(b *boxtree.Box) (*network, int64) {
	n := &network{w: w}
	var edges []edge
	steps := w.edges(b, func(e edge, _, _ geometry.Coord) {
		edges = append(edges, e)
		n.nodes = append(n.nodes, e.from, e.to)
	})
	slices.Sort(n.nodes)
	n.nodes = slices.Clip(slices.Compact(n.nodes))
	n.first = make([]uint32, len(n.nodes)+2)
	for i := range edges {
		e := &edges[i]
		e.from, e.to = n.indexOf(e.from), n.indexOf(e.to)
		n.first[e.from+2]++
		n.first[e.to+2]++
	}
	for i := 2; i < len(n.first); i++ {
		n.first[i] += n.first[i-1]
	}
	n.beside = make([]uint32, 2*len(edges))
	for _, e := range edges {
		n.beside[n.first[e.from+1]] = e.to
		n.beside[n.first[e.to+1]] = e.from
		n.first[e.from+1]++
		n.first[e.to+1]++
	}
	n.approach = make([]approach, len(n.nodes))
	var queue minheap.Heap[uint32]
	at := w.streetAt.Slice()
	for i, node := range n.nodes {
		n.approach[i].metres = math.Inf(1)
		if street := at[node]; street != 0 {
			n.approach[i] = approach{0, street - 1}
			queue.Push(0, uint32(i))
		}
	}
	for len(queue) > 0 {
		next := queue.Pop()
		i := next.Value
		a := n.approach[i]
		if next.Key > a.metres {
			continue
		}
		here := w.at(n.nodes[i])
		for _, k := range n.beside[n.first[i]:n.first[i+1]] {
			further := approach{a.metres + geometry.Distance(here, w.at(n.nodes[k])), a.street}
			if further.metres <= maxDriveway && further.compare(n.approach[k]) < 0 {
				n.approach[k] = further
				queue.Push(further.metres, k)
			}
		}
	}
	return n, steps + int64(len(n.nodes)+len(edges))
}

func (n *network) indexOf(node uint32) uint32 {
	i, _ := slices.BinarySearch(n.nodes, node)
	return uint32(i)
}

// near returns the driveway that is the own access of an outline, with where it leads to.
func (n *network) near(o *outline, work func(int64) bool) (own access, found bool) {
	own.metres = maxApproach
	wide := widened(o.box, maxApproach)
	steps := n.w.edges(&wide, func(e edge, from, to geometry.Coord) {
		leads := n.approach[n.indexOf(e.from)]
		if other := n.approach[n.indexOf(e.to)]; other.compare(leads) < 0 {
			leads = other
		}
		if math.IsInf(leads.metres, 1) {
			return
		}
		d, steps := o.to(from, to)
		work(steps)
		if d < own.metres {
			own, found = access{metres: d, toStreet: leads.metres, street: leads.street}, true
		}
	})
	return own, work(steps) && found
}
