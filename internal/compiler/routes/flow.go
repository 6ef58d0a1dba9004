package routes

import (
	"math"
	"slices"
)

// graph is a part of the groups of junctions. Its links count from its first ones.
type graph struct {
	nodes []node
	links []link
}

// work is the memory of cut, with an element for each node.
type work struct {
	// keys are 0 for sources, the greatest number for sinks, and between them tell how far a node is on the way.
	keys  []uint32
	open  []uint32 // the same, and 0 for nodes that were visited
	sides []bool   // of the best cut so far
}

const sink = math.MaxUint32

func (w *work) part(s span) *work {
	return &work{w.keys[s.from:s.to], w.open[s.from:s.to], w.sides[s.from:s.to]}
}

// cutSize is how much can flow over a cut, and how many junctions its smaller side has.
type cutSize struct{ flow, smaller int }

// cut finds a small cut that leaves at least a quarter or so of the nodes on either side: by inertial flow (Schild and
// Sommer 2015, "On Balanced Separators in Road Networks"). It fills sides.
func (w *work) cut(g graph) {
	best := cutSize{flow: math.MaxInt}
	for _, by := range directions(g) {
		if !w.assign(g, by) {
			continue
		}
		if size, ok := w.flow(g, best.flow); ok && (size.flow < best.flow || size.smaller > best.smaller) {
			best = size
			for i, open := range w.open {
				w.sides[i] = open != 0
			}
		}
	}
	if best.smaller == 0 { // all nodes at one place
		for i := range w.sides {
			w.sides[i] = i >= len(w.sides)/2
		}
	}
}

// directions returns ways to look at a map, as multiples of longitude and latitude: the first one is along its longer
// side, where the smallest cut is likely.
func directions(g graph) [4][2]int64 {
	low, high := g.nodes[0], g.nodes[0]
	for i := range g.nodes {
		n := &g.nodes[i]
		low.lat, high.lat = min(low.lat, n.lat), max(high.lat, n.lat)
		low.lon, high.lon = min(low.lon, n.lon), max(high.lon, n.lon)
	}
	const unit = 1 << 16
	x := int64(math.Cos(float64(low.lat)*(math.Pi/180e7)) * unit)
	east, north := [2]int64{x, 0}, [2]int64{0, unit}
	if (int64(high.lon)-int64(low.lon))*x < (int64(high.lat)-int64(low.lat))*unit {
		east, north = north, east
	}
	return [4][2]int64{east, north, {x, unit}, {x, -unit}}
}

// assign makes the nodes at one end of a direction sources, and those at the other end sinks. It returns false if it
// cannot tell them from each other.
func (w *work) assign(g graph, by [2]int64) bool {
	key := func(i int) int64 { return (by[0]*int64(g.nodes[i].lon) + by[1]*int64(g.nodes[i].lat)) >> 18 }
	const most = 256
	var sample [most]int64
	keys := sample[:0]
	for i, step := 0, len(g.nodes)/most+1; i < len(g.nodes); i += step {
		keys = append(keys, key(i))
	}
	slices.Sort(keys)
	low, high := keys[len(keys)/4], keys[len(keys)-1-len(keys)/4]
	if low == high {
		return false
	}
	for i := range g.nodes {
		switch k := key(i); {
		case k <= low:
			w.keys[i] = 0
		case k >= high:
			w.keys[i] = sink
		default:
			w.keys[i] = uint32(k - low)
		}
	}
	return true
}

// flow finds the greatest flow from the sources to the sinks, and with it the smallest cut: between the nodes that are
// open and the others. It returns false if the flow becomes greater than a limit.
//
// Each round visits each node at most once, straight ahead towards the sinks. So it finds ways for almost all of the
// flow in a few rounds, with far less work than an algorithm for shortest ways (Dinic 1970).
func (w *work) flow(g graph, limit int) (size cutSize, ok bool) {
	for i := range g.links {
		g.links[i].flow = 0
	}
	var way []uint32
	for before := -1; size.flow != before; {
		before = size.flow
		copy(w.open, w.keys)
		for i, key := range w.keys {
			if key != 0 {
				continue
			}
			for {
				if way = w.search(g, uint32(i), way[:0]); len(way) == 0 {
					break
				}
				if size.flow += g.augment(way); size.flow > limit {
					return size, false
				}
			}
		}
	}
	var sides [2]int
	for i, open := range w.open {
		side := 0
		if open == 0 {
			side = 1
		}
		sides[side] += int(g.nodes[i].size)
	}
	size.smaller = min(sides[0], sides[1])
	return size, true
}

// search appends the links of a way from a source to a sink with room for more flow, over open nodes; none if there is
// no way. The nodes that it visits are not open after that.
func (w *work) search(g graph, n uint32, way []uint32) []uint32 {
	for {
		best, key := uint32(0), uint32(0)
		for i := g.nodes[n].from; i < g.nodes[n].to; i++ {
			if l := &g.links[i]; w.open[l.to] > key && l.flow < l.room {
				best, key = i, w.open[l.to]
			}
		}
		switch {
		case key == sink:
			return append(way, best)
		case key != 0:
			way = append(way, best)
			n = g.links[best].to
			w.open[n] = 0
		case len(way) == 0:
			return way
		default: // go back
			last := way[len(way)-1]
			way = way[:len(way)-1]
			n = g.links[g.links[last].back].to
		}
	}
}

// augment lets as much flow along some links as there is room for.
func (g *graph) augment(way []uint32) int {
	more := int16(math.MaxInt16)
	for _, i := range way {
		more = min(more, g.links[i].room-g.links[i].flow)
	}
	for _, i := range way {
		l := &g.links[i]
		l.flow += more
		g.links[l.back].flow -= more
	}
	return int(more)
}

// split moves the nodes of either side into another graph, one side after the other. It returns the number of nodes on
// the first side, and the numbers of links inside the two sides.
func (w *work) split(g, to graph) (nodes int, links [2]int) {
	place := w.keys
	for side, is := range [2]bool{false, true} {
		n := uint32(0)
		for i, s := range w.sides {
			if s == is {
				place[i] = n
				n++
			}
		}
		if side == 0 {
			nodes = int(n)
		}
	}
	for side, is := range [2]bool{false, true} {
		half := graph{to.nodes[side*nodes:], to.links[side*links[0]:]}
		made := uint32(0)
		for i, s := range w.sides {
			if s != is {
				continue
			}
			n := g.nodes[i]
			n.from = made
			for k := g.nodes[i].from; k < g.nodes[i].to; k++ {
				if l := &g.links[k]; w.sides[l.to] == is {
					half.links[made] = link{to: place[l.to], back: l.back, room: l.room}
					l.to = made // where it is now
					made++
				}
			}
			n.to = made
			half.nodes[place[i]] = n
		}
		links[side] = int(made)
		for i := range half.links[:made] {
			half.links[i].back = g.links[half.links[i].back].to
		}
	}
	return nodes, links
}
