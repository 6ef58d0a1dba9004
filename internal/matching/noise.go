package matching

import (
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// The accuracy of positions matters most, and few traces state it. It is estimated from the distances of points from
// the roads around them and, if points are dense, from their jitter.

const (
	// leastSigma: maps are not more exact than this, nor do lanes lie on the road's middle line.
	leastSigma = 4.0
	// noiseSamples is the number of points that the estimate uses.
	noiseSamples = 48
	// noiseRadius is how far around each point it looks for roads, in metres.
	noiseRadius = 80.0
	// noiseSteps and noiseStep are the values it tries: from leastSigma up to about 57 m.
	noiseSteps = 20
	noiseStep  = 1.15
	// usualSigma and usualSpread are the log-normal prior: most receivers are right to within 3 to 12 m.
	usualSigma  = 6.0
	usualSpread = 0.9
	// offRoadDensity is the density of points near no road at all, in the unit of densities.
	offRoadDensity = 1e-4
	// leastWeight is the weight of a point in a trace without jitter. Up to a jitter of half the noise, distances between
	// points count less, by smooth times the square of jitter over noise.
	leastWeight = 0.15
	smooth      = 4.0
)

// estimateNoise fills sigma and weight.
func (s *scratch) estimateNoise() {
	s.sigma, s.weight = s.sigma[:0], s.weight[:0]
	sigma := 0.0
	for i := range s.points {
		a := s.points[i].Accuracy
		if !(a > 0 && a < math.MaxFloat64) {
			if sigma == 0 {
				sigma = s.noise()
			}
			a = sigma
		}
		s.sigma = append(s.sigma, max(a, leastSigma))
	}
	s.weigh()
}

// noise returns the sigma of the whole trace: from its distances from roads or, if that is more, its jitter.
func (s *scratch) noise() float64 {
	sigma := s.offRoad()
	if jitter, step := s.jitter(); step < 3*jitter {
		sigma = max(sigma, jitter)
	}
	return sigma
}

// endOfPoint separates the distances of points in numbers.
const endOfPoint = -1

// offRoad returns the sigma under which the distances of points from the roads around them are the most probable. One
// of those roads is the right one, at a normally distributed distance; the number of others grows with the distance.
func (s *scratch) offRoad() float64 {
	step := (len(s.points) + noiseSamples - 1) / noiseSamples
	radius := min(noiseRadius, s.maxRadius)
	s.numbers = s.numbers[:0]
	inner, outer := 0.0, 0.0
	for i := 0; i < len(s.points) && !s.exhausted(); i += step {
		at := s.points[i].Location
		s.hits = s.search.NearEdges(s.graph, at.Lat(), at.Lon(), radius, s.hits[:0])
		for k := range s.hits {
			s.numbers = append(s.numbers, s.hits[k].Distance)
			if s.hits[k].Distance < radius/2 {
				inner++
			} else {
				outer++
			}
		}
		inner-- // the right road
		s.numbers = append(s.numbers, endOfPoint)
	}
	// Let the density of the other roads be 1 + slope·distance: then outer/inner = (2 + 3·slope·radius/2)/(2 +
	// slope·radius/2).
	slope := 0.0
	if inner > 0 && outer > inner {
		ratio := min(outer/inner, 2.9)
		slope = 4 * (ratio - 1) / (3 - ratio) / radius
	}
	return s.likeliest(slope)
}

// likeliest returns the sigma that makes the distances in numbers the most probable, where roads other than the right
// one become more frequent by slope with each metre.
func (s *scratch) likeliest(slope float64) float64 {
	var sums [noiseSteps]float64 // of the current point, for each sigma
	var products, totals [noiseSteps]float64
	for k := range totals {
		prior := math.Log(sigmaOf(k)/usualSigma) / usualSpread
		products[k], totals[k] = 1, -prior*prior/2
	}
	for i, d := range s.numbers {
		if d != endOfPoint {
			share := 1 / (1 + slope*d)
			for k, density := range densities[min(int(d/densityStep), len(densities)-1)] {
				sums[k] += density * share
			}
			continue
		}
		last := i == len(s.numbers)-1
		for k := range products {
			products[k] *= sums[k] + offRoadDensity
			sums[k] = 0
			if last || products[k] < 1e-200 { // one logarithm for many factors
				totals[k] += math.Log(products[k])
				products[k] = 1
			}
		}
	}
	best := 0
	for k := range totals {
		if totals[k] > totals[best] {
			best = k
		}
	}
	return sigmaOf(best)
}

// sigmaOf returns one of the values to try.
func sigmaOf(step int) float64 { return leastSigma * math.Pow(noiseStep, float64(step)) }

const densityStep = 0.5 // metres

// densities has the normal distribution's density at a distance, in steps of densityStep, for each sigma to try.
var densities = func() (table [int(noiseRadius/densityStep) + 1][noiseSteps]float64) {
	for i := range table {
		d := (float64(i) + 0.5) * densityStep
		for k := range noiseSteps {
			sigma := sigmaOf(k)
			table[i][k] = math.Exp(-d*d/(2*sigma*sigma)) / sigma
		}
	}
	return table
}()

// Jitter returns the noise of a trace that is independent from one point to the next, in metres, and the median
// distance between points. It is measured by third differences, so it means something only if that distance is small;
// else the driving itself makes the differences. Jitter is 0 for fewer than 12 points, the distance for fewer than 2.
func Jitter(points []trace.Point) (sigma, step float64) {
	sigma, step, _ = jitter(points, nil)
	return sigma, step
}

func (s *scratch) jitter() (sigma, step float64) {
	sigma, step, s.numbers = jitter(s.points, s.numbers)
	return sigma, step
}

// jitter is Jitter with a buffer.
func jitter(points []trace.Point, numbers []float64) (sigma, step float64, _ []float64) {
	n := len(points)
	numbers = numbers[:0]
	for i := 1; i < n; i++ {
		numbers = append(numbers, pointDistance(&points[i-1], &points[i]))
	}
	if n > 1 {
		step = median(numbers)
	}
	if n < 12 {
		return 0, step, numbers
	}
	perLon := math.Cos(points[0].Location.Lat()*math.Pi/180) * degree
	numbers = numbers[:0]
	for i := 3; i < n; i++ {
		a, b, c, d := points[i-3].Location, points[i-2].Location, points[i-1].Location, points[i].Location
		x := geo.LongitudeDegrees(a.Lon()-b.Lon()) - 2*geo.LongitudeDegrees(b.Lon()-c.Lon()) +
			geo.LongitudeDegrees(c.Lon()-d.Lon())
		x *= perLon
		y := (a.Lat() - 3*b.Lat() + 3*c.Lat() - d.Lat()) * degree
		numbers = append(numbers, x*x+y*y)
	}
	// Each coordinate's third difference has the variance 20·sigma²; the median of both together is 2·ln 2 of that.
	return math.Sqrt(median(numbers) / (20 * 2 * math.Ln2)), step, numbers
}

const degree = math.Pi / 180 * geo.EarthRadius // metres

// median sorts numbers. There must be at least one.
func median(numbers []float64) float64 {
	slices.Sort(numbers)
	return numbers[len(numbers)/2]
}

// weigh fills weight. Receivers smooth their positions: in a dense trace neighbours share nearly the same error, and
// ten points say little more than one. So a point close to the one before counts less, unless jitter shows that the
// errors are independent. The less a trace jitters, the farther apart points have to be.
func (s *scratch) weigh() {
	jitter, _ := s.jitter()
	for i := range s.points {
		weight := 1.0
		if i > 0 && jitter > 0 {
			independent := jitter / s.sigma[i]
			independent *= independent
			distinct := pointDistance(&s.points[i-1], &s.points[i]) / (2 * s.sigma[i]) * min(1, smooth*independent)
			weight = min(1, max(leastWeight, independent, distinct))
		}
		s.weight = append(s.weight, weight)
	}
}
