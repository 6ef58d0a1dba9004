package matching_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// points makes a trace of places in a town given as x, y, x, y, …
func points(xy ...float64) (list []trace.Point) {
	for i := 0; i+1 < len(xy); i += 2 {
		list = append(list, at(xy[i], xy[i+1]))
	}
	return list
}

func at(x, y float64) trace.Point {
	p := roadgraphtest.At(x, y)
	return trace.At(p.Lat(), p.Lon())
}

// noise moves positions by a normally distributed error.
type noise struct {
	*rand.Rand
	sigma float64 // metres
}

func newNoise(seed uint64, sigma float64) noise { return noise{rand.New(rand.NewPCG(seed, 1)), sigma} }

func (n noise) at(x, y float64) trace.Point {
	return at(x+n.NormFloat64()*n.sigma, y+n.NormFloat64()*n.sigma)
}

func (n noise) on(p orb.Point) trace.Point {
	const degree = math.Pi / 180 * geo.EarthRadius
	return trace.At(p.Lat()+n.NormFloat64()*n.sigma/degree,
		p.Lon()+n.NormFloat64()*n.sigma/degree/math.Cos(p.Lat()*math.Pi/180))
}

// along makes a trace with a point at the beginning of a line given as x, y, x, y, …, one after each step of so many
// metres, and one at its end.
func (n noise) along(step float64, xy ...float64) (list []trace.Point) {
	rest := 0.0 // metres to the next point
	for i := 2; i+1 < len(xy); i += 2 {
		ax, ay, bx, by := xy[i-2], xy[i-1], xy[i], xy[i+1]
		length := math.Hypot(bx-ax, by-ay)
		for ; rest < length; rest += step {
			share := rest / length
			list = append(list, n.at(ax+share*(bx-ax), ay+share*(by-ay)))
		}
		rest -= length
	}
	return append(list, n.at(xy[len(xy)-2], xy[len(xy)-1]))
}

// clean has no errors.
func clean() noise { return newNoise(0, 0) }

// record makes the trace of a drive over arcs from the beginning of the first to the end of the last, with a point
// every few seconds, at the roads' free speed.
func (n noise) record(g *roadgraph.Graph, arcs []uint32, every float64) (list []trace.Point) {
	rest := 0.0 // seconds to the next point
	for _, arc := range arcs {
		edge, _ := g.EdgeOf(arc)
		seconds, length := float64(g.Arc(arc).Duration)/1000, lengthOf(g, arc)
		for ; rest < seconds; rest += every {
			list = append(list, n.on(g.At(edge, fromFirst(g, arc, rest/seconds*length))))
		}
		rest -= seconds
	}
	last := arcs[len(arcs)-1]
	edge, _ := g.EdgeOf(last)
	return append(list, n.on(g.At(edge, fromFirst(g, last, lengthOf(g, last)))))
}

// fromFirst is a place on an arc in metres from its edge's first point.
func fromFirst(g *roadgraph.Graph, arc uint32, offset float64) float64 {
	if _, forward := g.EdgeOf(arc); !forward {
		return lengthOf(g, arc) - offset
	}
	return offset
}

// whole is the drive over arcs from end to end.
func whole(g *roadgraph.Graph, arcs []uint32) (drive []stretch) {
	for _, arc := range arcs {
		drive = append(drive, stretch{g.ArcOf(arc), 0, lengthOf(g, arc)})
	}
	return drive
}

// match matches a trace, asking for details, and checks the answer.
func match(tb testing.TB, g *roadgraph.Graph, list []trace.Point) (*matching.Result, []stretch) {
	tb.Helper()
	return matchRequest(tb, g, &matching.Request{Points: list, Details: true})
}

func matchRequest(tb testing.TB, g *roadgraph.Graph, req *matching.Request) (*matching.Result, []stretch) {
	tb.Helper()
	r, err := matching.New(g, matching.Options{}).Match(context.Background(), req)
	if err != nil {
		tb.Fatal(err)
	}
	drive, err := check(g, req, r)
	if err != nil {
		tb.Fatal(err)
	}
	return r, drive
}

// refused asks that a trace has no route.
func refused(tb testing.TB, g *roadgraph.Graph, req *matching.Request) {
	tb.Helper()
	r, err := matching.New(g, matching.Options{}).Match(context.Background(), req)
	if !errors.Is(err, matching.ErrNoRoute) || r != nil {
		tb.Errorf("the answer is %+v, error %v; want ErrNoRoute", r, err)
	}
}

