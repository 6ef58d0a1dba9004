package remote

import (
	"slices"

	"github.com/mapsedge/caddy-maps/internal/matching"
)

// denseJitter is the largest distance between points, in multiples of their jitter, at which the jitter shows their
// accuracy. If points are farther apart, turns look like jitter.
const denseJitter = 2.0

// Sigma returns the assumed standard deviation of a request's points, in metres, before anything is known of the roads.
// It is the median of their accuracies, or else the request's radius, or else usual. It is at least least, and at least
// the jitter of dense points. step is the median distance between two points, in metres.
func Sigma(req *matching.Request, least, usual float64) (sigma, step float64) {
	sigma = max(least, namedSigma(req, usual))
	jitter, step := matching.Jitter(req.Points)
	if step < denseJitter*jitter {
		sigma = max(sigma, jitter)
	}
	return sigma, step
}

// namedSigma returns the sigma by a request's accuracies or radius.
func namedSigma(req *matching.Request, usual float64) float64 {
	var accuracies []float64
	for i := range req.Points {
		if a := req.Points[i].Accuracy; a > 0 { // NaN is not
			accuracies = append(accuracies, a)
		}
	}
	switch {
	case 2*len(accuracies) > len(req.Points):
		slices.Sort(accuracies)
		return accuracies[len(accuracies)/2]
	case req.Radius > 0:
		return req.Radius
	}
	return usual
}

// medianSigmas is the median distance from a straight road, in sigmas, of normally distributed points.
const medianSigmas = 0.6745

// sigma returns the standard deviation by the points' distances from the road, in metres; 0 if none is matched.
func (a *Matchings) sigma(req *matching.Request) float64 {
	distances := make([]float64, 0, len(a.points))
	for i := range a.points {
		if p := &a.points[i]; p.part >= 0 {
			distances = append(distances, distance(req.Points[a.used[i]].Location, p.location))
		}
	}
	if len(distances) == 0 {
		return 0
	}
	slices.Sort(distances)
	return distances[len(distances)/2] / medianSigmas
}
