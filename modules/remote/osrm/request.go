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
	// leastSigma is the spread of points, in metres, that a smaller radius stands for too: the radius of a request says
	// where a search begins, and a receiver in a street is not better than this.
	leastSigma = 10.0
	// searchSigmas is how far OSRM looks for roads around a point, in its spread.
	searchSigmas = 3.0
)

// farthest is the largest sigma of points, in metres, that keeps OSRM's search within a request's limit. OSRM calls one
// sigma of a point its radius.
func farthest(req *matching.Request) float64 {
	if req.MaxRadius > 0 {
		return req.MaxRadius / searchSigmas
	}
	return matching.DefaultMaxRadius / searchSigmas
}

// asNamed stands for the sigmas that a request names itself; OSRM has its own for points for which it names none.
var asNamed = remote.Terms{}

// question makes a request for the points in use. asked is the largest radius in it, in metres; 0 where it has none.
func (m *Matcher) question(req *matching.Request, used []int, terms remote.Terms) (
	_ *remote.Request, asked float64) {
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
	q, asked = appendRadiuses(q, req, used, terms)
	q = m.appendTimes(q, req, used)
	return &remote.Request{Path: string(p), Query: string(q)}, asked
}

// appendRadiuses appends what OSRM calls a radius, one for each point, which is empty where there is none. largest is
// in metres.
func appendRadiuses(q []byte, req *matching.Request, used []int, terms remote.Terms) (
	_ []byte, largest float64) {
	const radiusDecimals = 1
	far := farthest(req)
	before := len(q)
	q = append(q, "&radiuses="...)
	for n, i := range used {
		if n > 0 {
			q = append(q, ';')
		}
		radius := min(terms.Sigma, far)
		if terms == asNamed {
			radius = req.Radius
		}
		if accuracy := req.Points[i].Accuracy; accuracy > 0 { // NaN is not
			radius = min(max(accuracy, 1), far)
		}
		if terms.Wide {
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

// timed reports whether all points have times that OSRM can do something with. It takes whole seconds, and finds no way
// between points of the same one (src/engine/routing_algorithms/map_matching.cpp: a way may differ from the straight
// distance by less than what can be driven in the time between).
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

// pause is the time above which OSRM cuts the drive of a request in two, in seconds; 0 where it does not. It takes
// whole seconds for it, too (src/engine/routing_algorithms/map_matching.cpp: MAX_BROKEN_STATES medians of the times
// between points).
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
