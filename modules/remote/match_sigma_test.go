package remote

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// How exact points are is what the request says, unless points that lie close together jitter by more.
func TestSigma(t *testing.T) {
	for _, tt := range []struct {
		name       string
		step       float64 // metres driven between points, to the north
		noise      float64 // metres, one sigma of either coordinate
		radius     float64
		accuracies int // of how many of the 60 points it is 30 m
		want       float64
	}{
		{"nothing is said", 100, 0, 0, 0, 10},
		{"a radius", 100, 0, 25, 0, 25},
		{"too small a radius", 100, 0, 1, 0, 5},
		{"most accuracies", 100, 0, 25, 31, 30},
		{"half of the accuracies", 100, 0, 25, 30, 25},
		{"dense points that jitter", 12, 20, 0, 0, 20},
		{"dense points that jitter less than is said", 12, 20, 40, 0, 40},
		{"far points, whose drive bends as much", 100, 20, 0, 0, 10},
		{"dense points that do not jitter", 12, 0, 0, 0, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const points = 60
			r := rand.New(rand.NewPCG(1, 2))
			req := &matching.Request{Radius: tt.radius}
			for i := range points {
				north := (tt.step*float64(i) + tt.noise*r.NormFloat64()) * degreesPerMetre
				p := trace.At(north, tt.noise*r.NormFloat64()*degreesPerMetre) // at the equator
				if i < tt.accuracies {
					p.Accuracy = 30
				}
				req.Points = append(req.Points, p)
			}
			sigma, step := Sigma(req, 5, 10)
			if math.Abs(sigma-tt.want) > tt.want/5 {
				t.Errorf("sigma %v, want about %v", sigma, tt.want)
			}
			if tt.noise == 0 && math.Abs(step-tt.step) > tt.step/100 {
				t.Errorf("step %v, want %v", step, tt.step)
			}
		})
	}
}
