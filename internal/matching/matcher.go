package matching

import (
	"context"
	"errors"
	"sync"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// Options tune a Local matcher.
type Options struct {
	// MaxWork is the number of arcs that the route searches of one request may settle; beyond it the error is ErrWork.
	// 0 is the default, 3 million: about a second on one core.
	MaxWork int64
}

const defaultMaxWork = 3_000_000

// Local matches traces on the road graphs of a region. It is safe for concurrent use.
type Local struct {
	networks Networks
	maxWork  int64
	scratch  sync.Pool
}

var (
	_ Matcher   = (*Local)(nil)
	_ Answering = (*Local)(nil)
)

// New returns a matcher on a road graph for cars. It answers for no other profile.
func New(g *roadgraph.Graph, options Options) *Local { return NewLocal(Networks{Car: g}, options) }

// NewLocal returns a matcher that answers for the profiles that have a road graph.
func NewLocal(networks Networks, options Options) *Local {
	m := &Local{networks: networks, maxWork: options.MaxWork}
	if m.maxWork <= 0 {
		m.maxWork = defaultMaxWork
	}
	m.scratch.New = func() any { return new(scratch) }
	return m
}

// Answers implements Answering.
func (m *Local) Answers(p Profile) bool { return p < profiles && m.networks[p] != nil }

// Match implements Matcher. Without a road graph for the profile the error is ErrNoRoute.
func (m *Local) Match(ctx context.Context, req *Request) (result *Result, err error) {
	defer region.Recover(&err, region.FaultsPanic())
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !m.Answers(req.Profile) {
		return nil, ErrNoRoute
	}
	s := m.scratch.Get().(*scratch)
	defer func() {
		if s.end(); s.reusable() {
			m.scratch.Put(s)
		}
	}()
	s.begin(ctx, m, req)
	s.estimateNoise()
	s.outlierCost, s.allowBackward = outlierCost, true
	result, err = s.solve(req.Details)
	if errors.Is(err, ErrNoRoute) {
		// Too few points are left to call the others outliers.
		s.outlierCost = loneOutlierCost
		result, err = s.solve(req.Details)
	}
	if errors.Is(err, errStationary) {
		s.allowBackward = false
		result, err = s.solve(req.Details)
	}
	if errors.Is(err, errStationary) {
		return nil, ErrNoRoute
	}
	return result, err
}

// errStationary: the drive that was found does not move, but its points do.
var errStationary = errors.New("the drive does not move")
