package remote

import (
	"slices"

	"github.com/mapsedge/caddy-maps/internal/matching"
)

// denseJitter is how many times their jitter points may be apart for it to tell how exact they are. Where they are
// farther apart, what looks like jitter may be a drive through town.
const denseJitter = 2.0

// Sigma is how exact the points of a request are before anything is known of the roads: one sigma in metres. It is the
// median of their accuracies, or else the request's radius, or else the usual sigma; at least least, and no less than
// dense points jitter. step is the usual distance between two points in metres.
func Sigma(req *matching.Request, least, usual float64) (sigma, step float64) {
	sigma = max(least, named(req, usual))
	jitter, step := matching.Jitter(req.Points)
	if step < denseJitter*jitter {
		sigma = max(sigma, jitter)
	}
	return sigma, step
}

// named is the sigma that a request names for most of its points.
func named(req *matching.Request, usual float64) float64 {
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

// medianSigmas is the median of the distance from a straight road, in sigmas of points that spread normally around it.
const medianSigmas = 0.6745

// sigma is how exact the points are as their distances from the road tell, in metres; 0 where none is matched.
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
