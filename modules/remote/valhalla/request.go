package valhalla

import (
	"math"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/modules/remote"
)

// The values were found with Valhalla 3.6.1 on drives whose truth is known (docs/run/fronting.md).
const (
	// The standard deviation of points, in metres: at least, and without an accuracy or radius.
	leastSigma, usualSigma = 5.0, 10.0
	// Valhalla looks for roads leastRadius metres around points, its own default, or radiusSigmas standard deviations.
	leastRadius  = 50.0
	radiusSigmas = 4.0
	// Valhalla assumes a sigma of 4 m for every point (`meili.default.sigma_z`, which requests cannot change). Dense
	// points that are less accurate lead to zigzag drives with gaps. So points are only interpolated on the road if they
	// are nearer to the last one that counts than denseSigmas standard deviations, less the distance driven between two
	// points.
	denseSigmas = 7.0
	// mostInterpolation is the largest such distance, in metres.
	mostInterpolation = 120.0
	// noiseStep is the median distance, in sigmas, between two measurements of one place.
	noiseStep = 1.665
	// turnSigmas is the turn penalty per metre of sigma: less accurate points suggest more turns that were not made.
	turnSigmas = 10.0
)

// matchRequest is a client's request with what follows from it.
type matchRequest struct {
	*matching.Request
	step float64 // median distance between points, in metres
	far  float64 // the largest search radius of the request, in metres
}

// newMatchRequest also returns the assumed standard deviation of the points, in metres.
func newMatchRequest(req *matching.Request) (q *matchRequest, sigma float64) {
	q = &matchRequest{Request: req, far: req.MaxRadius}
	if q.far <= 0 {
		q.far = matching.DefaultMaxRadius
	}
	sigma, q.step = remote.Sigma(req, leastSigma, usualSigma)
	return q, sigma
}

// radius returns the search radius, in metres.
func (q *matchRequest) radius(opts remote.SearchOptions) float64 {
	if opts.Widened {
		return q.far
	}
	return min(max(radiusSigmas*opts.Sigma, leastRadius), q.far)
}

// canWiden reports whether a widened search has a larger radius than the first one, given the limit of the service.
func (q *matchRequest) canWiden(sigma, limit float64) bool {
	return q.radius(remote.SearchOptions{Sigma: sigma}) < min(q.far, limit)
}

// interpolation returns the interpolation distance in metres; 0 leaves it to Valhalla.
func (q *matchRequest) interpolation(sigma float64) float64 {
	noise := noiseStep * sigma
	driven := math.Sqrt(max(0, q.step*q.step-noise*noise)) // without the noise
	return min(max(0, denseSigmas*sigma-driven), mostInterpolation)
}

// gapSigma returns the least assumed sigma after a drive with a gap, in metres. Dense points that are accurate on the
// way may wander during a stop, which causes the gap. With the usual sigma, fewer of them count.
func (q *matchRequest) gapSigma(sigma float64) float64 {
	if q.interpolation(sigma) == 0 {
		return sigma
	}
	return max(sigma, usualSigma)
}

// body makes a request for the points in use. largest is the largest search radius in it, in metres, which does not
// exceed the limit. With a limit of 0 the request has no radius.
//
// Times are not sent. Valhalla only uses them to exclude routes that are too long for the time between two points, and
// with the noise of dense points that excludes the true route.
func (q *matchRequest) body(costing string, used []int, opts remote.SearchOptions, limit float64) (
	body []byte, largest float64) {
	const coordinateDecimals = 6 // of Valhalla
	largest = min(q.radius(opts), limit)
	radius := largest
	dst := make([]byte, 0, 64*len(used)+256)
	dst = append(dst, `{"shape":[`...)
	for n, i := range used {
		p := &q.Points[i]
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"lat":`...)
		dst = text.AppendRounded(dst, p.Location[1], coordinateDecimals)
		dst = append(dst, `,"lon":`...)
		dst = text.AppendRounded(dst, p.Location[0], coordinateDecimals)
		// Valhalla uses an accuracy only as the search radius of its point, if it is larger than that of the request
		// (src/meili/map_matcher_factory.cc, src/meili/map_matcher.cc).
		if wanted := math.Ceil(min(radiusSigmas*p.Accuracy, q.far, limit)); wanted > radius { // NaN is not
			largest = max(largest, wanted)
			dst = append(dst, `,"accuracy":`...)
			dst = text.AppendRounded(dst, wanted, 0)
		}
		dst = append(dst, '}')
	}
	dst = append(dst, `],"costing":`...)
	dst, _ = jsontext.AppendQuote(dst, costing) // ASCII
	dst = append(dst, `,"shape_match":"map_snap","format":"osrm","shape_format":"polyline6","directions_type":"none",`+
		`"trace_options":{"turn_penalty_factor":`...)
	dst = text.AppendRounded(dst, turnSigmas*opts.Sigma, 0)
	if limit > 0 {
		dst = append(dst, `,"search_radius":`...)
		dst = text.AppendRounded(dst, radius, 1)
	}
	if distance := q.interpolation(opts.Sigma); distance > 0 {
		dst = append(dst, `,"interpolation_distance":`...)
		dst = text.AppendRounded(dst, distance, 0)
	}
	return append(dst, `}}`...), largest
}
