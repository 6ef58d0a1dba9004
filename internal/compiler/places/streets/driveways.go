package streets

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
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

// Access is the road without a name that leads to a house.
type Access struct {
	metres   float64 // from the house
	toStreet float64 // from there on such roads to the nearest street, in metres
	street   uint32
	_        uint32
}

// Join adds the street that an access leads to where no street of a list is as near as the access. The list is in the
// order of the numbers, in which each street is once.
func (a *Access) Join(list []Candidate, m *Map) []Candidate {
	if slices.ContainsFunc(list, func(c Candidate) bool { return c.Distance <= a.metres }) {
		return list
	}
	c := Candidate{m.At(a.street).Number, a.street, a.metres, a.metres + drivewayCost + drivewayShare*a.toStreet}
	i, has := Find(list, c.Number)
	if !has {
		return slices.Insert(list, i, c)
	}
	if c.Compare(&list[i]) < 0 {
		list[i] = c
	}
	return list
}

// Driveways are the roads without a name, and the streets that they lead to.
type Driveways struct {
	data     *objects.Data
	streetAt *scratch.Array[uint32] // of each node of a road: the first street that it is part of, + 1; 0 for none
	roads    *Index[uint32]         // along the curve
}

// NewDriveways finds the roads without a name, and where streets begin.
func NewDriveways(dir *scratch.Dir, d *objects.Data, m *Map) (*Driveways, error) {
	w := &Driveways{data: d, streetAt: scratch.NewArray[uint32](dir, "streetat"),
		roads: NewIndex[uint32](dir, "driveways")}
	at, err := w.streetAt.Extend(d.Nodes.Len())
	if err != nil {
		return nil, err
	}
	type sorted struct {
		order uint64
		road  uint32
		_     uint32
	}
	sorter := scratch.NewSorter(dir, "driveways", dir.SortMemory(), func(a, b sorted) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.road, b.road))
	})
	streets := m.streets.Slice()
	for i := range d.Roads.Slice() {
		r := &d.Roads.Slice()[i]
		if r.Named == 0 {
			box := w.box(i)
			err = cmp.Or(err, sorter.Add(sorted{order: box.Order(), road: uint32(i)}))
			continue
		}
		ref := placefile.NewRef(mapdata.KindWay, r.Way)
		n, ok := slices.BinarySearchFunc(streets, ref, func(s Street, ref uint64) int {
			return placefile.CompareRefs(s.Ref, ref)
		})
		if !ok || streets[n].Kind == tagging.PathStreet {
			continue
		}
		for _, node := range d.NodesOf(i) {
			if at[node] == 0 || uint32(n)+1 < at[node] {
				at[node] = uint32(n) + 1
			}
		}
	}
	err = cmp.Or(err, sorter.Each(func(s *sorted) error { return w.roads.Add(s.road, w.box(int(s.road))) }))
	return w, cmp.Or(err, w.roads.Seal())
}

// at is where a node is.
func (w *Driveways) at(node uint32) geometry.Coord {
	n := &w.data.Nodes.Slice()[node]
	return geometry.Coord{X: n.Lon, Y: n.Lat}
}

// box is the box of a road.
func (w *Driveways) box(road int) boxtree.Box {
	b := boxtree.Empty
	for _, n := range w.data.NodesOf(road) {
		b.Extend(w.at(n).Box())
	}
	return b
}

// Free removes the files.
func (w *Driveways) Free() error { return cmp.Or(w.streetAt.Free(), w.roads.Free()) }

// edges yields the edges of roads without a name that may touch a box, in the order of the roads.
func (w *Driveways) edges(b *boxtree.Box, yield func(from, to uint32)) {
	var found []uint32
	w.roads.Each(b, func(road *uint32) { found = append(found, *road) })
	slices.Sort(found)
	for _, i := range found {
		nodes := w.data.NodesOf(int(i))
		for k := 1; k < len(nodes); k++ {
			box := w.at(nodes[k-1]).Box()
			box.Extend(w.at(nodes[k]).Box())
			if box.Overlaps(b) {
				yield(nodes[k-1], nodes[k])
			}
		}
	}
}

