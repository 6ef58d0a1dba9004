package roadgraph_test

import (
	"fmt"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/base/heap"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// walker finds routes over the ways of an extract as they are, without edges, turns or states: it goes from segment to
// segment and looks at each restriction anew each time, with the segments it has come by.
type walker struct {
	data *roadgraphtest.Data
	all  []hop
	from map[uint32][]hop

	enter float64 // as Costs.Enter
}

// hop is a segment of a way in one direction, open to cars.
type hop struct {
	way      int64
	from, to uint32
}

func newWalker(d *roadgraphtest.Data) *walker {
	w := &walker{data: d, from: map[uint32][]hop{}}
	for _, r := range d.Roads {
		for i := 1; i < len(r.Nodes); i++ {
			if r.Forward&region.Car != 0 {
				w.all = append(w.all, hop{r.Way, r.Nodes[i-1], r.Nodes[i]})
			}
			if r.Backward&region.Car != 0 {
				w.all = append(w.all, hop{r.Way, r.Nodes[i], r.Nodes[i-1]})
			}
		}
	}
	for _, h := range w.all {
		w.from[h.from] = append(w.from[h.from], h)
	}
	return w
}

func (w *walker) length(h hop) float64 {
	a, b := w.data.Nodes[h.from], w.data.Nodes[h.to]
	return geo.Distance(float64(a.Lat)/1e7, float64(a.Lon)/1e7, float64(b.Lat)/1e7, float64(b.Lon)/1e7)
}

// segments are the hops of an arc.
func (w *walker) segments(g *roadgraph.Graph, arc uint32) (hops []hop) {
	shape := slices.Clone(g.Shape(arc>>1, nil))
	if arc&1 == 1 {
		slices.Reverse(shape)
	}
	for i := 1; i < len(shape); i++ {
		k := slices.IndexFunc(w.all, func(h hop) bool {
			a, b := w.data.Nodes[h.from], w.data.Nodes[h.to]
			return a.Lat == shape[i-1].Lat && a.Lon == shape[i-1].Lon && b.Lat == shape[i].Lat && b.Lon == shape[i].Lon
		})
		hops = append(hops, w.all[k])
	}
	return hops
}

const remembered = 5 // hops: as long as any restriction of the tests is before its last member

// route is the length from the end of some hops to the beginning of another one.
func (w *walker) route(start []hop, to hop) float64 {
	var open heap.Heap[float64, []hop] // routes by their length
	open.Push(0, start)
	done, best := map[string]bool{}, math.Inf(1)
	for len(open) > 0 {
		n := open.Pop()
		if n.Key >= best { // the ends of hops come out in order of their cost
			break
		}
		path := n.Value[max(0, len(n.Value)-remembered):]
		key := fmt.Sprint(path)
		if done[key] {
			continue
		}
		done[key] = true
		for _, next := range w.onward(path) {
			cost := n.Key
			if w.destination(next) && !w.destination(path[len(path)-1]) {
				cost += w.enter
			}
			if next == to {
				best = min(best, cost)
			}
			open.Push(cost+w.length(next), append(slices.Clone(path), next))
		}
	}
	return best
}

// destination reports whether a hop is only for those who have a destination there.
func (w *walker) destination(h hop) bool {
	r := &w.data.Roads[h.way-1]
	for i := 1; i < len(r.Nodes); i++ {
		switch {
		case r.Nodes[i-1] == h.from && r.Nodes[i] == h.to:
			return r.DestinationForward&region.Car != 0
		case r.Nodes[i-1] == h.to && r.Nodes[i] == h.from:
			return r.DestinationBackward&region.Car != 0
		}
	}
	return false
}

// onward are the hops that may follow.
func (w *walker) onward(path []hop) (hops []hop) {
	last := path[len(path)-1]
	if w.data.Nodes[last.to].Barrier&region.Car == 0 {
		for _, next := range w.from[last.to] {
			if next.to != last.from && w.allowed(path, next) {
				hops = append(hops, next)
			}
		}
	}
	back := hop{last.way, last.to, last.from}
	if len(hops) == 0 && slices.Contains(w.all, back) && w.allowed(path, back) {
		hops = append(hops, back)
	}
	return hops
}

// allowed looks at every restriction.
func (w *walker) allowed(path []hop, next hop) bool {
	for i := range w.data.Restrictions {
		r := &w.data.Restrictions[i]
		if !w.applies(r, path) {
			continue
		}
		wanted := func(h hop) bool { return h.way == r.To && w.endsAt(h.way, h.from) }
		switch {
		case !r.Only:
			if wanted(next) {
				return false
			}
		case slices.ContainsFunc(w.from[next.from], wanted):
			if !wanted(next) && next.to != path[len(path)-1].from {
				return false
			}
		}
	}
	return true
}

// applies reports whether a path ends with the from member of a restriction and all its via members.
func (w *walker) applies(r *roadgraphtest.Restriction, path []hop) bool {
	last := path[len(path)-1]
	if r.ViaNode != roadgraphtest.NoNode {
		return last.way == r.From && last.to == r.ViaNode && w.endsAt(r.From, r.ViaNode)
	}
	if len(r.ViaWays) == 0 {
		return false
	}
	for _, way := range slices.Backward(r.ViaWays) {
		nodes := w.data.Roads[way-1].Nodes
		if len(path) < len(nodes)-1 {
			return false
		}
		part := path[len(path)-len(nodes)+1:]
		if !follows(part, way, nodes, false) && !follows(part, way, nodes, true) {
			return false
		}
		path = path[:len(path)-len(part)]
	}
	if len(path) == 0 {
		return false
	}
	last = path[len(path)-1]
	return last.way == r.From && w.endsAt(r.From, last.to)
}

// follows reports whether hops travel a way from one end to the other.
func follows(hops []hop, way int64, nodes []uint32, backward bool) bool {
	nodes = slices.Clone(nodes)
	if backward {
		slices.Reverse(nodes)
	}
	for i, h := range hops {
		if h != (hop{way, nodes[i], nodes[i+1]}) {
			return false
		}
	}
	return true
}

func (w *walker) endsAt(way int64, node uint32) bool {
	nodes := w.data.Roads[way-1].Nodes
	return nodes[0] == node || nodes[len(nodes)-1] == node
}
