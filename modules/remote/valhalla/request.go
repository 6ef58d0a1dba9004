package valhalla

import (
	"math"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/modules/remote"
)

// What Valhalla is asked for was found out with Valhalla 3.6.1 on drives whose truth is known (docs/run/fronting.md).
const (
	// leastSigma and usualSigma are the spread of points in metres: where the request says less, and where it says
	// nothing.
	leastSigma, usualSigma = 5.0, 10.0
	// leastRadius is how far Valhalla looks for roads in metres, its own default; for points that spread more it is
	// radiusSigmas times as much.
	leastRadius  = 50.0
	radiusSigmas = 4.0
	// Valhalla takes every point for as exact as 4 m (`meili.default.sigma_z`, which no request can change), so dense
	// points that are not make it drive to and fro, and fall apart. Points nearer to the last one that counts than
	// denseSigmas times their spread, less what is driven between two of them, do not count then; they are put on the
	// road that the others find.
	denseSigmas = 7.0
	// mostInterpolation is the longest such distance in metres.
	mostInterpolation = 120.0
	// noiseStep is the usual distance, in sigmas, between two points of the same place.
	noiseStep = 1.665
	// turnSigmas is the factor of what a turn costs for each metre of spread: the less exact the points, the more
	// turns they suggest that nobody made.
	turnSigmas = 10.0
)

// question is a client's request, and what is known of it before it is asked.
type question struct {
	*matching.Request
	step float64 // metres, the median distance from one point to the next
	far  float64 // metres, how far the request allows it to look
}

// newQuestion also returns how exact the points are taken to be at first: one sigma in metres.
func newQuestion(req *matching.Request) (q *question, sigma float64) {
	q = &question{Request: req, far: req.MaxRadius}
	if q.far <= 0 {
		q.far = matching.DefaultMaxRadius
	}
	sigma, q.step = remote.Sigma(req, leastSigma, usualSigma)
	return q, sigma
}

// radius is how far roads are looked for, in metres.
func (q *question) radius(terms remote.Terms) float64 {
	if terms.Wide {
		return q.far
	}
	return min(max(radiusSigmas*terms.Sigma, leastRadius), q.far)
}

// canWiden reports whether a wide search looks farther than the first one, by a service with a limit.
func (q *question) canWiden(sigma, limit float64) bool {
	return q.radius(remote.Terms{Sigma: sigma}) < min(q.far, limit)
}

// interpolation is the distance in metres within which points do not count; 0 leaves it to Valhalla.
func (q *question) interpolation(sigma float64) float64 {
	noise := noiseStep * sigma
	driven := math.Sqrt(max(0, q.step*q.step-noise*noise)) // of a step, the noise is the rest
	return min(max(0, denseSigmas*sigma-driven), mostInterpolation)
}

// gapSigma is how exact the points of a drive that falls apart are taken to be at least, in metres. Dense points that
// are exact on the way may wander where somebody stands still, which keeps the two sides apart; as points of the usual
// spread fewer of them count.
func (q *question) gapSigma(sigma float64) float64 {
	if q.interpolation(sigma) == 0 {
		return sigma
	}
	return max(sigma, usualSigma)
}

// body makes a request for the points in use, and returns the farthest that it asks for roads, in metres, which is no
// more than the limit; a limit of 0 leaves that to Valhalla.
//
// Times are not sent. All that Valhalla does with them is to rule out what cannot be driven in the time between two
// points, and with the noise of dense points that rules out the truth.
func (q *question) body(costing string, used []int, terms remote.Terms, limit float64) (
	body []byte, asked float64) {
	const coordinateDecimals = 6 // of Valhalla
	asked = min(q.radius(terms), limit)
	radius := asked
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
		// Valhalla looks as far as the accuracy, where that is more than the radius, and does nothing else with it
		// (src/meili/map_matcher_factory.cc, src/meili/map_matcher.cc).
		if wanted := math.Ceil(min(radiusSigmas*p.Accuracy, q.far, limit)); wanted > radius { // NaN is not
			asked = max(asked, wanted)
			dst = append(dst, `,"accuracy":`...)
			dst = text.AppendRounded(dst, wanted, 0)
		}
		dst = append(dst, '}')
	}
	dst = append(dst, `],"costing":`...)
	dst, _ = jsontext.AppendQuote(dst, costing) // ASCII
	dst = append(dst, `,"shape_match":"map_snap","format":"osrm","shape_format":"polyline6","directions_type":"none",`+
		`"trace_options":{"turn_penalty_factor":`...)
	dst = text.AppendRounded(dst, turnSigmas*terms.Sigma, 0)
	if limit > 0 {
		dst = append(dst, `,"search_radius":`...)
		dst = text.AppendRounded(dst, radius, 1)
	}
	if distance := q.interpolation(terms.Sigma); distance > 0 {
		dst = append(dst, `,"interpolation_distance":`...)
		dst = text.AppendRounded(dst, distance, 0)
	}
	return append(dst, `}}`...), asked
}