// check checks what holds for every answer, and returns the drive.
func check(g *roadgraph.Graph, req *matching.Request, r *matching.Result) ([]stretch, error) {
	drive, err := retrace(g, r.Path)
	if err != nil {
		return nil, err
	}
	length := 0.0
	for i := 1; i < len(r.Path); i++ {
		length += distance(r.Path[i-1], r.Path[i])
	}
	if !(math.Abs(length-r.Distance) <= length/1000) {
		return nil, fmt.Errorf("the distance is %v, but the path is %v m long", r.Distance, length)
	}
	if !req.Details {
		if r.Confidence != 0 || r.Duration != 0 || r.Tracepoints != nil || r.Ways != nil {
			return nil, errors.New("there are details that were not asked for")
		}
		return drive, nil
	}
	if !(r.Confidence >= 0 && r.Confidence <= 1) {
		return nil, fmt.Errorf("the confidence is %v", r.Confidence)
	}
	if !(r.Duration > -1e-4 && r.Duration < math.MaxFloat64) {
		return nil, fmt.Errorf("the duration is %v", r.Duration)
	}
	if n := len(r.Times); n != len(r.Path) || r.Times[0] != 0 || math.Abs(r.Times[n-1]-r.Duration) > 1e-3 {
		return nil, fmt.Errorf("the times of %d coordinates are %v, the duration is %v", len(r.Path), r.Times, r.Duration)
	}
	if err := checkWays(r); err != nil {
		return nil, err
	}
	return drive, checkTracepoints(g, req, r)
}

// checkWays asks that the ways cover the path without a gap, each as one run.
func checkWays(r *matching.Result) error {
	at := 0
	for i, w := range r.Ways {
		if w.From != at || w.To <= w.From || i > 0 && w.ID == r.Ways[i-1].ID {
			return fmt.Errorf("run %d of %+v does not go on from the one before", i, r.Ways)
		}
		at = w.To
	}
	if at != len(r.Path)-1 {
		return fmt.Errorf("the ways %+v end at %d of %d coordinates", r.Ways, at, len(r.Path))
	}
	return nil
}

func checkTracepoints(g *roadgraph.Graph, req *matching.Request, r *matching.Result) error {
	if len(r.Tracepoints) != len(req.Points) {
		return fmt.Errorf("%d tracepoints for %d points", len(r.Tracepoints), len(req.Points))
	}
	maxRadius := req.MaxRadius
	if maxRadius == 0 {
		maxRadius = matching.DefaultMaxRadius
	}
	var locations orb.LineString
	index := 0
	for i, p := range r.Tracepoints {
		if !p.Matched {
			if p != (matching.Tracepoint{}) {
				return fmt.Errorf("tracepoint %d is not matched, but has %+v", i, p)
			}
			continue
		}
		locations = append(locations, p.Location)
		if p.Index < index || p.Index >= len(r.Path) || r.Path[p.Index] != p.Location {
			return fmt.Errorf("tracepoint %d is at coordinate %d of %v, behind %d, but at %v", i, p.Index, r.Path, index,
				p.Location)
		}
		index = p.Index
		if d := distance(req.Points[i].Location, p.Location); !(math.Abs(d-p.Distance) < 0.01) {
			return fmt.Errorf("tracepoint %d is %v m from its point, not %v", i, d, p.Distance)
		}
		if at := req.Points[i].Location; !(p.Distance <= maxRadius*1.001) &&
			len(g.Near(at.Lat(), at.Lon(), maxRadius*1.001, nil)) == 0 {
			return fmt.Errorf("tracepoint %d is %v m from its point, which has no road within %v", i, p.Distance, maxRadius)
		}
		if off := toLine(p.Location, r.Path); !(off < 1) {
			return fmt.Errorf("tracepoint %d is %v m off the path", i, off)
		}
	}
	if len(locations) < 2 || 2*len(locations) < len(req.Points) {
		return fmt.Errorf("only %d of %d points are matched", len(locations), len(req.Points))
	}
	for what, pair := range map[string][2]orb.Point{
		"begins": {r.Path[0], locations[0]}, "ends": {r.Path[len(r.Path)-1], locations[len(locations)-1]},
	} {
		if off := distance(pair[0], pair[1]); !(off < 0.1) {
			return fmt.Errorf("the path %s %v m from the tracepoint there", what, off)
		}
	}
	return nil
}

// unmatched are the numbers of the points that have no part in a drive.
func unmatched(r *matching.Result) (list []int) {
	for i, p := range r.Tracepoints {
		if !p.Matched {
			list = append(list, i)
		}
	}
	return list
}
