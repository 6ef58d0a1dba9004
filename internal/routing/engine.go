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
	file *region.File
	// networks are opened when they are first used, by profile. Those that the region does not have are nil.
	networks [3]func() (*network, error)
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
// the file, and reads nothing from it yet.
func NewEngine(f *region.File, graphs ...*roadgraph.Graph) *Engine {
	e := &Engine{file: f}
	for i, g := range graphs {
		if profile := Profile(1 << i); g != nil && f.Has(SectionsOf(profile).Cells) {
			e.networks[i] = sync.OnceValues(func() (*network, error) {
				o, err := OpenOverlay(f, g, profile)
				if err != nil || o == nil {
					return nil, err
				}
				n := &network{Overlay: o, profile: profile}
				n.live.Store(&live{standard: n.stored()})
				n.workers.New = func() any { return new(worker) }
				return n, nil
			})
		}
	}
	return e
}

// Routes implements Answering.
func (e *Engine) Routes(p Profile) bool { return e.networks[index(p)] != nil }

// index returns the index of a profile. The zero value is a car.
func index(p Profile) int { return bits.TrailingZeros8(uint8(max(p, region.Car))) }

// network returns the network of a profile, or nil if the region has none.
func (e *Engine) network(p Profile) (*network, error) {
	if open := e.networks[index(p)]; open != nil {
		return open()
	}
	return nil, nil
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
	n, err := e.network(c.Profile)
	if err != nil {
		return err
	}
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
	w := n.workers.Get().(*worker)
	w.search.meter, w.search.work = meter, 0
	if len(c.AvoidPolygons) > 0 {
		if m, err = m.without(c.AvoidPolygons, w.search.spend); err != nil {
			return err
		}
	}
	w.search.m = m
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
