package geocoding

import (
	"cmp"
	"container/heap"

	"github.com/mapsedge/caddy-maps/internal/build/extract"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
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

// driveways are the roads without a name, and which street each leads to.
type driveways struct {
	grid     grid
	segments []drivewaySegment
	streets  map[int32]approach // of their nodes
}

type drivewaySegment struct {
	a, b     coord
	from, to int32 // nodes
}

// approach is the street that is nearest on roads without a name, and how far it is.
type approach struct {
	metres float64
	entry  uint32
}

func isDriveway(r *extract.Road) bool {
	return r.Name == "" && r.Class >= mapdata.Unclassified && r.Class <= mapdata.Track
}

// newDriveways looks from all streets at once along the roads without a name. ways has the entries of ways that are
// streets.
func newDriveways(d *extract.Data, ways map[int64]uint32) *driveways {
	w := &driveways{streets: map[int32]approach{}}
	at := func(n int32) coord { return coord{d.Nodes[n].Lon, d.Nodes[n].Lat} }
	streetAt := make(map[int32]uint32) // of the nodes of driveways
	for i := range d.Roads {
		if isDriveway(&d.Roads[i]) {
			for _, n := range d.Roads[i].Nodes {
				streetAt[n] = 0
			}
		}
	}
	for i := range d.Roads {
		entry, ok := ways[d.Roads[i].Way]
		if !ok {
			continue
		}
		for _, n := range d.Roads[i].Nodes {
			if old, ok := streetAt[n]; ok && (old == 0 || entry+1 < old) {
				streetAt[n] = entry + 1
			}
		}
	}
	neighbours := make(map[int32][]int32, len(streetAt))
	for i := range d.Roads {
		r := &d.Roads[i]
		if !isDriveway(r) {
			continue
		}
		for k := 1; k < len(r.Nodes); k++ {
			a, b := r.Nodes[k-1], r.Nodes[k]
			neighbours[a], neighbours[b] = append(neighbours[a], b), append(neighbours[b], a)
			s := drivewaySegment{at(a), at(b), a, b}
			w.grid.add(boxOf([]coord{s.a, s.b}), uint32(len(w.segments)))
			w.segments = append(w.segments, s)
		}
	}
	w.grid.seal()
	var queue approachQueue
	for n, street := range streetAt {
		if street != 0 {
			queue = append(queue, queuedApproach{approach{0, street - 1}, n})
		}
	}
	heap.Init(&queue)
	for len(queue) > 0 {
		a := heap.Pop(&queue).(queuedApproach)
		if _, known := w.streets[a.node]; known {
			continue
		}
		w.streets[a.node] = a.approach
		for _, n := range neighbours[a.node] {
			further := a.metres + distance(at(a.node), at(n))
			if _, known := w.streets[n]; !known && further <= maxDriveway {
				heap.Push(&queue, queuedApproach{approach{further, a.entry}, n})
			}
		}
	}
	return w
}

// near returns the driveway that is the own access of an outline, with how far it is and where it leads to.
func (w *driveways) near(o *outline, work func(int64) bool) (access float64, leads approach) {
	access = maxApproach
	items, steps := w.grid.near(nil, o.box.widened(maxApproach))
	if !work(steps) {
		return access, leads
	}
	for _, i := range items {
		s := &w.segments[i]
		from, okFrom := w.streets[s.from]
		to, okTo := w.streets[s.to]
		if !okFrom || okTo && to.compare(from) < 0 {
			from = to
		}
		d, n := o.to(s.a, s.b)
		if !work(n) {
			break
		}
		if (okFrom || okTo) && d < access {
			access, leads = d, from
		}
	}
	return access, leads
}

func (a approach) compare(o approach) int {
	return cmp.Or(cmp.Compare(a.metres, o.metres), cmp.Compare(a.entry, o.entry))
}

type queuedApproach struct {
	approach
	node int32
}

// approachQueue is a heap with the shortest way first; of equally long ones, the same one whatever the order they came
// in.
type approachQueue []queuedApproach

func (q approachQueue) Len() int      { return len(q) }
func (q approachQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q approachQueue) Less(i, j int) bool {
	return cmp.Or(q[i].compare(q[j].approach), cmp.Compare(q[i].node, q[j].node)) < 0
}
func (q *approachQueue) Push(x any) { *q = append(*q, x.(queuedApproach)) }
func (q *approachQueue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}