// approach is the street that is nearest on roads without a name, and how far it is.
type approach struct {
	metres float64
	street uint32 // + 1; 0 for none
}

// nearer tells whether an approach is to be preferred to another one.
func (a approach) nearer(than approach) bool {
	return a.street != 0 && (than.street == 0 || a.metres < than.metres ||
		a.metres == than.metres && a.street < than.street)
}

// Network is the part of the roads without a name that the houses in some box may have as theirs. Only one goroutine
// may use it.
type Network struct {
	w *Driveways
	// nodes are a hash table with linear probing, which is several times as fast as a map here.
	nodes []node
	links []link
}

type node struct {
	number uint32 // + 1; 0 where the slot is free
	links  uint32 // the last of the node's links, + 1; 0 for none
	approach
}

type link struct{ to, before uint32 } // a slot, and another link of the same node, + 1

// slot finds the slot of a node, which becomes its own if it has none.
func (n *Network) slot(number uint32) uint32 {
	mask := uint32(len(n.nodes) - 1)
	i := number * 0x9E3779B1 >> 7 & mask
	for n.nodes[i].number != 0 && n.nodes[i].number != number+1 {
		i = (i + 1) & mask
	}
	n.nodes[i].number = number + 1
	return i
}

func (n *Network) link(from, to uint32) {
	n.links = append(n.links, link{to, n.nodes[from].links})
	n.nodes[from].links = uint32(len(n.links))
}

// Within looks from all streets along the roads without a name to what is in a box.
func (w *Driveways) Within(box boxtree.Box) *Network {
	box = surely(box, maxApproach+maxDriveway)
	var edges [][2]uint32
	w.edges(&box, func(from, to uint32) { edges = append(edges, [2]uint32{from, to}) })
	n := &Network{w: w, nodes: make([]node, 4<<bits.Len(uint(len(edges)))), links: make([]link, 0, 2*len(edges))}
	for _, e := range edges {
		from, to := n.slot(e[0]), n.slot(e[1])
		n.link(from, to)
		n.link(to, from)
	}
	var queue minheap.Heap[uint32]
	streetAt := w.streetAt.Slice()
	for i := range n.nodes {
		if at := &n.nodes[i]; at.number != 0 && streetAt[at.number-1] != 0 {
			at.approach = approach{0, streetAt[at.number-1]}
			queue.Push(0, uint32(i))
		}
	}
	for len(queue) > 0 {
		next := queue.Pop()
		at := n.nodes[next.Value]
		if next.Key > at.metres {
			continue
		}
		here := w.at(at.number - 1)
		for i := at.links; i != 0; i = n.links[i-1].before {
			to := &n.nodes[n.links[i-1].to]
			further := approach{at.metres + geometry.Distance(here, w.at(to.number-1)), at.street}
			if further.metres <= maxDriveway && further.nearer(to.approach) {
				to.approach = further
				queue.Push(further.metres, n.links[i-1].to)
			}
		}
	}
	return n
}

// Access returns the road without a name that is the own access of an outline, with where it leads to.
func (n *Network) Access(o *Outline) (own Access, found bool) {
	if len(n.links) == 0 {
		return own, false
	}
	own.metres = maxApproach
	wide := Around(o.box, maxApproach)
	n.w.edges(&wide, func(from, to uint32) {
		leads := n.nodes[n.slot(from)].approach
		if other := n.nodes[n.slot(to)].approach; other.nearer(leads) {
			leads = other
		}
		if leads.street == 0 {
			return
		}
		if d := o.to(n.w.at(from), n.w.at(to)); d < own.metres {
			own, found = Access{metres: d, toStreet: leads.metres, street: leads.street - 1}, true
		}
	})
	return own, found
}
