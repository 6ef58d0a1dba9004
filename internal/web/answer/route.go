package answer

import (
	"strconv"
	"strings"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/routing/guidance"
)

// GPX is the media type of GPX.
const GPX = "application/gpx+xml"

// AppendRoutes appends routes as JSON: their lines as [lat,lng], or as encoded polylines with six decimals, and the
// waypoints.
func AppendRoutes(dst []byte, r *routing.Result, polyline bool) []byte {
	dst = append(dst, `{"data":{"routes":[`...)
	for i := range r.Routes {
		if i > 0 {
			dst = append(dst, ',')
		}
		route := &r.Routes[i]
		dst = appendLength(append(dst, '{'), route.Distance, route.Duration)
		dst = append(dst, ',')
		if polyline {
			dst = appendPolylineMember(dst, route.Line)
		} else {
			dst = append(dst, `"coordinates":`...)
			dst = appendLine(dst, route.Line, appendLatLng)
		}
		dst = append(dst, `,"legs":[`...)
		for k := range route.Legs {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = appendLeg(dst, route, &route.Legs[k])
		}
		dst = append(dst, `]}`...)
	}
	dst = append(dst, `],"waypoints":[`...)
	for i := range r.Waypoints {
		if i > 0 {
			dst = append(dst, ',')
		}
		w := &r.Waypoints[i]
		dst = append(dst, `{"location":`...)
		dst = appendLatLng(dst, w.Location)
		dst = append(dst, `,"name":`...)
		dst = appendString(dst, w.Name)
		dst = append(dst, `,"distance":`...)
		dst = text.AppendRounded(dst, w.Distance, distanceDecimals)
		dst = append(dst, '}')
	}
	return append(dst, `]}}`...)
}

func appendPolylineMember(dst []byte, line orb.LineString) []byte {
	dst = append(dst, `"polyline":"`...)
	start := len(dst)
	dst = geo.AppendPolyline(dst, line, geo.Polyline6)
	return append(escapeBackslashes(dst, start), '"')
}

// appendLength appends the members distance and duration.
func appendLength(dst []byte, metres, seconds float64) []byte {
	dst = append(dst, `"distance":`...)
	dst = text.AppendRounded(dst, metres, distanceDecimals)
	dst = append(dst, `,"duration":`...)
	return text.AppendRounded(dst, seconds, 1)
}

func appendLeg(dst []byte, route *routing.Route, l *routing.Leg) []byte {
	dst = appendLength(append(dst, '{'), l.Distance, l.Duration)
	dst = append(dst, `,"summary":`...)
	dst = appendString(dst, l.Summary)
	dst = append(dst, `,"steps":[`...)
	for i := range l.Steps {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendStep(dst, route, &l.Steps[i])
	}
	return append(dst, `]}`...)
}

func appendStep(dst []byte, route *routing.Route, s *guidance.Step) []byte {
	dst = appendLength(append(dst, '{'), s.Distance, s.Duration)
	dst = append(dst, `,"from":`...)
	dst = strconv.AppendInt(dst, int64(s.First), 10)
	dst = append(dst, `,"to":`...)
	dst = strconv.AppendInt(dst, int64(s.Last), 10)
	dst = append(dst, `,"name":`...)
	dst = appendString(dst, s.Name)
	for _, m := range [...]struct{ name, value string }{{`,"ref":`, s.Ref}, {`,"destinations":`, s.Destinations},
		{`,"exits":`, s.Exits}, {`,"mode":`, string(s.Mode)}} {
		if m.value != "" {
			dst = append(dst, m.name...)
			dst = appendString(dst, m.value)
		}
	}
	dst = append(dst, `,"maneuver":{"type":`...)
	dst = appendString(dst, s.Maneuver.Type)
	if s.Maneuver.Modifier != "" {
		dst = append(dst, `,"modifier":`...)
		dst = appendString(dst, s.Maneuver.Modifier)
	}
	dst = append(dst, `,"location":`...)
	dst = appendLatLng(dst, route.Line[s.First])
	dst = append(dst, `,"bearing_before":`...)
	dst = strconv.AppendInt(dst, int64(s.Maneuver.BearingBefore), 10)
	dst = append(dst, `,"bearing_after":`...)
	dst = strconv.AppendInt(dst, int64(s.Maneuver.BearingAfter), 10)
	if s.Maneuver.Exit > 0 {
		dst = append(dst, `,"exit":`...)
		dst = strconv.AppendInt(dst, int64(s.Maneuver.Exit), 10)
	}
	dst = append(dst, `},"instruction":`...)
	dst = appendString(dst, s.Instruction)
	return append(dst, '}')
}

