package answer

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"net/http"
	"strconv"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/simplify"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/routing/guidance"
)

// OSRM says what answers of OSRM's HTTP API contain. Their coordinates are longitude first.
type OSRM struct {
	Steps       bool
	Annotations OSRMAnnotations
	Geometries  OSRMGeometries
	Overview    OSRMOverview
	Hints       bool
	Waypoints   bool // also tracepoints, sources and destinations
}

// OSRMGeometries is the form of lines.
type OSRMGeometries uint8

// The forms of lines.
const (
	OSRMPolyline OSRMGeometries = iota
	OSRMPolyline6
	OSRMGeoJSON
)

// OSRMOverview is how much of its line a route has.
type OSRMOverview uint8

// How much of its line a route has. A simplified one keeps the waypoints.
const (
	OSRMSimplified OSRMOverview = iota
	OSRMFull
	OSRMNone
)

// OSRMAnnotations is what a leg has for each segment of its line.
type OSRMAnnotations uint8

// What a leg can have for each segment of its line.
const (
	OSRMDistance OSRMAnnotations = 1 << iota
	OSRMDuration
	OSRMSpeed
	OSRMWeight
	OSRMDatasources
	OSRMAll = 1<<iota - 1
)

const (
	osrmDecimals           = 1 // of metres and seconds
	osrmSegmentDecimals    = 3
	osrmCoordinateDecimals = 6
)

// WriteOSRMError writes an error of OSRM's HTTP API.
func WriteOSRMError(w http.ResponseWriter, code, message string) {
	body := append(append([]byte(`{"code":"`), code...), `","message":`...)
	body = append(appendString(body, message), '}')
	h := w.Header()
	h.Set("Content-Type", JSON)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusBadRequest)
	_, _ = w.Write(body) // an error means that the client has gone
}

// AppendRoutes appends the answer of the service route.
func (o *OSRM) AppendRoutes(dst []byte, r *routing.Result) []byte {
	dst = append(dst, `{"code":"Ok","routes":[`...)
	for i := range r.Routes {
		dst = append(o.appendRoute(separate(dst, i), &r.Routes[i]), '}')
	}
	dst = o.appendWaypoints(append(dst, ']'), "waypoints", r.Waypoints)
	return append(dst, '}')
}

