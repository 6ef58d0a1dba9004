package drives

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"

	"github.com/paulmach/orb"
	"golang.org/x/sync/errgroup"

	"github.com/mapsedge/caddy-maps/internal/extract"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// What simulated drives are like.
const (
	shortest = 2500.0  // metres driven
	longest  = 12000.0 // metres driven
	nearest  = 500.0   // metres as the crow flies between start, via point and end
	farthest = 5000.0
	least    = 6    // positions in a trace
	slowness = 1.25 // drivers are slower than the free speed
	attempts = 500  // at a drive, before the network counts as one without such routes
	picks    = 5000 // of a random place, until it is at a distance that makes a drive
)

// errSmall is the answer to a network without routes that are long enough.
var errSmall = errors.New("the road network is too small to simulate drives on")

// Simulate makes n drives for each of Cells, in their order, on fastest routes through a random via point. The same graph,
// n and seed give the same drives, and fewer of them are the first ones of each cell.
func Simulate(ctx context.Context, g *roadgraph.Graph, n int, seed uint64) ([]Drive, error) {
	cells := Cells()
	drives := make([]Drive, len(cells)*n)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for c, cell := range cells {
		group.Go(func() error {
			router := NewRouter(g)
			for k := range n {
				if err := ctx.Err(); err != nil {
					return err
				}
				random := rand.New(rand.NewPCG(seed, uint64(c)<<32|uint64(k)))
				d, err := router.Drive(cell, random)
				if err != nil {
					return err
				}
				drives[c*n+k] = d
			}
			return nil
		})
	}
	return drives, group.Wait()
}

// Drive makes one drive.
func (r *Router) Drive(cell Cell, random *rand.Rand) (Drive, error) {
	for range attempts {
		route, ok := r.RandomRoute(random)
		if !ok {
			continue
		}
		line, seconds := r.Line(route)
		length := 0.0
		for i := 1; i < len(line); i++ {
			length += distance(line[i-1], line[i])
		}
		if length < shortest || length > longest || slowness*seconds[len(seconds)-1] < (least-1)*cell.Interval {
			continue
		}
		return r.Record(route, cell, random), nil
	}
	return Drive{}, errSmall
}

// RandomRoute makes one attempt at a fastest route between random spots through a random via point.
func (r *Router) RandomRoute(random *rand.Rand) (Route, bool) {
	if r.graph.Segments() == 0 {
		return Route{}, false
	}
	start := r.randomSpots(random)
	via := r.randomSpotsFrom(start, random)
	end := r.randomSpotsFrom(via, random)
	if len(end) == 0 {
		return Route{}, false
	}
	first, ok := r.Fastest(start, via)
	if !ok {
		return Route{}, false
	}
	// From the via point on straight ahead: nobody turns round there.
	second, ok := r.Fastest([]Spot{{first.Arcs[len(first.Arcs)-1], first.To}}, end)
	if !ok {
		return Route{}, false
	}
	return first.Join(second), true
}

// randomSpots picks a random place on a road for driving, and returns it on each arc that is open there: one or two. None
// where the pick fell on another kind of road.
func (r *Router) randomSpots(random *rand.Rand) []Spot {
	segment := uint32(random.IntN(r.graph.Segments()))
	s := r.graph.Segment(segment)
	length := float64(s.Length) / 1000
	offset := random.Float64() * length
	if s.Class > extract.Service {
		return nil
	}
	var spots []Spot
	if s.Flags.Has(roadgraph.Forward) {
		spots = append(spots, Spot{2 * segment, offset})
	}
	if s.Flags.Has(roadgraph.Backward) {
		spots = append(spots, Spot{2*segment + 1, length - offset})
	}
	return spots
}

// randomSpotsFrom picks a random place at a distance from another one that makes a drive. None where it finds none.
func (r *Router) randomSpotsFrom(from []Spot, random *rand.Rand) []Spot {
	if len(from) == 0 {
		return nil
	}
	for range picks {
		if spots := r.randomSpots(random); len(spots) > 0 && r.apart(from, spots) {
			return spots
		}
	}
	return nil
}

// apart reports whether two places are on different roads and at a distance that makes a drive.
func (r *Router) apart(a, b []Spot) bool {
	d := distance(r.at(a[0]), r.at(b[0]))
	return a[0].Arc>>1 != b[0].Arc>>1 && d >= nearest && d <= farthest
}

// Record is the drive along a route of some length: a noisy position at its beginning, one each interval, and one at its
// end, to six decimals.
func (r *Router) Record(route Route, cell Cell, random *rand.Rand) Drive {
	line, seconds := r.Line(route)
	d := Drive{Cell: cell, Truth: line}
	i := 1
	sample := func(now float64) {
		for i < len(seconds)-1 && seconds[i] < now {
			i++
		}
		share := 0.0
		if took := seconds[i] - seconds[i-1]; took > 0 {
			share = min(max((now-seconds[i-1])/took, 0), 1)
		}
		a, b := line[i-1], line[i]
		at := orb.Point{a.Lon() + share*(b.Lon()-a.Lon()), a.Lat() + share*(b.Lat()-a.Lat())}
		d.Trace = append(d.Trace, Noisy(at, cell.Sigma, random))
	}
	end, interval := seconds[len(seconds)-1], cell.Interval/slowness
	for k := 0; float64(k)*interval < end; k++ {
		sample(float64(k) * interval)
	}
	sample(end)
	return d
}

// Noisy is a position with Gaussian noise of sigma metres, to six decimals.
func Noisy(p orb.Point, sigma float64, random *rand.Rand) orb.Point {
	lat := p.Lat() + random.NormFloat64()*sigma/degree
	lon := p.Lon() + random.NormFloat64()*sigma/(degree*math.Cos(lat*math.Pi/180))
	return orb.Point{math.Round(lon*1e6) / 1e6, math.Round(lat*1e6) / 1e6}
}

const degree = roadgraph.EarthRadius * math.Pi / 180 // metres

func distance(a, b orb.Point) float64 { return roadgraph.Distance(a.Lat(), a.Lon(), b.Lat(), b.Lon()) }
