package osrmmatcher

import (
	"math"
	"strconv"

	"github.com/mapsedge/caddy-maps/internal/jsontext"
	"github.com/mapsedge/caddy-maps/internal/matching"
)

const (
	// leastSigma is the spread of points, in metres, that a smaller radius stands for too: the radius of a request says
	// where a search begins, and a receiver in a street is not better than this.
	leastSigma = 10.0
	// reach is how far OSRM looks for roads around a point, in its spread.
	reach = 3.0
)

// spread returns one sigma of the points in metres, which OSRM calls their radius: the one to begin with, and the largest
// that keeps OSRM's search within the request's limit.
func spread(req *matching.Request) (near, far float64) {
	limit := req.MaxRadius
	if limit <= 0 {
		limit = matching.DefaultMaxRadius
	}
	far = limit / reach
	return min(max(req.Radius, leastSigma), far), far
}

// address returns the path and the query of a request to OSRM.
func (m *Matcher) address(req *matching.Request, used []int, sigma float64) (path, query string) {
	const (
		coordinateDecimals = 6 // of OSRM
		radiusDecimals     = 1
	)
	_, far := spread(req)
	p := make([]byte, 0, len(m.Profile)+24*len(used)+16)
	q := make([]byte, 0, 5*len(used)+64)
	p = append(p, "/match/v1/"...)
	p = append(p, m.Profile...)
	q = append(q, "overview=full&geometries=polyline6&generate_hints=false&radiuses="...)
	separator := byte('/')
	for n, i := range used {
		point := &req.Points[i]
		p = append(p, separator)
		separator = ';'
		p = jsontext.AppendRounded(p, point.Location[0], coordinateDecimals)
		p = append(p, ',')
		p = jsontext.AppendRounded(p, point.Location[1], coordinateDecimals)
		radius := sigma
		if point.Accuracy > 0 { // NaN is not
			radius = min(max(point.Accuracy, 1), far)
			if sigma == far {
				radius = far
			}
		}
		if n > 0 {
			q = append(q, ';')
		}
		q = jsontext.AppendRounded(q, radius, radiusDecimals)
	}
	return string(p), string(m.appendTimes(q, req, used))
}

// appendTimes appends the times of a trace whose points all have one, in order.
func (m *Matcher) appendTimes(q []byte, req *matching.Request, used []int) []byte {
	before := 0.0
	for _, i := range used {
		t := req.Points[i].Time
		if !(t >= before && t <= math.MaxUint32) { // NaN is not
			return q
		}
		before = t
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
