package matching

import (
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

var (
	noiseSamples = 48
	noiseReach   = 80.0
	priorMid     = 6.0
	priorWidth   = 0.9
	fixSigma     = 0.0
)

// estimateNoise finds sigma for each point
func (s *scratch) estimateNoise() {
	s.sigma = s.sigma[:0]
	sigma := s.likely()
	if w, ok := s.white(); ok {
		sigma = math.Max(sigma, w)
	}
	if fixSigma > 0 {
		sigma = fixSigma
	}
	for i := range s.points {
		if a := s.points[i].Accuracy; finite(a) && a > 0 {
			s.sigma = append(s.sigma, math.Max(a, 3))
		} else {
			s.sigma = append(s.sigma, sigma)
		}
	}
}

// likely
func (s *scratch) likely() float64 {
	n := len(s.points)
	step := max(1, (n+noiseSamples-1)/noiseSamples)
	best, bestAt := math.Inf(-1), 5.0
	var score [24]float64
	reach := math.Min(noiseReach, s.reach)
	for i := 0; i < n; i += step {
		p := s.points[i].Location
		s.hits = s.graph.Near(p.Lat(), p.Lon(), reach, s.hits[:0])
		for k := range score {
			sigma := 3 * math.Pow(1.15, float64(k))
			sum := 1e-4 / (reach * 2)
			for j := range s.hits {
				d := s.hits[j].Distance / sigma
				sum += math.Exp(-d*d/2) / sigma
			}
			score[k] += math.Log(sum)
		}
	}
	for k := range score {
		sigma := 3 * math.Pow(1.15, float64(k))
		x := math.Log(sigma/priorMid) / priorWidth
		if v := score[k] - x*x/2; v > best {
			best, bestAt = v, sigma
		}
	}
	return bestAt
}

// white is the noise that is independent from one point to the next, as third differences show it; false where the
// points are too far apart.
func (s *scratch) white() (float64, bool) {
	if len(s.points) < 12 {
		return 0, false
	}
	cos := math.Cos(s.points[0].Location.Lat() * math.Pi / 180)
	xy := func(i int) (float64, float64) {
		p := s.points[i].Location
		return p.Lon() * cos * 111195, p.Lat() * 111195
	}
	s.numbers = s.numbers[:0]
	for i := 3; i < len(s.points); i++ {
		ax, ay := xy(i - 3)
		bx, by := xy(i - 2)
		cx, cy := xy(i - 1)
		dx, dy := xy(i)
		x, y := ax-3*bx+3*cx-dx, ay-3*by+3*cy-dy
		s.numbers = append(s.numbers, x*x+y*y)
	}
	slices.Sort(s.numbers)
	sigma := math.Sqrt(s.numbers[len(s.numbers)/2] / (20 * 2 * math.Ln2))
	s.numbers = s.numbers[:0]
	for i := 1; i < len(s.points); i++ {
		a, b := s.points[i-1].Location, s.points[i].Location
		s.numbers = append(s.numbers, roadgraph.Distance(a.Lat(), a.Lon(), b.Lat(), b.Lon()))
	}
	slices.Sort(s.numbers)
	return sigma, s.numbers[len(s.numbers)/2] < 3*sigma
}