// AppendRouteFeatures appends routes as a GeoJSON FeatureCollection, with positions as [lng,lat].
func AppendRouteFeatures(dst []byte, r *routing.Result) []byte {
	dst = append(dst, `{"type":"FeatureCollection","features":[`...)
	for i := range r.Routes {
		if i > 0 {
			dst = append(dst, ',')
		}
		route := &r.Routes[i]
		dst = append(dst, `{"type":"Feature","geometry":{"type":"LineString","coordinates":`...)
		dst = appendLine(dst, route.Line, appendLngLat)
		dst = append(dst, `},"properties":{`...)
		dst = appendLength(dst, route.Distance, route.Duration)
		dst = append(dst, `,"legs":[`...)
		for k := range route.Legs {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = appendLeg(dst, route, &route.Legs[k])
		}
		dst = append(dst, `]}}`...)
	}
	return append(dst, `]}`...)
}

// AppendGPX appends the first route as GPX 1.1: a waypoint for each maneuver and each waypoint of the request, and the
// line as a track.
func AppendGPX(dst []byte, r *routing.Result) []byte {
	dst = append(dst, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+
		`<gpx version="1.1" creator="caddy-maps" xmlns="http://www.topografix.com/GPX/1/1">`...)
	route := &r.Routes[0]
	position := func(dst []byte, element string, p orb.Point) []byte {
		dst = append(append(dst, "\n<"...), element...)
		dst = append(dst, ` lat="`...)
		dst = text.AppendFixed(dst, p[1], coordinateDecimals)
		dst = append(dst, `" lon="`...)
		dst = text.AppendFixed(dst, p[0], coordinateDecimals)
		return append(dst, '"')
	}
	for i := range r.Waypoints {
		dst = position(dst, "wpt", r.Waypoints[i].Location)
		dst = append(append(append(dst, "><name>"...), escapeXML(r.Waypoints[i].Name)...), "</name></wpt>"...)
	}
	dst = append(dst, "\n<rte>"...)
	for i := range route.Legs {
		for k := range route.Legs[i].Steps {
			s := &route.Legs[i].Steps[k]
			dst = position(dst, "rtept", route.Line[s.First])
			dst = append(append(append(dst, "><desc>"...), escapeXML(s.Instruction)...), "</desc></rtept>"...)
		}
	}
	dst = append(dst, "\n</rte>\n<trk><trkseg>"...)
	for _, p := range route.Line {
		dst = append(position(dst, "trkpt", p), "/>"...)
	}
	return append(dst, "\n</trkseg></trk>\n</gpx>\n"...)
}

// escapeXML escapes a text for XML. Control characters, which XML does not have, become spaces.
func escapeXML(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd")))
}

// AppendDirections appends the first route as the origin service does: seconds, metres and [lat,lng] positions, with
// further routes under alternatives.
func AppendDirections(dst []byte, r *routing.Result, instructions, polyline bool) []byte {
	dst = appendDirection(dst, &r.Routes[0], instructions, polyline, true)
	if len(r.Routes) > 1 {
		dst = append(dst[:len(dst)-1], `,"alternatives":[`...)
		for i := range r.Routes[1:] {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendDirection(dst, &r.Routes[1+i], instructions, polyline, true)
		}
		dst = append(dst, `]}`...)
	}
	return dst
}

