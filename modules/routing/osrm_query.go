package routing

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
)

// osrmService is a service of OSRM's HTTP API, or a set of them.
type osrmService uint8

const (
	osrmRoute osrmService = 1 << iota
	osrmTable
	osrmNearest
	osrmTrip
	osrmMatch

	osrmLines = osrmRoute | osrmTrip | osrmMatch
	osrmAll   = osrmLines | osrmTable | osrmNearest
)

// osrmServices are the services by their names, with their scopes.
var osrmServices = map[string]struct {
	service osrmService
	scope   account.Scope
}{
	"route": {osrmRoute, account.ScopeDirection}, "table": {osrmTable, account.ScopeMatrix},
	"nearest": {osrmNearest, account.ScopeDirection}, "trip": {osrmTrip, account.ScopeTSS},
	"match": {osrmMatch, account.ScopeDirection},
}

// osrmProfiles are the usual names of profiles.
var osrmProfiles = map[string]routing.Profile{
	"driving": region.Car, "car": region.Car,
	"cycling": region.Bicycle, "bicycle": region.Bicycle, "bike": region.Bicycle,
	"walking": region.Foot, "foot": region.Foot,
}

// osrmError is an error of OSRM's HTTP API. Its status is 400.
type osrmError struct{ code, message string }

// Error implements error.
func (e *osrmError) Error() string { return e.message }

func osrmErrorf(code, format string, args ...any) error {
	return &osrmError{code, fmt.Sprintf(format, args...)}
}

// osrmQuery is what a request of OSRM's HTTP API asks for. Options with words are the index of the word.
type osrmQuery struct {
	service osrmService
	answer  answer.OSRM
	routing.Costs
	points []routing.Waypoint // for osrmMatch, Radius is the accuracy of a point, 0 if it is not known

	ends          []int // indexes of the points that end a leg; nil for all
	skipWaypoints bool
	alternatives  int
	straight      uint8 // at waypoints: default, true, false

	sources, destinations []int   // indexes of points
	fallbackSpeed         float64 // metres per second; 0 for none
	fallbackSnapped       uint8   // input, snapped
	scale                 float64 // of durations

	number int // of places

	roundtrip   bool
	first, last uint8 // any, first or last

	times []float64 // Unix seconds; nil without timestamps

	ignored uint8 // options that change nothing
}

// osrmLimits are what a request may ask for at most.
type osrmLimits struct{ coordinates, elements, trace int }

// parseOSRM reads a request by its path behind the prefix and its query. The error is an *osrmError.
func parseOSRM(path, query string, limits osrmLimits) (*osrmQuery, error) {
	parts := strings.SplitN(strings.TrimPrefix(path, "/"), "/", 4)
	if len(parts) < 4 || parts[3] == "" {
		return nil, &osrmError{"InvalidUrl", "the path is not /{service}/v1/{profile}/{coordinates}"}
	}
	service, isService := osrmServices[parts[0]]
	profile, isProfile := osrmProfiles[parts[2]]
	switch {
	case !isService:
		return nil, osrmErrorf("InvalidService", "service %.40q not found", parts[0])
	case parts[1] != "v1":
		return nil, osrmErrorf("InvalidVersion", "version %.40q not found: there is v1", parts[1])
	case !isProfile:
		return nil, &osrmError{"InvalidValue", "profile: must be driving, car, cycling, bike, bicycle, walking or foot"}
	case strings.HasSuffix(parts[3], ".flatbuffers"):
		return nil, &osrmError{"NotImplemented", "flatbuffers: the only format is json"}
	}
	q := &osrmQuery{service: service.service, Costs: routing.Costs{Profile: profile}, scale: 1, number: 1, roundtrip: true}
	q.answer.Hints = true
	if err := q.readCoordinates(strings.TrimSuffix(parts[3], ".json"), limits); err != nil {
		return nil, err
	}
	if err := q.readOptions(query); err != nil {
		return nil, err
	}
	return q, q.finish(limits)
}

