package routing

import (
	"context"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// Engine finds routes on a region. It is a Router, safe for concurrent use.
type Engine struct {
	file     *region.File
	networks [3]*network // by profile
}

// network is the roads of one profile.
type network struct {
	*Overlay
	profile  Profile
	live     atomic.Pointer[live]
	changing sync.Mutex // of live
	workers  sync.Pool
}

// live is the costs of a network at a time.
type live struct {
	speeds   Speeds
	standard *metric
	metrics  metrics // for other costs
}

// stored returns the metric of the region file.
func (n *network) stored() *metric {
	return newMetric(n.Overlay, storedMatrices{n.Overlay}, NewModel(Costs{Profile: n.profile}))
}

// NewEngine returns a router on the graphs of a region, which are nil for modes without roads. It holds no reference to
// the file. Its cost does not depend on the size of the region.
func NewEngine(f *region.File, graphs ...*roadgraph.Graph) (*Engine, error) {
	e := &Engine{file: f}
	for i, g := range graphs {
		if g == nil {
			continue
		}
		o, err := OpenOverlay(f, g, 1<<i)
		if err != nil {
			return nil, err
		}
		if o != nil {
			n := &network{Overlay: o, profile: 1 << i}
			n.live.Store(&live{standard: n.stored()})
			n.workers.New = func() any { return new(worker) }
			e.networks[i] = n
		}
	}
	return e, nil
}

// Routes reports whether the region has routes of a profile.
func (e *Engine) Routes(p Profile) bool { return e.network(p) != nil }

func (e *Engine) network(p Profile) *network {
	if p == 0 {
		p = region.Car
	}
	return e.networks[bits.TrailingZeros8(uint8(p))]
}

// worker is the memory of one request. Later requests use it again.
type worker struct {
	search  Search
	check   Search // whether alternatives are good
	hits    []roadgraph.Hit
	path    path
	shape   []roadgraph.Point
	first   []int
	seconds []float64
	from    []end
	buckets buckets
}

// work calls f with a worker and the metric of some costs. lengths says that the metric must have lengths.
func (e *Engine) work(ctx context.Context, c *Costs, lengths bool, meter Meter,
	f func(n *network, m *metric, w *worker) error) (err error) {
	defer region.Recover(&err, region.FaultsPanic())
	n := e.network(c.Profile)
	if n == nil {
		return ErrNoRoute
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	now := n.live.Load()
	m := now.standard
	if c.Avoid != 0 || lengths && !m.hasLengths() {
		if m, err = now.metrics.get(ctx, e.file, n, now.speeds, c.Avoid); err != nil {
			return err
		}
	}
	if len(c.AvoidPolygons) > 0 {
		m = m.without(c.AvoidPolygons)
	}
	w := n.workers.Get().(*worker)
	w.search.m, w.search.meter, w.search.work = m, meter, 0
	if err = f(n, m, w); err == nil && meter != nil {
		err = meter.Spend(w.search.work)
	}
	n.workers.Put(w) // not after a panic, which may leave it in any state
	return err
}

// Nearest implements Router.
func (e *Engine) Nearest(ctx context.Context, at *Waypoint, profile Profile, number int) (found []Snapped, err error) {
	err = e.work(ctx, &Costs{Profile: profile}, false, nil, func(_ *network, m *metric, w *worker) error {
		found = w.nearest(m, at, number)
		return nil
	})
	return found, err
}

var _ Router = (*Engine)(nil)
