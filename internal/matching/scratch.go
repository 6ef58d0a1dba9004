package matching

import (
	"context"
	"errors"
	"math"

	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// scratch is the working memory of one request. Later requests reuse it.
type scratch struct {
	ctx       context.Context
	graph     *roadgraph.Graph
	mode      *travelMode
	points    []trace.Point
	radius    float64   // metres: where the search for roads starts
	maxRadius float64   // metres: how far a point may be from its road
	sigma     []float64 // metres: standard deviation of each point's error
	weight    []float64 // of each point's emission, up to 1
	fit       float64   // metres: sigma of the points that fit best; see misfit
	used      []int32   // the points to match: all, until parts of the trace are left out

	outlierCost   float64 // of leaving out a point
	allowBackward bool    // whether a point behind the one before may be noise
	skippedCost   float64 // of leaving out all points so far

	search     roadgraph.Search
	costs      roadgraph.Costs // of the search
	routes     []int32         // for each label of the search its route node, 0 where it has none
	labels     []int32
	hits       []roadgraph.Hit
	closest    float64     // metres from the current point to the nearest road
	before     []candidate // of the points before
	candidates []candidate // of the current point

	withConfidence bool
	bounds         []int32       // where in steps each point begins, if withConfidence
	steps          []step        // of all candidates so far; those of the previous point are last
	nodes          []routeNode   // the routes between them; node 0 means none
	alternatives   []alternative // of each node, if withConfidence
	bestSteps      []int32       // the steps of the best drive
	parts          []part

	drive   []piece
	places  []place // of bestSteps
	located []place // of the points
	order   []int32 // of the points along the drive
	numbers []float64
	shape   []roadgraph.Point // of an edge
}

// Limits of one request's memory: about 24 MB and 32 MB.
const (
	maxSteps = 1 << 20
	maxNodes = 1 << 22
)

// maxKept is the largest memory of a search, in bytes, that is kept for the next request.
const maxKept = 4 << 20

// maxHits is the largest number of roads near a point for which memory is kept.
const maxHits = 1 << 14

// reusable reports whether the scratch is small enough to be kept.
func (s *scratch) reusable() bool {
	return cap(s.steps) <= maxSteps/16 && cap(s.nodes) <= maxNodes/16 && cap(s.sigma) <= 2*DefaultMaxPoints &&
		cap(s.hits) <= maxHits && s.search.Memory() <= maxKept
}

// begin prepares the scratch for a request.
func (s *scratch) begin(ctx context.Context, m *Local, req *Request) {
	s.ctx, s.points = ctx, req.Points
	s.graph, s.mode = m.networks[req.Profile], &travelModes[req.Profile]
	s.radius, s.maxRadius = req.Radius, req.MaxRadius
	if !(s.maxRadius > 0) {
		s.maxRadius = DefaultMaxRadius
	}
	if !(s.radius > 0) {
		s.radius = DefaultRadius
	}
	s.radius = math.Min(s.radius, s.maxRadius)
	s.withConfidence = req.Details
	s.search.Begin(m.maxWork, req.Meter)
}

// Work beside that of searches. The unit is a settled state.
const (
	workPerPoint     = 16
	workPerCandidate = 1
	hitsPerWork      = 2 // roads near a point
	piecesPerWork    = 2 // pieces of the drive that a point left out is compared with
)

// spend counts work beside that of the search. The error is ErrWork, or that of the context or the meter.
func (s *scratch) spend(work int) error { return overloaded(s.search.Spend(s.ctx, int64(work))) }

// overloaded translates the error of a search.
func overloaded(err error) error {
	if errors.Is(err, roadgraph.ErrWork) {
		return ErrWork
	}
	return err
}

// exhausted reports whether the request exceeds its work outside of searches, which stop by themselves.
func (s *scratch) exhausted() bool { return s.search.Work > s.search.MaxWork }

// end releases what belongs to the request.
func (s *scratch) end() { s.ctx, s.points, s.search.Meter = nil, nil, nil }