func appendDirection(dst []byte, route *routing.Route, instructions, polyline, line bool) []byte {
	dst = append(dst, `{"msg":"Ok","timetaken":`...)
	dst = text.AppendRounded(dst, route.Duration, 1)
	dst = append(dst, `,"totalDistance":`...)
	dst = text.AppendRounded(dst, route.Distance, distanceDecimals)
	switch {
	case polyline:
		dst = append(dst, ',')
		dst = appendPolylineMember(dst, route.Line)
	case line:
		dst = append(dst, `,"direction":`...)
		dst = appendLine(dst, route.Line, appendLatLng)
	}
	if instructions {
		dst = append(dst, `,"instruction":[`...)
		first := true
		for i := range route.Legs {
			for k := range route.Legs[i].Steps {
				if !first {
					dst = append(dst, ',')
				}
				first = false
				dst = appendTurn(dst, route, &route.Legs[i].Steps[k])
			}
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

// appendTurn appends a step as the origin service does.
func appendTurn(dst []byte, route *routing.Route, s *guidance.Step) []byte {
	dst = append(dst, `{"turn":`...)
	dst = appendString(dst, strings.TrimSpace(s.Maneuver.Type+" "+s.Maneuver.Modifier))
	dst = append(dst, `,"path":`...)
	dst = appendString(dst, s.Instruction)
	dst = append(dst, `,"name":`...)
	dst = appendString(dst, s.Name)
	dst = append(dst, `,"distance":`...)
	dst = text.AppendRounded(dst, s.Distance, distanceDecimals)
	dst = append(dst, `,"turning_latitude":`...)
	dst = text.AppendFixed(dst, route.Line[s.First][1], coordinateDecimals)
	dst = append(dst, `,"turning_longitude":`...)
	dst = text.AppendFixed(dst, route.Line[s.First][0], coordinateDecimals)
	return append(dst, '}')
}

// AppendMatrix appends a matrix as the origin service does: its rows are objects with a member duration, distances
// included. Elements without a route are null.
func AppendMatrix(dst []byte, t *routing.Table) []byte {
	dst = append(dst, `{"msg":"Ok","durations":`...)
	dst = appendRows(dst, t.Durations, 1)
	dst = append(dst, `,"distances":`...)
	dst = appendRows(dst, t.Distances, distanceDecimals)
	dst = append(dst, `,"origins":`...)
	dst = appendPlacesOf(dst, t.Sources)
	dst = append(dst, `,"destinations":`...)
	dst = appendPlacesOf(dst, t.Destinations)
	return append(dst, '}')
}

func appendRows(dst []byte, rows [][]float64, decimals int) []byte {
	dst = append(dst, '[')
	for i, row := range rows {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"duration":`...)
		dst = append(appendNumbers(dst, row, decimals), '}')
	}
	return append(dst, ']')
}

// appendNumbers appends a list in which NaN is null.
func appendNumbers(dst []byte, list []float64, decimals int) []byte {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		if v != v { // NaN
			dst = append(dst, "null"...)
		} else {
			dst = text.AppendRounded(dst, v, decimals)
		}
	}
	return append(dst, ']')
}

func appendPlacesOf(dst []byte, places []routing.Snapped) []byte {
	dst = append(dst, '[')
	for i := range places {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"location":{"lat":`...)
		dst = text.AppendFixed(dst, places[i].Location[1], coordinateDecimals)
		dst = append(dst, `,"lng":`...)
		dst = text.AppendFixed(dst, places[i].Location[0], coordinateDecimals)
		dst = append(dst, `}}`...)
	}
	return append(dst, ']')
}

// AppendOneToMany appends routes as the origin service does. A route that is nil does not exist.
func AppendOneToMany(dst []byte, routes []*routing.Route, lines bool) []byte {
	dst = append(dst, `{"msg":"Ok","directions":[`...)
	for i, route := range routes {
		if i > 0 {
			dst = append(dst, ',')
		}
		if route == nil {
			dst = append(dst, `{"msg":"NoRoute","timetaken":null,"totalDistance":null,"direction":[]}`...)
			continue
		}
		dst = appendDirection(dst, route, false, false, lines)
	}
	return append(dst, `]}`...)
}

// AppendOrder appends the best order of stops, and the route through them.
func AppendOrder(dst []byte, stops []routing.Waypoint, best []int, route *routing.Route, line bool) []byte {
	dst = appendDirection(dst, route, false, false, line)
	dst = append(dst[:len(dst)-1], `,"bestorder":[`...)
	for i, at := range best {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendLatLng(dst, stops[at].Location)
	}
	dst = append(dst, `],"originalorder":[`...)
	for i := range stops {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendLatLng(dst, stops[i].Location)
	}
	return append(dst, `]}`...)
}

// AppendIsochrones appends areas as a GeoJSON FeatureCollection, the largest limit first.
func AppendIsochrones(dst []byte, req *routing.IsochroneRequest, areas []orb.MultiPolygon) []byte {
	dst = append(dst, `{"type":"FeatureCollection","features":[`...)
	for n, i := range descending(req.Limits) {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"type":"Feature","properties":{"`...)
		if req.Metres {
			dst = append(dst, `metres":`...)
			dst = text.AppendRounded(dst, req.Limits[i], distanceDecimals)
		} else {
			dst = append(dst, `minutes":`...)
			dst = text.AppendRounded(dst, req.Limits[i]/60, distanceDecimals)
		}
		dst = append(dst, `},"geometry":{"type":"MultiPolygon","coordinates":[`...)
		for k, polygon := range areas[i] {
			if k > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, '[')
			for m, ring := range polygon {
				if m > 0 {
					dst = append(dst, ',')
				}
				dst = appendLine(dst, orb.LineString(ring), appendLngLat)
			}
			dst = append(dst, ']')
		}
		dst = append(dst, `]}}`...)
	}
	return append(dst, `]}`...)
}
