package routing

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geojson"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/routing"
	"github.com/mapsedge/caddy-maps/internal/web/admission"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
)

// costNames are the parameters that all paths have.
var costNames = []string{"profile", "avoid", "avoid_polygons", "radius"}

// routeNames are the parameters of routes.
var routeNames = append([]string{"origin", "destination", "waypoints", "alternatives", "steps", "heading", "curbside",
	"language", "format"}, costNames...)

// parameters are the values of a request by name: of a query decoded, of a JSON body strings as they are and all other
// values as JSON.
type parameters map[string]string

func invalid(message string) error { return apierror.InvalidInput(message) }

// readQuery reads the parameters with some names. Others are ignored.
func readQuery(query string, names []string) (parameters, error) {
	p := parameters{}
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err != nil || !slices.Contains(names, name) {
			continue
		}
		if _, twice := p[name]; twice {
			return nil, invalid(name + ": appears more than once")
		}
		if p[name], err = url.QueryUnescape(value); err != nil {
			return nil, invalid(name + ": a percent-encoding is not well-formed")
		}
	}
	return p, nil
}

// readBody adds the parameters of a JSON body to those of the query.
func (p parameters) readBody(r *http.Request, names []string, memory *admission.Reservation) error {
	var values map[string]jsontext.Value
	if err := request.ReadObject(r, maxBody, memory, &values); err != nil {
		return err
	}
	for name, value := range values {
		if !slices.Contains(names, name) || string(value) == "null" {
			continue
		}
		if _, twice := p[name]; twice {
			return invalid(name + ": is both in the query and in the body")
		}
		if value.Kind() == '"' {
			unquoted, err := jsontext.AppendUnquote(nil, value)
			if err != nil {
				return invalid(name + ": is not a valid string")
			}
			p[name] = string(unquoted)
		} else {
			p[name] = string(value)
		}
	}
	return nil
}

// points reads a list of coordinates.
func (p parameters) points(name string, most int) ([]orb.Point, error) {
	points, err := parsePoints(p[name], most)
	switch {
	case errors.Is(err, errTooMany):
		return nil, apierror.TooMuch(fmt.Sprintf("%s: more than %d coordinates", name, most))
	case err != nil:
		return nil, invalid(name + ": " + err.Error())
	}
	return points, nil
}

var errTooMany = errors.New("has too many coordinates")

// point reads one coordinate, which must be there.
func (p parameters) point(name string) (orb.Point, error) {
	value, ok := p[name]
	if !ok {
		return orb.Point{}, invalid(name + ": is missing")
	}
	points, err := parsePoints(value, 1)
	if err == nil && len(points) != 1 {
		err = fmt.Errorf("must be <lat>,<lon>")
	}
	if err != nil {
		return orb.Point{}, invalid(name + ": " + err.Error())
	}
	return points[0], nil
}

// parsePoints reads coordinates, latitude first: "lat,lon;lat,lon", "[lat,lon;lat,lon]", "[{lat,lng},{lat,lng}]",
// [[lat,lon],…], {"lat":…,"lng":…} and a list of these, where lng may be called lon.
func parsePoints(list string, most int) (points []orb.Point, err error) {
	rest := strings.TrimSpace(list)
	if rest == "" {
		return nil, fmt.Errorf("is empty")
	}
	inList := rest[0] == '['
	if inList {
		if rest = strings.TrimSpace(rest[1:]); !strings.HasSuffix(rest, "]") {
			return nil, fmt.Errorf("the list does not end with ]")
		}
		if rest = strings.TrimSpace(rest[:len(rest)-1]); rest == "" {
			return nil, nil
		}
	}
	for {
		if len(points) == most {
			return nil, errTooMany
		}
		var one string
		closing := map[byte]byte{'{': '}', '[': ']'}[rest[0]]
		if closing != 0 {
			end := strings.IndexByte(rest, closing)
			if end < 0 {
				return nil, fmt.Errorf("coordinate %d does not end with %c", len(points), closing)
			}
			one, rest = rest[1:end], strings.TrimSpace(rest[end+1:])
		} else if end := strings.IndexByte(rest, ';'); end >= 0 {
			one, rest = rest[:end], rest[end:]
		} else {
			one, rest = rest, ""
		}
		p, err := parsePoint(one)
		if err != nil {
			if inList || len(points) > 0 || rest != "" {
				err = fmt.Errorf("coordinate %d: %w", len(points), err)
			}
			return nil, err
		}
		points = append(points, p)
		if rest == "" {
			return points, nil
		}
		if rest[0] != ',' && rest[0] != ';' {
			return nil, fmt.Errorf("there is no comma behind coordinate %d", len(points)-1)
		}
		if rest = strings.TrimSpace(rest[1:]); rest == "" {
			return nil, fmt.Errorf("coordinate %d is missing", len(points))
		}
	}
}