// readCoordinates reads the last part of a path.
func (q *osrmQuery) readCoordinates(list string, limits osrmLimits) error {
	most, invalid := limits.coordinates, "InvalidValue"
	switch q.service {
	case osrmTable: // its elements are counted later
		most, invalid = limits.elements+1, "InvalidOptions"
	case osrmNearest:
		invalid = "InvalidOptions"
	case osrmMatch:
		most = limits.trace
	}
	line, err := parseOSRMCoordinates(list, most+1)
	switch {
	case err != nil:
		return err
	case len(line) > most:
		return osrmErrorf("TooBig", "the number of coordinates is higher than the maximum of %d", most)
	case q.service == osrmNearest && len(line) != 1:
		return &osrmError{"InvalidOptions", "only one coordinate is supported"}
	case q.service != osrmNearest && len(line) < 2:
		return &osrmError{"InvalidOptions", "the number of coordinates needs to be at least two"}
	}
	q.points = make([]routing.Waypoint, len(line))
	for i, p := range line {
		if !(math.Abs(p[0]) <= 180 && math.Abs(p[1]) <= 90) {
			return osrmErrorf(invalid, "coordinate %d is not a longitude and a latitude", i)
		}
		q.points[i] = routing.At(p)
	}
	return nil
}

// parseOSRMCoordinates reads at most so many coordinates of a list, or all of an encoded polyline.
func parseOSRMCoordinates(list string, most int) (line orb.LineString, err error) {
	if encoding, encoded, ok := strings.Cut(list, "("); ok {
		precision := map[string]float64{"polyline": geo.Polyline5, "polyline6": geo.Polyline6}[encoding]
		encoded, ok = strings.CutSuffix(encoded, ")")
		if ok && precision > 0 {
			line, err = geo.DecodePolyline([]byte(encoded), precision)
		}
		if !ok || precision == 0 || err != nil {
			return nil, &osrmError{"InvalidQuery", "query string malformed: the polyline"}
		}
		return line, nil
	}
	for more := true; more && len(line) < most; {
		var coordinate string
		coordinate, list, more = strings.Cut(list, ";")
		lon, lat, _ := strings.Cut(coordinate, ",")
		x, okX := text.ParseNumber([]byte(lon))
		y, okY := text.ParseNumber([]byte(lat))
		if !okX || !okY {
			return nil, osrmErrorf("InvalidQuery", "query string malformed: coordinate %d, which is not "+
				"{longitude},{latitude}", len(line))
		}
		line = append(line, orb.Point{x, y})
	}
	return line, nil
}

// osrmOption is an option of some services.
type osrmOption struct {
	name     string
	services osrmService
	// read reads a value. The message of its *osrmError says what the value must be.
	read func(q *osrmQuery, value string) error
}

