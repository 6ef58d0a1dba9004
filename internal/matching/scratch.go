package matching

import (
	"context"
	"math"

	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// scratch is what one request works with. Later requests use it again.
type scratch struct {
	ctx    context.Context
	graph  *roadgraph.Graph
	points []trace.Point
	radius float64   // metres: where the search for roads starts
	reach  float64   // metres: how far a point may be from its road
	sigma  []float64 // metres: one standard deviation of each point's error
	weight []float64 // of what each point tells, up to 1
	used   []int32   // the points that are matched: all, until parts of the trace are left out

	outlier float64 // what leaving out a point costs

	search roadgraph.Search
	costs  roadgraph.Costs // of the search
	routes []int32         // for each label of the search its route node, 0 where it has none
	labels []int32
	hits   []roadgraph.Hit
	before []state // hypotheses at the point before
	states []state // hypotheses at the current point

	votes  bool        // whether confidence is asked for
	bounds []int32     // where in steps each point begins, if it is
	steps  []step      // all hypotheses so far; those of before are the last ones
	nodes  []routeNode // the routes between them; node 0 means none
	chain  []int32     // the steps of the best drive
	parts  []part

	drive   []piece
	places  []place // of the chain's steps
	located []place // of the points
	numbers []float64
}

// Limits of one request's memory: about 24 MB and 32 MB.
const (
	maxSteps = 1 << 20
	maxNodes = 1 << 22
)

// reusable reports whether the scratch is small enough to be kept.
func (s *scratch) reusable() bool { return cap(s.steps) <= maxSteps/16 && cap(s.nodes) <= maxNodes/16 }

// begin forgets the request before.
func (s *scratch) begin(ctx context.Context, m *Local, req *Request) {
	s.ctx, s.graph, s.points = ctx, m.graph, req.Points
	s.radius, s.reach = req.Radius, req.MaxRadius
	if !(s.reach > 0) {
		s.reach = DefaultMaxRadius
	}
	if !(s.radius > 0) {
		s.radius = DefaultRadius
	}
	s.radius = math.Min(s.radius, s.reach)
	s.votes = req.Details
	s.search.Work, s.search.MaxWork = 0, m.maxWork
}

// end lets go of what belongs to the request.
func (s *scratch) end() { s.ctx, s.points = nil, nil }
