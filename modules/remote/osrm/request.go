package osrm

import (
	"math"
	"slices"
	"strconv"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/modules/remote"
)

const (
	// leastSigma is the least standard deviation of points, in metres, also for smaller radiuses of requests: receivers in
	// streets are not more accurate.
	leastSigma = 10.0
	// searchSigmas is the distance at which OSRM looks for roads around a point, in standard deviations.
	searchSigmas = 3.0
)

// farthest returns the largest sigma, in metres, with which OSRM searches no farther than the request allows. OSRM's
// `radiuses` are sigmas.
func farthest(req *matching.Request) float64 {
	if req.MaxRadius > 0 {
		return req.MaxRadius / searchSigmas
	}
	return matching.DefaultMaxRadius / searchSigmas
}

// asRequested sends only the radius and accuracies of the client's request. Points without them get OSRM's default.
var asRequested = remote.SearchOptions{}

// request makes a request for the points in use. largest is the largest radius in it, in metres; 0 if it has none.
func (m *Matcher) request(req *matching.Request, used []int, opts remote.SearchOptions) (
	_ *remote.Request, largest float64) {
	const coordinateDecimals = 6 // of OSRM
	p := make([]byte, 0, len(m.Profile)+24*len(used)+16)
	p = append(p, "/match/v1/"...)
	p = append(p, m.Profile...)
	separator := byte('/')
	for _, i := range used {
		location := req.Points[i].Location
		p = append(p, separator)
		separator = ';'
		p = text.AppendRounded(p, location[0], coordinateDecimals)
		p = append(p, ',')
		p = text.AppendRounded(p, location[1], coordinateDecimals)
	}
	q := make([]byte, 0, 16*len(used)+128)
	q = append(q, "overview=full&geometries=polyline6&generate_hints=false"...)
	q, largest = appendRadiuses(q, req, used, opts)
	q = m.appendTimes(q, req, used)
	return &remote.Request{Path: string(p), Query: string(q)}, largest
}

// appendRadiuses appends OSRM's radius of each point, which may be empty. largest is in metres.
func appendRadiuses(q []byte, req *matching.Request, used []int, opts remote.SearchOptions) (
	_ []byte, largest float64) {
	const radiusDecimals = 1
	far := farthest(req)
	before := len(q)
	q = append(q, "&radiuses="...)
	for n, i := range used {
		if n > 0 {
			q = append(q, ';')
		}
		radius := min(opts.Sigma, far)
		if opts == asRequested {
			radius = req.Radius
		}
		if accuracy := req.Points[i].Accuracy; accuracy > 0 { // NaN is not
			radius = min(max(accuracy, 1), far)
		}
		if opts.Widened {
			radius = far
		}
		if radius > 0 {
			q = text.AppendRounded(q, radius, radiusDecimals)
			largest = max(largest, radius)
		}
	}
	if largest == 0 {
		return q[:before], 0
	}
	return q, largest
}

// timed reports whether the times of all points are useful to OSRM. It takes whole seconds, and finds no route between
// two points in one second (src/engine/routing_algorithms/map_matching.cpp: the difference between a route and the
// straight line is limited by what can be driven in the time between).
func timed(req *matching.Request) bool {
	before := int64(-1)
	for i := range req.Points {
		t := req.Points[i].Time
		if !(t >= 0 && t <= math.MaxUint32) || int64(t) <= before { // NaN is neither
			return false
		}
		before = int64(t)
	}
	return true
}

// pause returns the time above which OSRM splits a drive, in whole seconds; 0 if it does not
// (src/engine/routing_algorithms/map_matching.cpp: MAX_BROKEN_STATES medians of the times between points).
func (m *Matcher) pause(req *matching.Request) float64 {
	const medians = 10
	if m.Gaps != gapsSplit || len(req.Points) < 2 || !timed(req) {
		return 0
	}
	steps := make([]float64, 0, len(req.Points)-1)
	for i := range req.Points[1:] {
		steps = append(steps, math.Floor(req.Points[i+1].Time)-math.Floor(req.Points[i].Time))
	}
	slices.Sort(steps)
	return medians * steps[len(steps)/2]
}

// appendTimes appends the times of the points in use, in whole seconds.
func (m *Matcher) appendTimes(q []byte, req *matching.Request, used []int) []byte {
	if !timed(req) {
		return q
	}
	q = append(q, "&gaps="...)
	q = append(q, m.Gaps...)
	q = append(q, "&timestamps="...)
	for n, i := range used {
		if n > 0 {
			q = append(q, ';')
		}
		q = strconv.AppendInt(q, int64(req.Points[i].Time), 10)
	}
	return q
}