var osrmOptions = []osrmOption{
	{"steps", osrmLines, osrmFlag(func(q *osrmQuery) *bool { return &q.answer.Steps })},
	{"geometries", osrmLines, osrmWord(func(q *osrmQuery) *answer.OSRMGeometries { return &q.answer.Geometries },
		"polyline", "polyline6", "geojson")},
	{"overview", osrmLines, osrmWord(func(q *osrmQuery) *answer.OSRMOverview { return &q.answer.Overview },
		"simplified", "full", "false")},
	{"annotations", osrmLines | osrmTable, (*osrmQuery).readAnnotations},
	{"alternatives", osrmRoute, (*osrmQuery).readAlternatives},
	{"continue_straight", osrmRoute, osrmWord(func(q *osrmQuery) *uint8 { return &q.straight },
		"default", "true", "false")},
	{"waypoints", osrmRoute | osrmMatch, osrmIndexes(func(q *osrmQuery) *[]int { return &q.ends })},
	{"bearings", osrmAll, osrmEach(readBearing)},
	{"radiuses", osrmAll, osrmEach(readRadius)},
	{"approaches", osrmAll, osrmEach(readApproach)},
	{"hints", osrmAll, osrmEach(readHint)},
	{"generate_hints", osrmAll, osrmFlag(func(q *osrmQuery) *bool { return &q.answer.Hints })},
	{"skip_waypoints", osrmAll, osrmFlag(func(q *osrmQuery) *bool { return &q.skipWaypoints })},
	{"exclude", osrmAll, (*osrmQuery).readExclude},
	{"sources", osrmTable, osrmIndexes(func(q *osrmQuery) *[]int { return &q.sources })},
	{"destinations", osrmTable, osrmIndexes(func(q *osrmQuery) *[]int { return &q.destinations })},
	{"fallback_speed", osrmTable, osrmFactor(func(q *osrmQuery) *float64 { return &q.fallbackSpeed })},
	{"fallback_coordinate", osrmTable, osrmWord(func(q *osrmQuery) *uint8 { return &q.fallbackSnapped },
		"input", "snapped")},
	{"scale_factor", osrmTable, osrmFactor(func(q *osrmQuery) *float64 { return &q.scale })},
	{"number", osrmNearest, (*osrmQuery).readNumber},
	{"roundtrip", osrmTrip, osrmFlag(func(q *osrmQuery) *bool { return &q.roundtrip })},
	{"source", osrmTrip, osrmWord(func(q *osrmQuery) *uint8 { return &q.first }, "any", "first")},
	{"destination", osrmTrip, osrmWord(func(q *osrmQuery) *uint8 { return &q.last }, "any", "last")},
	{"timestamps", osrmMatch, (*osrmQuery).readTimestamps},
	// Routes begin on any road, and the matcher decides about gaps and noise by itself.
	{"snapping", osrmAll, osrmWord(func(q *osrmQuery) *uint8 { return &q.ignored }, "default", "any")},
	{"gaps", osrmMatch, osrmWord(func(q *osrmQuery) *uint8 { return &q.ignored }, "split", "ignore")},
	{"tidy", osrmMatch, osrmWord(func(q *osrmQuery) *uint8 { return &q.ignored }, "false", "true")},
}

// readOptions reads a query. As in OSRM, unknown options and those of other services are errors.
func (q *osrmQuery) readOptions(query string) error {
	var seen uint64 // a bit for each option
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		name, value, _ := strings.Cut(pair, "=")
		i := slices.IndexFunc(osrmOptions, func(o osrmOption) bool { return o.name == name && o.services&q.service != 0 })
		if i < 0 {
			return osrmErrorf("InvalidQuery", "%.40q is no option of this service", name)
		}
		value, err := url.QueryUnescape(value)
		switch {
		case seen&(1<<i) != 0:
			err = malformed("appears more than once")
		case err != nil:
			err = malformed("a percent-encoding is not well-formed")
		default:
			err = osrmOptions[i].read(q, value)
		}
		if wrong, ok := errors.AsType[*osrmError](err); ok {
			return &osrmError{wrong.code, name + ": " + wrong.message}
		}
		seen |= 1 << i
	}
	return nil
}

func malformed(message string) error { return &osrmError{"InvalidQuery", message} }

// osrmWord reads one of a few words as its index.
func osrmWord[T ~uint8](field func(q *osrmQuery) *T, words ...string) func(q *osrmQuery, value string) error {
	return func(q *osrmQuery, value string) error {
		i := slices.Index(words, value)
		if i < 0 {
			return malformed("must be " + text.OrList(words))
		}
		*field(q) = T(i)
		return nil
	}
}

func osrmFlag(field func(q *osrmQuery) *bool) func(q *osrmQuery, value string) error {
	return func(q *osrmQuery, value string) error {
		if *field(q) = value == "true"; !*field(q) && value != "false" {
			return malformed("must be true or false")
		}
		return nil
	}
}