// parsePoint reads "lat,lon" or the members of a JSON object.
func parsePoint(one string) (orb.Point, error) {
	first, second, ok := strings.Cut(one, ",")
	if !ok {
		return orb.Point{}, fmt.Errorf("must be <lat>,<lon>")
	}
	values := map[string]float64{}
	for i, part := range [...]string{first, second} {
		name := [...]string{"lat", "lng"}[i]
		if strings.Contains(one, ":") {
			key, value, _ := strings.Cut(part, ":")
			if name = strings.Trim(strings.TrimSpace(key), `"`); name == "lon" {
				name = "lng"
			}
			part = value
		}
		v, ok := text.ParseNumber([]byte(strings.TrimPrefix(strings.TrimSpace(part), "+")))
		if !ok {
			return orb.Point{}, fmt.Errorf("%.40q is not a number", strings.TrimSpace(part))
		}
		values[name] = v
	}
	lat, hasLat := values["lat"]
	lng, hasLng := values["lng"]
	switch {
	case !hasLat || !hasLng:
		return orb.Point{}, fmt.Errorf("must have lat and lng")
	case !(lat >= -90 && lat <= 90):
		return orb.Point{}, fmt.Errorf("latitude %v is not in -90 to 90", lat)
	case !(lng >= -180 && lng <= 180):
		return orb.Point{}, fmt.Errorf("longitude %v is not in -180 to 180", lng)
	}
	return orb.Point{lng, lat}, nil
}

// flag reads true or false, or 1 or 0.
func (p parameters) flag(name string) (bool, error) {
	switch p[name] {
	case "", "0", "false":
		return false, nil
	case "1", "true":
		return true, nil
	}
	return false, invalid(name + ": must be true or false")
}

// number reads a number.
func (p parameters) number(name string, least, most float64) (float64, error) {
	v, ok := text.ParseNumber([]byte(strings.TrimSpace(p[name])))
	if !ok || !(v >= least && v <= most) {
		return 0, invalid(fmt.Sprintf("%s: must be a number from %v to %v", name, least, most))
	}
	return v, nil
}

// word reads one of some words. The first one is the default.
func (p parameters) word(name string, words ...string) (string, error) {
	v, ok := p[name]
	if !ok {
		return words[0], nil
	}
	if !slices.Contains(words, v) {
		return "", invalid(name + ": must be " + text.OrList(words))
	}
	return v, nil
}

// avoidNames are the words of `avoid`.
var avoidNames = map[string]routing.Avoid{
	"toll": routing.Toll, "ferry": routing.Ferry, "motorway": routing.Motorway, "unpaved": routing.Unpaved,
}