// AppendTrip appends the answer of the service trip. order has the indexes of the waypoints in the order of the route.
// More waypoints than these are not part of the answer.
func (o *OSRM) AppendTrip(dst []byte, route *routing.Route, waypoints []routing.Snapped, order []int) []byte {
	dst = o.appendRoute(append(dst, `{"code":"Ok","trips":[`...), route)
	dst = append(dst, `}]`...)
	if o.Waypoints {
		position := make([]int, len(order))
		for i, waypoint := range order {
			position[waypoint] = i
		}
		dst = append(dst, `,"waypoints":[`...)
		for i, at := range position {
			w := &waypoints[at]
			dst = o.appendWaypoint(separate(dst, i), w.Location, w.Name, w.Distance)
			dst = strconv.AppendInt(append(dst, `,"trips_index":0,"waypoint_index":`...), int64(at), 10)
			dst = append(dst, '}')
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// AppendMatchings appends the answer of the service match. indexes has the number of the waypoint of route that each
// tracepoint is, -1 if it is none.
func (o *OSRM) AppendMatchings(dst []byte, route *routing.Route, m *matching.Result, indexes []int) []byte {
	dst = o.appendRoute(append(dst, `{"code":"Ok","matchings":[`...), route)
	if !math.IsNaN(m.Confidence) {
		dst = text.AppendRounded(append(dst, `,"confidence":`...), m.Confidence, 4)
	}
	dst = append(dst, `}]`...)
	if o.Waypoints {
		dst = append(dst, `,"tracepoints":[`...)
		for i := range m.Tracepoints {
			dst = separate(dst, i)
			t := &m.Tracepoints[i]
			if !t.Matched {
				dst = append(dst, `null`...)
				continue
			}
			dst = o.appendWaypoint(dst, t.Location, t.Name, t.Distance)
			dst = append(dst, `,"matchings_index":0,"alternatives_count":0,"waypoint_index":`...)
			if indexes[i] < 0 {
				dst = append(dst, `null`...)
			} else {
				dst = strconv.AppendInt(dst, int64(indexes[i]), 10)
			}
			dst = append(dst, '}')
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// AppendNearest appends the answer of the service nearest. The nodes are 0, which OSRM has for those it does not know.
func (o *OSRM) AppendNearest(dst []byte, places []routing.Snapped) []byte {
	dst = append(dst, `{"code":"Ok"`...)
	if o.Waypoints {
		dst = append(dst, `,"waypoints":[`...)
		for i := range places {
			dst = o.appendWaypoint(separate(dst, i), places[i].Location, places[i].Name, places[i].Distance)
			dst = append(dst, `,"nodes":[0,0]}`...)
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// AppendTable appends the answer of the service table. estimated are the cells, as row and column, whose values do not
// come from a route; nil if the request has no speed for them.
func (o *OSRM) AppendTable(dst []byte, t *routing.Table, estimated [][2]int) []byte {
	dst = append(dst, `{"code":"Ok"`...)
	dst = appendMatrix(dst, `,"durations":[`, t.Durations)
	dst = appendMatrix(dst, `,"distances":[`, t.Distances)
	if estimated != nil {
		dst = append(dst, `,"fallback_speed_cells":[`...)
		for i, cell := range estimated {
			dst = strconv.AppendInt(append(separate(dst, i), '['), int64(cell[0]), 10)
			dst = strconv.AppendInt(append(dst, ','), int64(cell[1]), 10)
			dst = append(dst, ']')
		}
		dst = append(dst, ']')
	}
	dst = o.appendWaypoints(dst, "sources", t.Sources)
	dst = o.appendWaypoints(dst, "destinations", t.Destinations)
	return append(dst, '}')
}

func appendMatrix(dst []byte, head string, rows [][]float64) []byte {
	if rows == nil {
		return dst
	}
	dst = append(dst, head...)
	for i, row := range rows {
		dst = appendNumbers(separate(dst, i), row, osrmDecimals)
	}
	return append(dst, ']')
}

// separate appends a comma in front of all elements of a list but the first.
func separate(dst []byte, i int) []byte {
	if i > 0 {
		dst = append(dst, ',')
	}
	return dst
}

func (o *OSRM) appendWaypoints(dst []byte, name string, places []routing.Snapped) []byte {
	if !o.Waypoints {
		return dst
	}
	dst = append(append(append(dst, `,"`...), name...), `":[`...)
	for i := range places {
		dst = o.appendWaypoint(separate(dst, i), places[i].Location, places[i].Name, places[i].Distance)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// appendWaypoint appends a waypoint without its closing brace.
func (o *OSRM) appendWaypoint(dst []byte, at orb.Point, name string, distance float64) []byte {
	dst = append(dst, '{')
	if o.Hints {
		// Clients send hints back, and expect them to depend on the place.
		var place [8]byte
		binary.LittleEndian.PutUint32(place[:], uint32(int32(math.Round(at[0]*1e7))))
		binary.LittleEndian.PutUint32(place[4:], uint32(int32(math.Round(at[1]*1e7))))
		dst = append(dst, `"hint":"`...)
		dst = base64.RawURLEncoding.AppendEncode(dst, place[:])
		dst = append(dst, `",`...)
	}
	dst = appendOSRMPoint(append(dst, `"location":`...), at)
	dst = appendString(append(dst, `,"name":`...), name)
	return text.AppendRounded(append(dst, `,"distance":`...), distance, distanceDecimals)
}

func appendOSRMPoint(dst []byte, p orb.Point) []byte {
	dst = text.AppendFixed(append(dst, '['), p[0], osrmCoordinateDecimals)
	dst = text.AppendFixed(append(dst, ','), p[1], osrmCoordinateDecimals)
	return append(dst, ']')
}

// appendMeasures appends a distance and a duration. The weight is the duration.
func appendOSRMMeasures(dst []byte, distance, duration float64) []byte {
	dst = text.AppendRounded(append(dst, `"distance":`...), distance, osrmDecimals)
	dst = append(dst, `,"duration":`...)
	from := len(dst)
	dst = text.AppendRounded(dst, duration, osrmDecimals)
	to := len(dst)
	return append(append(dst, `,"weight":`...), dst[from:to]...)
}

// appendRoute appends a route without its closing brace.
func (o *OSRM) appendRoute(dst []byte, r *routing.Route) []byte {
	dst = append(dst, '{')
	switch o.Overview {
	case OSRMSimplified:
		dst = append(o.appendLine(dst, simplified(r)), ',')
	case OSRMFull:
		dst = append(o.appendLine(dst, r.Line), ',')
	}
	dst = append(appendOSRMMeasures(dst, r.Distance, r.Duration), `,"weight_name":"duration","legs":[`...)
	for i := range r.Legs {
		dst = o.appendLeg(separate(dst, i), r, &r.Legs[i])
	}
	return append(dst, ']')
}

func (o *OSRM) appendLeg(dst []byte, r *routing.Route, leg *routing.Leg) []byte {
	dst = appendOSRMMeasures(append(dst, '{'), leg.Distance, leg.Duration)
	dst = append(dst, `,"summary":`...)
	if !o.Steps {
		dst = append(dst, `"","steps":[`...)
	} else {
		dst = append(appendString(dst, leg.Summary), `,"steps":[`...)
		for i := range leg.Steps {
			dst = o.appendStep(separate(dst, i), r.Line, &leg.Steps[i])
		}
	}
	dst = append(dst, ']')
	if o.Annotations != 0 {
		dst = o.appendAnnotation(dst, leg.Segments)
	}
	return append(dst, '}')
}

func (o *OSRM) appendAnnotation(dst []byte, segments []routing.Segment) []byte {
	dst = append(dst, `,"annotation":{`...)
	start := len(dst)
	list := func(kind OSRMAnnotations, name string, value func(s *routing.Segment) float64, decimals int) {
		if o.Annotations&kind == 0 {
			return
		}
		dst = append(append(separate(dst, len(dst)-start), name...), `:[`...)
		for i := range segments {
			dst = text.AppendRounded(separate(dst, i), value(&segments[i]), decimals)
		}
		dst = append(dst, ']')
	}
	duration := func(s *routing.Segment) float64 { return s.Duration }
	list(OSRMDistance, `"distance"`, func(s *routing.Segment) float64 { return s.Distance }, osrmSegmentDecimals)
	list(OSRMDuration, `"duration"`, duration, osrmSegmentDecimals)
	list(OSRMWeight, `"weight"`, duration, osrmSegmentDecimals)
	before := 0.0
	list(OSRMSpeed, `"speed"`, func(s *routing.Segment) float64 {
		if s.Duration > 0 { // else that of the segment before
			before = s.Distance / s.Duration
		}
		return before
	}, osrmDecimals)
	list(OSRMDatasources, `"datasources"`, func(*routing.Segment) float64 { return 0 }, 0)
	if o.Annotations&OSRMDatasources != 0 {
		dst = append(dst, `,"metadata":{"datasource_names":["profile"]}`...)
	}
	return append(dst, '}')
}

func (o *OSRM) appendStep(dst []byte, line orb.LineString, s *guidance.Step) []byte {
	dst = o.appendLine(append(dst, '{'), line[s.First:s.Last+1])
	dst = append(appendOSRMMeasures(append(dst, ','), s.Distance, s.Duration), `,"name":`...)
	dst = appendString(dst, s.Name)
	for _, known := range [...]struct{ name, value string }{
		{`,"ref":`, s.Ref}, {`,"destinations":`, s.Destinations}, {`,"exits":`, s.Exits}, {`,"rotary_name":`, s.RotaryName},
	} {
		if known.value != "" {
			dst = appendString(append(dst, known.name...), known.value)
		}
	}
	dst = append(append(append(dst, `,"mode":"`...), s.Mode...), `","driving_side":"`...)
	if s.LeftDriving {
		dst = append(dst, `left`...)
	} else {
		dst = append(dst, `right`...)
	}
	m := &s.Maneuver
	dst = append(append(append(dst, `","maneuver":{"type":"`...), m.Type...), '"')
	if m.Modifier != "" {
		dst = append(append(append(dst, `,"modifier":"`...), m.Modifier...), '"')
	}
	if m.Exit > 0 {
		dst = strconv.AppendInt(append(dst, `,"exit":`...), int64(m.Exit), 10)
	}
	dst = strconv.AppendInt(append(dst, `,"bearing_before":`...), int64(m.BearingBefore), 10)
	dst = strconv.AppendInt(append(dst, `,"bearing_after":`...), int64(m.BearingAfter), 10)
	dst = appendOSRMPoint(append(dst, `,"location":`...), line[s.First])
	dst = append(dst, `},"intersections":[`...)
	for i := range s.Intersections {
		dst = appendIntersection(separate(dst, i), line, &s.Intersections[i])
	}
	return append(dst, `]}`...)
}

func appendIntersection(dst []byte, line orb.LineString, n *guidance.Intersection) []byte {
	dst = appendOSRMPoint(append(dst, `{"location":`...), line[n.Index])
	dst = append(dst, `,"bearings":[`...)
	for i, bearing := range n.Bearings {
		dst = strconv.AppendInt(separate(dst, i), int64(bearing), 10)
	}
	dst = append(dst, `],"entry":[`...)
	for i, open := range n.Entry {
		dst = strconv.AppendBool(separate(dst, i), open)
	}
	dst = append(dst, ']')
	if n.In >= 0 {
		dst = strconv.AppendInt(append(dst, `,"in":`...), int64(n.In), 10)
	}
	if n.Out >= 0 {
		dst = strconv.AppendInt(append(dst, `,"out":`...), int64(n.Out), 10)
	}
	if len(n.Lanes) > 0 {
		dst = append(dst, `,"lanes":[`...)
		for i := range n.Lanes {
			dst = appendWords(append(separate(dst, i), `{"indications":`...), n.Lanes[i].Indications)
			dst = append(strconv.AppendBool(append(dst, `,"valid":`...), n.Lanes[i].Valid), '}')
		}
		dst = append(dst, ']')
	}
	if len(n.Classes) > 0 {
		dst = appendWords(append(dst, `,"classes":`...), n.Classes)
	}
	return append(dst, '}')
}

// appendWords appends a list of words that need no escaping.
func appendWords(dst []byte, words []string) []byte {
	dst = append(dst, '[')
	for i, word := range words {
		dst = append(append(append(separate(dst, i), '"'), word...), '"')
	}
	return append(dst, ']')
}

// appendLine appends a line as a member "geometry". In GeoJSON, a line of one point has it twice.
func (o *OSRM) appendLine(dst []byte, line orb.LineString) []byte {
	dst = append(dst, `"geometry":`...)
	if o.Geometries == OSRMGeoJSON {
		dst = append(dst, `{"type":"LineString","coordinates":[`...)
		for i, p := range line {
			dst = appendOSRMPoint(separate(dst, i), p)
		}
		if len(line) == 1 {
			dst = appendOSRMPoint(append(dst, ','), line[0])
		}
		return append(dst, `]}`...)
	}
	precision := geo.Polyline5
	if o.Geometries == OSRMPolyline6 {
		precision = geo.Polyline6
	}
	dst = append(dst, '"')
	start := len(dst)
	dst = geo.AppendPolyline(dst, line, precision)
	return append(escapeBackslashes(dst, start), '"')
}

// simplified returns the line of a route for a map that shows all of it, leg by leg, so that it has the waypoints.
func simplified(r *routing.Route) orb.LineString {
	const pixels = 2048 // the larger side of the route
	var low, high orb.Point
	for _, p := range r.Line {
		p = orb.Point{geo.LongitudeDegrees(p[0] - r.Line[0][0]), p[1] - r.Line[0][1]}
		low = orb.Point{min(low[0], p[0]), min(low[1], p[1])}
		high = orb.Point{max(high[0], p[0]), max(high[1], p[1])}
	}
	simplifier := simplify.DouglasPeucker(max(high[0]-low[0], high[1]-low[1]) / pixels)
	line := append(orb.LineString(nil), r.Line...)
	short := line[:1] // grows no faster than the legs are read
	for i := range r.Legs {
		leg := simplifier.LineString(line[r.Legs[i].First : r.Legs[i].Last+1])
		short = append(short, leg[1:]...)
	}
	return short
}
