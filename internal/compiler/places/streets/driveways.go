package streets

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/base/heap"
	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

const (
	// maxApproach is the greatest distance, in metres, of a road without a name that is a house's own access.
	maxApproach = 10
	// maxDriveway is the greatest length, in metres, of the way to a street on roads without a name.
	maxDriveway = 500
	// The cost of a street at the end of a house's own access is the distance of the access, drivewayCost, and
	// drivewayShare of the way to the street. A longer way may lead to more houses.
	drivewayShare, drivewayCost = 0.1, 5
)

// Access is the road without a name that leads to a house.
type Access struct {
	metres   float64 // from the house
	toStreet float64 // from there on such roads to the nearest street, in metres
	street   uint32
	_        uint32
}

// Join adds the street at the end of an access to a list, unless a street of the list is as near as the access. The
// list is sorted by number.
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

// Driveways are the roads without a name, and the streets to which they lead. They meet at common positions.
type Driveways struct {
	lines
	streets *Map
}

// NewDriveways indexes the roads without a name.
func NewDriveways(dir *scratch.Dir, drives objects.Features, m *Map) (*Driveways, error) {
	w := &Driveways{newLines(dir, "driveway"), m}
	for i, r := range drives.All {
		if err := w.add(uint32(i), &r.Geometry); err != nil {
			return nil, err
		}
	}
	return w, w.seal()
}

// approach is the nearest street along roads without a name, and the distance to it.
type approach struct {
	metres float64
	street uint32 // + 1; 0 for none
}

// nearer reports whether an approach is better than another one.
func (a approach) nearer(than approach) bool {
	return a.street != 0 && (than.street == 0 || a.metres < than.metres ||
		a.metres == than.metres && a.street < than.street)
}

// Network is the roads without a name near a box. Only one goroutine may use it.
type Network struct {
	w *Driveways
	// nodes are a hash table with linear probing, which is several times as fast as a map here.
	nodes []node
	links []link
}

type node struct {
	at    geometry.Coord
	used  bool   // false if the slot is free
	links uint32 // 1 plus the last of the node's links, or 0
	approach
}

type link struct{ to, before uint32 } // a slot, and 1 plus the previous link of the same node

// slot returns the slot of the node at a position, or a free slot if there is none.
func (n *Network) slot(at geometry.Coord) uint32 {
	mask := uint32(len(n.nodes) - 1)
	i := (uint32(at.X)*0x9E3779B1 ^ uint32(at.Y)*0x85EBCA6B) >> 7 & mask
	for n.nodes[i].used && n.nodes[i].at != at {
		i = (i + 1) & mask
	}
	return i
}

// add returns the slot of a position, and makes it a node.
func (n *Network) add(at geometry.Coord) uint32 {
	i := n.slot(at)
	n.nodes[i].at, n.nodes[i].used = at, true
	return i
}

func (n *Network) link(from, to uint32) {
	n.links = append(n.links, link{to, n.nodes[from].links})
	n.nodes[from].links = uint32(len(n.links))
}

// Within returns the network in a box, with the way from each node to a street (Dijkstra, from all streets at once).
func (w *Driveways) Within(box geo.Box) *Network {
	box = Around(box, maxApproach+maxDriveway)
	var roads []*part
	edges := 0
	w.parts.Each(&box, func(p *part) {
		roads = append(roads, p)
		edges += int(p.segments)
	})
	n := &Network{w: w}
	if edges == 0 {
		return n
	}
	n.nodes, n.links = make([]node, 4<<bits.Len(uint(edges))), make([]link, 0, 2*edges)
	for _, p := range roads {
		line := w.of(p)
		box.Extend(geometry.BoxOf(line))
		from := n.add(line[0])
		for _, c := range line[1:] {
			to := n.add(c)
			n.link(from, to)
			n.link(to, from)
			from = to
		}
	}
	var queue heap.Heap[float64, uint32]
	w.streets.parts.Each(&box, func(p *part) {
		if w.streets.At(p.line).Kind == placefile.PathStreet {
			return
		}
		for _, c := range w.streets.of(p) {
			i := n.slot(c)
			if at, begin := &n.nodes[i], (approach{0, p.line + 1}); at.used && begin.nearer(at.approach) {
				at.approach = begin
				queue.Push(0, i)
			}
		}
	})
	for len(queue) > 0 {
		next := queue.Pop()
		at := n.nodes[next.Value]
		if next.Key > at.metres {
			continue
		}
		metresTo := Ruler(at.at)
		for i := at.links; i != 0; i = n.links[i-1].before {
			to := &n.nodes[n.links[i-1].to]
			if to.street != 0 && to.metres < at.metres {
				continue // already nearer
			}
			further := approach{at.metres + metresTo(to.at), at.street}
			if further.metres <= maxDriveway && further.nearer(to.approach) {
				to.approach = further
				queue.Push(further.metres, n.links[i-1].to)
			}
		}
	}
	return n
}

// Access returns an outline's own access, or false if it has none.
func (n *Network) Access(o *Outline) (own Access, found bool) {
	if len(n.links) == 0 {
		return own, false
	}
	own.metres = maxApproach
	wide := Around(o.box, maxApproach)
	var roads []*part
	n.w.parts.Each(&wide, func(p *part) { roads = append(roads, p) })
	// Of equally near ones the first counts.
	slices.SortFunc(roads, func(p, q *part) int { return cmp.Compare(p.first, q.first) })
	for _, p := range roads {
		n.w.segments(p, &wide, func(from, to geometry.Coord) {
			leads := n.nodes[n.slot(from)].approach
			if other := n.nodes[n.slot(to)].approach; other.nearer(leads) {
				leads = other
			}
			if leads.street == 0 {
				return
			}
			if d := o.to(from, to); d < own.metres {
				own, found = Access{metres: d, toStreet: leads.metres, street: leads.street - 1}, true
			}
		})
	}
	return own, found
}