// osrmFactor reads a number above 0.
func osrmFactor(field func(q *osrmQuery) *float64) func(q *osrmQuery, value string) error {
	return func(q *osrmQuery, value string) error {
		number, ok := text.ParseNumber([]byte(value))
		switch {
		case !ok:
			return malformed("must be a number")
		case number <= 0:
			return &osrmError{"InvalidOptions", "must be more than 0"}
		}
		*field(q) = number
		return nil
	}
}

// osrmIndexes reads indexes of coordinates.
func osrmIndexes(field func(q *osrmQuery) *[]int) func(q *osrmQuery, value string) error {
	return func(q *osrmQuery, value string) error {
		if value == "all" {
			return nil
		}
		var list []int
		for element := range strings.SplitSeq(value, ";") {
			i, err := strconv.ParseUint(element, 10, 31)
			switch {
			case err != nil:
				return malformed("must be indexes of coordinates")
			case int(i) >= len(q.points):
				return osrmErrorf("InvalidOptions", "there is no coordinate %d", i)
			}
			list = append(list, int(i))
		}
		*field(q) = list
		return nil
	}
}

// osrmEach reads a list with an element for each coordinate, which may be empty. So may the list.
func osrmEach(read func(w *routing.Waypoint, element string) error) func(q *osrmQuery, value string) error {
	return func(q *osrmQuery, value string) error {
		if value == "" {
			return nil
		}
		if err := q.checkCount(value); err != nil {
			return err
		}
		for i := range q.points {
			var element string
			element, value, _ = strings.Cut(value, ";")
			if element == "" {
				continue
			}
			if err := read(&q.points[i], element); err != nil {
				return err
			}
		}
		return nil
	}
}

// checkCount checks that a list has an element for each coordinate.
func (q *osrmQuery) checkCount(list string) error {
	if n := strings.Count(list, ";") + 1; n != len(q.points) {
		return osrmErrorf("InvalidOptions", "the number of elements, %d, does not match the %d coordinates", n, len(q.points))
	}
	return nil
}

func readBearing(w *routing.Waypoint, element string) error {
	before, after, _ := strings.Cut(element, ",")
	bearing, err := strconv.Atoi(before)
	within, err2 := strconv.Atoi(after)
	switch {
	case err != nil || err2 != nil:
		return malformed("must be {bearing},{range} for each coordinate, in whole degrees")
	case bearing < 0 || bearing > 360 || within < 0 || within > 180:
		return osrmErrorf("InvalidOptions", "%s is not 0 to 360, and a range of 0 to 180", element)
	case within < 180:
		w.Heading, w.Within = float64(bearing%360), float64(within)+0.5 // directions are compared as whole degrees
	}
	return nil
}

// leastRadius is the distance in metres from a road at which a place is on it.
const leastRadius = 0.1

func readRadius(w *routing.Waypoint, element string) error {
	metres, ok := text.ParseNumber([]byte(element))
	switch {
	case element == "unlimited":
	case !ok:
		return malformed("must be metres or unlimited")
	case metres < 0:
		return osrmErrorf("InvalidOptions", "%s is negative", element)
	default:
		w.Radius = min(max(metres, leastRadius), routing.MaxRadius)
	}
	return nil
}

func readApproach(w *routing.Waypoint, element string) error {
	side, known := map[string]routing.Side{"unrestricted": routing.AnySide, "curb": routing.Curb,
		"opposite": routing.OppositeCurb}[element]
	if !known {
		return malformed("must be unrestricted, curb or opposite")
	}
	w.Side = side
	return nil
}

// readHint checks a hint, and forgets it: finding the road takes no longer.
func readHint(_ *routing.Waypoint, element string) error {
	if _, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(element, "=")); err != nil {
		return malformed("must be hints of answers")
	}
	return nil
}

func (q *osrmQuery) readExclude(value string) error {
	for class := range strings.SplitSeq(value, ",") {
		avoid, known := map[string]routing.Avoid{"toll": routing.Toll, "ferry": routing.Ferry, "motorway": routing.Motorway,
			"none": 0}[class]
		if !known {
			return osrmErrorf("InvalidValue", "%.40q is not toll, ferry, motorway or none", class)
		}
		q.Avoid |= avoid
	}
	return nil
}

