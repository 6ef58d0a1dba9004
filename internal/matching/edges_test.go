package matching_test

import (
	"math"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// TestEdgesOfTheWorld: a drive through a town, with noise and with a stop on the way, is matched as it is elsewhere.
func TestEdgesOfTheWorld(t *testing.T) {
	drive := func(t *testing.T, middle orb.Point, every int) (r *matching.Result, places [][2]float64) {
		town := roadgraphtest.Crossing(middle)
		noise := newNoise(3, 6)
		var points []trace.Point
		for x := -560; x <= 0; x += every { // along the street from the west, which lies a little askew
			n := 1
			if x == -240 {
				n = 5
			}
			for range n {
				dx, dy := noise.NormFloat64()*noise.sigma, noise.NormFloat64()*noise.sigma
				p := town.At(float64(x)*math.Cos(0.1)+dx, float64(x)*math.Sin(0.1)+dy)
				points = append(points, trace.At(p.Lat(), p.Lon()))
			}
		}
		for y := every; y < 560; y += every { // and along the one to the north
			p := town.At(-float64(y)*math.Sin(0.1)+noise.NormFloat64()*noise.sigma, float64(y)*math.Cos(0.1))
			points = append(points, trace.At(p.Lat(), p.Lon()))
		}
		r, err := matching.New(town.Open(t), matching.Options{}).Match(t.Context(),
			&matching.Request{Points: points, Details: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range r.Tracepoints {
			x, y := town.XY(p.Location)
			places = append(places, [2]float64{x, y})
		}
		return r, places
	}
	for _, every := range []int{20, 80} {
		want, places := drive(t, roadgraphtest.Plain(), every)
		if len(want.Ways) != 2 || math.Abs(want.Distance-1080) > 60 {
			t.Fatalf("the drive elsewhere is %v m over %+v", want.Distance, want.Ways)
		}
		for name, edge := range roadgraphtest.WorldEdges() {
			t.Run(name, func(t *testing.T) {
				got, there := drive(t, edge.Middle, every)
				if math.Abs(got.Distance-want.Distance) > 2*edge.Rounding || len(got.Ways) != len(want.Ways) ||
					math.Abs(got.Duration-want.Duration) > 0.1 || math.Abs(got.Confidence-want.Confidence) > 0.01 {
					t.Errorf("%v m in %v s over %+v, confidence %v; want %v m in %v s, %v", got.Distance, got.Duration,
						got.Ways, got.Confidence, want.Distance, want.Duration, want.Confidence)
				}
				for i, p := range got.Tracepoints {
					off := math.Hypot(there[i][0]-places[i][0], there[i][1]-places[i][1])
					if p.Matched != want.Tracepoints[i].Matched || p.Matched && off > 2*edge.Rounding {
						t.Errorf("point %d is matched to %.2f, want %.2f", i, there[i], places[i])
					}
				}
			})
		}
	}
}
