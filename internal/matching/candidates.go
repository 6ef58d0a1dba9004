package matching

import (
	"cmp"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// candidate is a place on an arc where the drive may have been at the time of a point: a state of the hidden Markov
// model.
type candidate struct {
	state, arc uint32 // of the road graph
	head       roadgraph.Head
	point      int32   // the one the place was found by
	offset     float64 // metres from the arc's beginning
	length     float64 // of the arc, metres
	perMetre   float64 // what a metre of the arc costs a route
	pace       float64 // seconds that a metre of the arc takes at its free speed
	distance   float64 // metres from the point
	cost       float64 // of the best drive up to here
	backward   float64 // greatest distance in metres of points behind it since it last moved forward
	straight   float64 // metres in a straight line from its point to the next, less what their errors add
	step       step
}

// step is what remains of a candidate: where it is, and how the best drive gets there.
type step struct {
	state    uint32
	offset   float32 // metres
	previous int32   // in scratch.steps; -1 where the drive begins
	route    int32   // the last node of the route, where there is one
	point    int32
	share    float32 // probability; see updateShares
	cost     float32 // of the best drive up to here
	move     move
}

// move is how a drive gets from one candidate to the next.
type move uint8

const (
	moveBegin      move = iota // the drive begins here, or goes on after a gap
	moveForward                // along the same arc
	moveStationary             // the point lies a little behind, which is noise
	moveTurnBack               // back on the same road
	moveRoute                  // over the arcs of a route
	moveOutlier                // the point is an outlier
)

// maxRoads limits the candidates of a point to its nearest roads. In the densest cities some 40 lie within 70 m.
const maxRoads = 48

// findCandidates fills candidates with those of all roads within a radius of a point.
func (s *scratch) findCandidates(point int32, radius float64) {
	s.candidates, s.closest = s.candidates[:0], math.Inf(1)
	at := s.points[point].Location
	s.hits = s.search.Near(s.graph, at.Lat(), at.Lon(), radius, s.hits[:0])
	if len(s.hits) > maxRoads {
		slices.SortFunc(s.hits, func(a, b roadgraph.Hit) int {
			return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.Edge, b.Edge))
		})
		s.hits = s.hits[:maxRoads]
	}
	slices.SortFunc(s.hits, func(a, b roadgraph.Hit) int { return cmp.Compare(a.Edge, b.Edge) })
	for i := range s.hits {
		h := &s.hits[i]
		s.closest = min(s.closest, h.Distance)
		edge := s.graph.Edge(h.Edge)
		for direction, open := range [2]roadgraph.Flags{roadgraph.Forward, roadgraph.Backward} {
			if edge.Flags.Has(open) {
				s.addCandidates(point, h, 2*h.Edge+uint32(direction), &edge)
			}
		}
	}
}

// addCandidates appends the candidates of a place in one direction: one for each state of the arc.
func (s *scratch) addCandidates(point int32, h *roadgraph.Hit, arc uint32, edge *roadgraph.Edge) {
	offset := h.Offset
	if arc&1 == 1 {
		offset = edge.Length - offset
	}
	st := candidate{state: arc, arc: arc, offset: float64(offset) / 1000, length: float64(edge.Length) / 1000,
		distance: h.Distance, cost: math.Inf(1), point: point, head: edge.Arcs[arc&1].Head}
	if edge.Length > 0 {
		st.pace = float64(edge.Arcs[arc&1].Duration) / float64(edge.Length)
		st.perMetre = s.costs.PerMetre + s.costs.PerSecond*st.pace
	}
	s.candidates = append(s.candidates, st)
	if edge.Flags.Has(roadgraph.HasStates) {
		for state, last := s.graph.StatesOf(arc); state < last; state++ {
			st.state = state
			s.candidates = append(s.candidates, st)
		}
	}
}