func (q *osrmQuery) readAlternatives(value string) error {
	n, err := strconv.ParseUint(value, 10, 31)
	switch {
	case value == "true":
		n = 1
	case err != nil && value != "false":
		return malformed("must be true, false or a number")
	case n > maxAlternatives:
		return osrmErrorf("TooBig", "%d is higher than the maximum of %d", n, maxAlternatives)
	}
	q.alternatives = int(n)
	return nil
}

func (q *osrmQuery) readNumber(value string) error {
	n, err := strconv.ParseUint(value, 10, 31)
	switch {
	case err != nil:
		return malformed("must be a number of places")
	case n == 0:
		return &osrmError{"InvalidOptions", "must be at least 1"}
	}
	q.number = int(n)
	return nil
}

func (q *osrmQuery) readAnnotations(value string) error {
	known := map[string]answer.OSRMAnnotations{"duration": answer.OSRMDuration, "distance": answer.OSRMDistance}
	if q.service != osrmTable {
		known = map[string]answer.OSRMAnnotations{"duration": answer.OSRMDuration, "distance": answer.OSRMDistance,
			"speed": answer.OSRMSpeed, "weight": answer.OSRMWeight, "datasources": answer.OSRMDatasources,
			"true": answer.OSRMAll, "false": 0}
	}
	for word := range strings.SplitSeq(value, ",") {
		kind, ok := known[word]
		switch {
		case word == "nodes" && q.service != osrmTable:
			return &osrmError{"InvalidValue", "nodes are not known here"}
		case !ok:
			return malformed("must be of " + text.OrList(slices.Sorted(maps.Keys(known))))
		}
		q.answer.Annotations |= kind
	}
	return nil
}

func (q *osrmQuery) readTimestamps(value string) error {
	if err := q.checkCount(value); err != nil {
		return err
	}
	for element := range strings.SplitSeq(value, ";") {
		seconds, err := strconv.ParseUint(element, 10, 40)
		if err != nil {
			return malformed("must be seconds since 1970")
		}
		q.times = append(q.times, float64(seconds))
	}
	if !slices.IsSorted(q.times) {
		return &osrmError{"InvalidValue", "must be increasing"}
	}
	return nil
}

// finish compares options with each other and with the limits, and sets the defaults of tables.
func (q *osrmQuery) finish(limits osrmLimits) error {
	q.answer.Waypoints = !q.skipWaypoints
	if q.service&(osrmTable|osrmTrip) != 0 {
		if q.sources == nil {
			q.sources = allOf(q.points)
		}
		if q.destinations == nil {
			q.destinations = allOf(q.points)
		}
		if n, m := len(q.sources), len(q.destinations); n > limits.elements/m {
			return osrmErrorf("TooBig", "%d × %d elements are more than the maximum of %d", n, m, limits.elements)
		}
	}
	const anyEnd = 0
	switch w := q.ends; {
	case q.service == osrmTable && q.answer.Annotations == 0:
		q.answer.Annotations = answer.OSRMDuration
	case q.number > limits.coordinates:
		return osrmErrorf("TooBig", "number: %d is higher than the maximum of %d", q.number, limits.coordinates)
	case !q.roundtrip && q.first == anyEnd && q.last == anyEnd:
		return &osrmError{"NotImplemented", "a trip without return needs source=first or destination=last"}
	case w != nil && (w[0] != 0 || w[len(w)-1] != len(q.points)-1 || !slices.IsSorted(w)):
		return &osrmError{"InvalidValue", "waypoints: must begin with the first coordinate and end with the last"}
	}
	q.ends = slices.Compact(q.ends)
	return nil
}

// allOf returns the indexes of a list.
func allOf[T any](list []T) []int {
	indexes := make([]int, len(list))
	for i := range indexes {
		indexes[i] = i
	}
	return indexes
}