// costs reads what the route costs.
func (p parameters) costs(h *Handler) (c routing.Costs, err error) {
	c.Profile = h.offer[0]
	if name, ok := p["profile"]; ok {
		if c.Profile, err = h.profile(name); err != nil {
			return c, err
		}
	}
	if list := p["avoid"]; list != "" {
		for name := range strings.SplitSeq(strings.Trim(strings.ReplaceAll(list, `"`, ""), "[]"), ",") {
			what, ok := avoidNames[strings.TrimSpace(name)]
			if !ok {
				return c, invalid("avoid: must be some of toll, ferry, motorway and unpaved, separated by commas")
			}
			c.Avoid |= what
		}
	}
	if polygons, ok := p["avoid_polygons"]; ok {
		c.AvoidPolygons, err = parsePolygons(polygons)
	}
	return c, err
}

const (
	// maxPolygonPoints is the most points of all polygons that a route avoids.
	maxPolygonPoints = 1000
	// maxPolygonSize is the greatest width and height of a polygon in degrees.
	maxPolygonSize = 1.0
)

// parsePolygons reads a Polygon or MultiPolygon of GeoJSON, or a Feature of one.
func parsePolygons(document string) (all orb.MultiPolygon, err error) {
	var geometry orb.Geometry
	if g, err := geojson.UnmarshalGeometry([]byte(document)); err == nil {
		geometry = g.Geometry()
	} else if f, err := geojson.UnmarshalFeature([]byte(document)); err == nil {
		geometry = f.Geometry
	}
	switch g := geometry.(type) {
	case orb.Polygon:
		all = orb.MultiPolygon{g}
	case orb.MultiPolygon:
		all = g
	default:
		return nil, invalid("avoid_polygons: must be a Polygon or MultiPolygon of GeoJSON")
	}
	points := 0
	for _, polygon := range all {
		if len(polygon) == 0 {
			return nil, invalid("avoid_polygons: a polygon has no ring")
		}
		for _, ring := range polygon {
			points += len(ring)
			for _, p := range ring {
				if math.Abs(p[0]) > 180 || math.Abs(p[1]) > 90 {
					return nil, invalid("avoid_polygons: a position is not on Earth")
				}
			}
			if len(ring) < 4 || ring[0] != ring[len(ring)-1] {
				return nil, invalid("avoid_polygons: a ring is not closed, or has fewer than 4 positions")
			}
		}
		if b := polygon.Bound(); b.Max[0]-b.Min[0] > maxPolygonSize || b.Max[1]-b.Min[1] > maxPolygonSize {
			return nil, apierror.TooMuch(fmt.Sprintf("avoid_polygons: a polygon is more than %v° wide or high", maxPolygonSize))
		}
	}
	if points > maxPolygonPoints {
		return nil, apierror.TooMuch(fmt.Sprintf("avoid_polygons: %d positions, more than %d", points, maxPolygonPoints))
	}
	return all, nil
}

// waypoint makes a waypoint of a coordinate with the request's radius.
func (p parameters) waypoint(at orb.Point) (routing.Waypoint, error) {
	w := routing.At(at)
	if _, ok := p["radius"]; ok {
		radius, err := p.number("radius", 1, routing.MaxRadius)
		if err != nil {
			return w, err
		}
		w.Radius = radius
	}
	return w, nil
}

// waypoints makes waypoints of coordinates.
func (p parameters) waypoints(points []orb.Point) (all []routing.Waypoint, err error) {
	all = make([]routing.Waypoint, len(points))
	for i := range points {
		if all[i], err = p.waypoint(points[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// numbers reads a list of numbers, separated by commas.
func (p parameters) numbers(name string, most int, least, greatest float64) (all []float64, err error) {
	for part := range strings.SplitSeq(strings.Trim(p[name], "[] "), ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(v >= least && v <= greatest) {
			return nil, invalid(fmt.Sprintf("%s: must be numbers from %v to %v, separated by commas", name, least, greatest))
		}
		if all = append(all, v); len(all) > most {
			return nil, invalid(fmt.Sprintf("%s: more than %d numbers", name, most))
		}
	}
	return all, nil
}
