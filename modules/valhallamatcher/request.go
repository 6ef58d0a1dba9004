package valhallamatcher

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/jsontext"
	"github.com/mapsedge/caddy-maps/internal/matching"
)

const (
	// leastRadius is how far Valhalla looks for roads at first, in metres; its own default.
	leastRadius = 50.0
	// usualAccuracy is one sigma of points without an accuracy, in metres.
	usualAccuracy = 10.0
)

// searchRadius returns how far to look for roads, in metres: at first, and at most.
func searchRadius(req *matching.Request) (near, far float64) {
	far = req.MaxRadius
	if far <= 0 {
		far = matching.DefaultMaxRadius
	}
	return min(max(req.Radius, leastRadius), far), far
}

// body makes a request for the points from first to before last.
func (m *Matcher) body(req *matching.Request, first, last int, radius float64) []byte {
	const coordinateDecimals = 6 // of Valhalla
	dst := make([]byte, 0, 64*(last-first)+256)
	timed := ordered(req, first, last)
	dst = append(dst, `{"shape":[`...)
	for i := first; i < last; i++ {
		p := &req.Points[i]
		if i > first {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"lat":`...)
		dst = jsontext.AppendRounded(dst, p.Location[1], coordinateDecimals)
		dst = append(dst, `,"lon":`...)
		dst = jsontext.AppendRounded(dst, p.Location[0], coordinateDecimals)
		if timed {
			dst = append(dst, `,"time":`...)
			dst = jsontext.AppendRounded(dst, math.Floor(p.Time), 0)
		}
		if p.Accuracy > 0 { // NaN is not
			dst = append(dst, `,"accuracy":`...)
			dst = jsontext.AppendRounded(dst, min(math.Ceil(p.Accuracy), radius), 0)
		}
		dst = append(dst, '}')
	}
	dst = append(dst, `],"costing":`...)
	dst = jsontext.AppendString(dst, m.costing(req.Profile))
	dst = append(dst, `,"shape_match":"map_snap","directions_type":"none","trace_options":{"search_radius":`...)
	dst = jsontext.AppendRounded(dst, radius, 1)
	dst = append(dst, `,"gps_accuracy":`...)
	dst = jsontext.AppendRounded(dst, min(usualAccuracy, radius), 1)
	return append(dst, `}}`...)
}

// ordered reports whether every point has a time, in order.
func ordered(req *matching.Request, first, last int) bool {
	before := 0.0
	for i := first; i < last; i++ {
		t := req.Points[i].Time
		if !(t >= before && t <= math.MaxUint32) { // NaN is not
			return false
		}
		before = t
	}
	return true
}
