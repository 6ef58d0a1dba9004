package drives

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"

	"github.com/paulmach/orb"
	"golang.org/x/sync/errgroup"

	"github.com/mapsedge/caddy-maps/internal/geo"
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

// Recipe says how drives are simulated. The zero value makes fastest routes through one via point, with noise that is
// independent from one position to the next.
type Recipe struct {
	// Travel is how people move. nil drives.
	Travel *Travel
	// Vias is the number of random via points more than one.
	Vias int
	// Wander makes drivers take other routes than the fastest: each road counts as slower by a random factor of 1 up to
	// this much more, which differs from drive to drive.
	Wander float64
	// Correlation is the time in seconds over which the errors of positions are much the same, as a receiver's are: the
	// correlation falls to 1/e in it.
	Correlation float64
	// Gaps is the share of positions that are not recorded, in runs of gapRun.
	Gaps float64
	// Outliers is the share of positions that are off by another outlierSpread, to any side.
	Outliers float64
}

const (
	gapRun        = 3     // positions
	outlierSpread = 100.0 // metres
)

// Simulate makes n drives for each of Cells, in their order. The same graph, n and seed give the same drives, and fewer
// of them are the first ones of each cell.
func (recipe Recipe) Simulate(ctx context.Context, g *roadgraph.Graph, n int, seed uint64) ([]Drive, error) {
	cells := Cells()
	drives := make([]Drive, len(cells)*n)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for c, cell := range cells {
		group.Go(func() error {
			router := NewTravelRouter(g, recipe.travel())
			for k := range n {
				if err := ctx.Err(); err != nil {
					return err
				}
				random := rand.New(rand.NewPCG(seed, uint64(c)<<32|uint64(k)))
				d, err := router.Drive(recipe, cell, random)
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
func (r *Router) Drive(recipe Recipe, cell Cell, random *rand.Rand) (Drive, error) {
	for range attempts {
		r.wander, r.mood = recipe.Wander, 0
		if r.wander > 0 {
			r.mood = random.Uint64()
		}
		line, seconds, ok := r.randomTrip(1+recipe.Vias, random)
		if !ok {
			continue
		}
		length := 0.0
		for i := 1; i < len(line); i++ {
			length += distance(line[i-1], line[i])
		}
		took := r.travel.slowness * seconds[len(seconds)-1]
		if length < r.travel.shortest || length > r.travel.longest*(1+0.5*float64(recipe.Vias)) ||
			took < (least-1)*cell.Interval {
			continue
		}
		d := r.record(line, seconds, cell, &receiver{Rand: random, sigma: cell.Sigma, correlation: recipe.Correlation})
		recipe.disturb(&d, random)
		return d, nil
	}
	return Drive{}, errSmall
}

func (recipe Recipe) travel() Travel {
	if recipe.Travel == nil {
		return Driving
	}
	return *recipe.Travel
}

// disturb leaves positions out and moves others off.
func (recipe Recipe) disturb(d *Drive, random *rand.Rand) {
	if recipe.Gaps == 0 && recipe.Outliers == 0 {
		return
	}
	kept := 0
	for i, rest := 0, 0; i < len(d.Trace); i++ {
		if random.Float64() < recipe.Gaps/gapRun {
			rest = gapRun
		}
		inside := i > 0 && i < len(d.Trace)-1 // the ends say where the drive begins and ends
		if rest > 0 && inside && len(d.Trace)-i+kept > least {
			rest--
			continue
		}
		at := d.Trace[i]
		if inside && random.Float64() < recipe.Outliers {
			at = Noisy(at, outlierSpread, random)
		}
		d.Trace[kept], d.Times[kept] = at, d.Times[i]
		kept++
	}
	d.Trace, d.Times = d.Trace[:kept], d.Times[:kept]
}

// RandomRoute makes one attempt at a fastest route between random spots through some random via points.
func (r *Router) RandomRoute(vias int, random *rand.Rand) (route Route, ok bool) {
	if r.graph.NumBaseEdges() == 0 {
		return Route{}, false
	}
	from := r.randomSpots(random)
	for leg := range vias + 1 {
		to := r.randomSpotsFrom(from, random)
		if len(to) == 0 {
			return Route{}, false
		}
		start := from
		if leg > 0 { // from the via point on straight ahead: there are no U-turns there
			start = []Spot{{route.Arcs[len(route.Arcs)-1], route.To}}
		}
		next, ok := r.Fastest(start, to)
		if !ok {
			return Route{}, false
		}
		route, from = next.after(route), to
	}
	return route, true
}

// randomSpots picks a random place on a road for such trips, and returns it on each arc that is open there: one or two.
// None where the pick fell on another kind of road.
func (r *Router) randomSpots(random *rand.Rand) []Spot {
	edge := uint32(random.IntN(r.graph.NumBaseEdges()))
	for pick := 0; !r.graph.BeginsEdge(edge); pick++ { // most base edges begin no edge of this mode
		if pick == picks {
			return nil
		}
		edge = uint32(random.IntN(r.graph.NumBaseEdges()))
	}
	s := r.graph.Edge(edge)
	length := float64(s.Length) / 1000
	offset := random.Float64() * length
	if s.Class > r.travel.class {
		return nil
	}
	var spots []Spot
	if s.Flags.Has(roadgraph.Forward) {
		spots = append(spots, Spot{2 * edge, offset})
	}
	if s.Flags.Has(roadgraph.Backward) {
		spots = append(spots, Spot{2*edge + 1, length - offset})
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
	return a[0].Arc>>1 != b[0].Arc>>1 && d >= r.travel.nearest && d <= r.travel.farthest
}

// Record is the drive along a route of some length: a noisy position at its beginning, one each interval, and one at
// its end, to six decimals.
func (r *Router) Record(route Route, cell Cell, random *rand.Rand) Drive {
	line, seconds := r.Line(route)
	return r.record(line, seconds, cell, &receiver{Rand: random, sigma: cell.Sigma})
}

// record is the same for a line, whose points are reached after so many seconds.
func (r *Router) record(line orb.LineString, seconds []float64, cell Cell, by *receiver) Drive {
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
		d.Times = append(d.Times, now*r.travel.slowness)
		d.Trace = append(d.Trace, by.at(at, now*r.travel.slowness))
	}
	end, interval := seconds[len(seconds)-1], cell.Interval/r.travel.slowness
	for k := 0; float64(k)*interval < end; k++ {
		sample(float64(k) * interval)
	}
	sample(end)
	return d
}

// receiver records positions with Gaussian errors, of sigma metres north and east alike. The errors follow a process of
// Ornstein and Uhlenbeck where they are correlated in time.
type receiver struct {
	*rand.Rand
	sigma       float64
	correlation float64 // seconds; 0: the errors are independent
	north, east float64 // the error before, in sigma
	last        float64 // seconds, of the position before
	begun       bool
}

// at is what is recorded of a position at a time in seconds.
func (v *receiver) at(p orb.Point, now float64) orb.Point {
	stays := 0.0
	if v.begun && v.correlation > 0 {
		stays = math.Exp((v.last - now) / v.correlation)
	}
	fresh := math.Sqrt(1 - stays*stays)
	v.north = stays*v.north + fresh*v.NormFloat64()
	v.east = stays*v.east + fresh*v.NormFloat64()
	v.last, v.begun = now, true
	return Moved(p, v.north*v.sigma, v.east*v.sigma)
}

// Noisy is a position with Gaussian noise of sigma metres, to six decimals.
func Noisy(p orb.Point, sigma float64, random *rand.Rand) orb.Point {
	return Moved(p, random.NormFloat64()*sigma, random.NormFloat64()*sigma)
}

// Moved is a position so many metres north and east of another, to six decimals.
func Moved(p orb.Point, north, east float64) orb.Point {
	lat := p.Lat() + north/degree
	lon := p.Lon() + east/(degree*math.Cos(lat*math.Pi/180))
	return orb.Point{math.Round(lon*1e6) / 1e6, math.Round(lat*1e6) / 1e6}
}

const degree = geo.EarthRadius * math.Pi / 180 // metres

func distance(a, b orb.Point) float64 { return geo.Distance(a.Lat(), a.Lon(), b.Lat(), b.Lon()) }
