package answer

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/routing/guidance"
)

// descending returns the indexes of numbers, the greatest first.
func descending(numbers []float64) []int {
	order := make([]int, len(numbers))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(numbers[b], numbers[a]) })
	return order
}

// AppendTrip appends the first route as Valhalla's `trip`, with one leg whatever the waypoints. Lengths are kilometres,
// the shape has six decimals.
func AppendTrip(dst []byte, r *routing.Result, language string) []byte {
	route := &r.Routes[0]
	dst = append(dst, `{"trip":{"locations":[`...)
	for i := range r.Waypoints {
		if i > 0 {
			dst = append(dst, ',')
		}
		w := &r.Waypoints[i]
		dst = append(dst, `{"type":"break","lat":`...)
		dst = text.AppendFixed(dst, w.Location[1], coordinateDecimals)
		dst = append(dst, `,"lon":`...)
		dst = text.AppendFixed(dst, w.Location[0], coordinateDecimals)
		dst = append(dst, `,"original_index":`...)
		dst = append(strconv.AppendInt(dst, int64(i), 10), '}')
	}
	dst = append(dst, `],"legs":[{"maneuvers":[`...)
	first := true
	for i := range route.Legs {
		steps := route.Legs[i].Steps
		for k := range steps {
			if k == 0 && i > 0 {
				continue // the arrival at the waypoint goes on to the first turn
			}
			if !first {
				dst = append(dst, ',')
			}
			first = false
			s := steps[k]
			if k == len(steps)-1 && i+1 < len(route.Legs) && len(route.Legs[i+1].Steps) > 0 {
				onward := &route.Legs[i+1].Steps[0]
				s.Distance, s.Duration = s.Distance+onward.Distance, s.Duration+onward.Duration
				s.Last, s.Maneuver.BearingAfter = onward.Last, onward.Maneuver.BearingAfter
			}
			dst = appendManeuver(dst, &s)
		}
	}
	dst = append(dst, `],"summary":`...)
	dst = appendSummary(dst, route)
	dst = append(dst, `,"shape":"`...)
	start := len(dst)
	dst = geo.AppendPolyline(dst, route.Line, geo.Polyline6)
	dst = escapeBackslashes(dst, start)
	dst = append(dst, `"}],"summary":`...)
	dst = appendSummary(dst, route)
	dst = append(dst, `,"status_message":"Found route between points","status":0,"units":"kilometers","language":`...)
	dst = appendString(dst, cmp.Or(language, "en-US"))
	return append(dst, `}}`...)
}

func appendSummary(dst []byte, route *routing.Route) []byte {
	b := route.Line.Bound()
	dst = append(dst, `{"has_time_restrictions":false,"min_lat":`...)
	dst = text.AppendFixed(dst, b.Min[1], coordinateDecimals)
	dst = append(dst, `,"min_lon":`...)
	dst = text.AppendFixed(dst, b.Min[0], coordinateDecimals)
	dst = append(dst, `,"max_lat":`...)
	dst = text.AppendFixed(dst, b.Max[1], coordinateDecimals)
	dst = append(dst, `,"max_lon":`...)
	dst = text.AppendFixed(dst, b.Max[0], coordinateDecimals)
	dst = append(dst, `,"time":`...)
	dst = text.AppendRounded(dst, route.Duration, 3)
	dst = append(dst, `,"length":`...)
	dst = text.AppendRounded(dst, route.Distance/1000, 3)
	return append(dst, '}')
}

func appendManeuver(dst []byte, s *guidance.Step) []byte {
	dst = append(dst, `{"type":`...)
	dst = strconv.AppendInt(dst, int64(valhallaType(s)), 10)
	dst = append(dst, `,"instruction":`...)
	dst = appendString(dst, s.Instruction)
	dst = append(dst, `,"verbal_pre_transition_instruction":`...)
	dst = appendString(dst, s.Instruction)
	if s.Name != "" {
		dst = append(dst, `,"street_names":[`...)
		dst = append(appendString(dst, s.Name), ']')
	}
	dst = append(dst, `,"bearing_before":`...)
	dst = strconv.AppendInt(dst, int64(s.Maneuver.BearingBefore), 10)
	dst = append(dst, `,"bearing_after":`...)
	dst = strconv.AppendInt(dst, int64(s.Maneuver.BearingAfter), 10)
	dst = append(dst, `,"time":`...)
	dst = text.AppendRounded(dst, s.Duration, 3)
	dst = append(dst, `,"length":`...)
	dst = text.AppendRounded(dst, s.Distance/1000, 3)
	dst = append(dst, `,"begin_shape_index":`...)
	dst = strconv.AppendInt(dst, int64(s.First), 10)
	dst = append(dst, `,"end_shape_index":`...)
	dst = strconv.AppendInt(dst, int64(s.Last), 10)
	if s.Maneuver.Exit > 0 {
		dst = append(dst, `,"roundabout_exit_count":`...)
		dst = strconv.AppendInt(dst, int64(s.Maneuver.Exit), 10)
	}
	dst = append(dst, `,"travel_mode":`...)
	switch s.Mode {
	case guidance.Cycling:
		dst = append(dst, `"bicycle","travel_type":"hybrid"`...)
	case guidance.Walking:
		dst = append(dst, `"pedestrian","travel_type":"foot"`...)
	default:
		dst = append(dst, `"drive","travel_type":"car"`...)
	}
	return append(dst, '}')
}

// turnTypes are Valhalla's types of turns by modifier.
var turnTypes = map[string]int{"": 8, "straight": 8, "slight right": 9, "right": 10, "sharp right": 11, "uturn": 13,
	"sharp left": 14, "left": 15, "slight left": 16}

// sides are Valhalla's types of other maneuvers: straight on, right and left.
var sides = map[string][3]int{"depart": {1, 2, 3}, "arrive": {4, 5, 6}, "on ramp": {17, 18, 19},
	"off ramp": {20, 20, 21}, "fork": {22, 23, 24}, "merge": {25, 37, 38}}

// valhallaType returns the number of a maneuver in Valhalla's API.
func valhallaType(s *guidance.Step) int {
	switch m := &s.Maneuver; m.Type {
	case "depart", "arrive", "on ramp", "off ramp", "fork", "merge":
		of := sides[m.Type]
		switch m.Modifier {
		case "right", "slight right", "sharp right":
			return of[1]
		case "left", "slight left", "sharp left":
			return of[2]
		}
		return of[0]
	case "roundabout", "rotary":
		return 26
	case "exit roundabout", "exit rotary":
		return 27
	case "new name":
		return 7
	default:
		if s.Mode == guidance.OnFerry {
			return 28
		}
		return turnTypes[m.Modifier]
	}
}
