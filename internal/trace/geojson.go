package trace

import (
	"fmt"
	"math"

	"github.com/mapsedge/caddy-maps/internal/jsontext"
)

// ParseGeoJSON reads a GeoJSON LineString, or a Feature that has one, with times in properties.coordTimes (RFC 3339 or Unix
// seconds, one for each position). Altitudes and unknown members are passed over. The points are appended to dst[:0]; reading
// stops at the first point beyond max. The error is an *InputError.
func ParseGeoJSON(dst []Point, body []byte, max int) ([]Point, error) {
	g := geoJSON{reader: jsontext.NewReader(withoutBOM(body))}
	g.line = collector{points: dst[:0], max: max, name: "coordinates"}
	g.object(true)
	g.reader.End()
	if err := g.reader.Err(); err != nil {
		g.line.name = "body"
		g.line.fail(-1, "not the GeoJSON of a trace: "+err.Error())
	}
	if g.line.err == nil {
		g.join()
	}
	return g.line.finish()
}

// geoJSON is a document that is being read. Its members may come in any order, so that what they mean is only known at
// the end.
type geoJSON struct {
	reader *jsontext.Reader
	line   collector
	times  []float64

	rootType, geometryType                     string
	hasCoordinates, hasGeometry, hasProperties bool
	hasTimes                                   bool
}

func (g *geoJSON) fail(parameter, problem string) {
	if g.line.err == nil && g.reader.Err() == nil {
		g.line.err = &InputError{Parameter: parameter, Point: -1, Problem: problem}
	}
}

// members calls read for each member of the object that must be next.
func (g *geoJSON) members(read func(name string)) {
	g.reader.Expect('{')
	for first := true; g.line.err == nil && g.reader.More('}', &first); {
		name := string(g.reader.Name())
		if g.reader.Err() == nil {
			read(name)
		}
	}
}

// once reports whether a member is there for the first time.
func (g *geoJSON) once(seen *bool, name string) bool {
	if *seen {
		g.fail(name, "appears more than once")
		return false
	}
	*seen = true
	return true
}

// object reads the document itself, or the geometry of a Feature.
func (g *geoJSON) object(root bool) {
	kind := &g.geometryType
	if root {
		kind = &g.rootType
	}
	g.members(func(name string) {
		switch {
		case name == "type":
			*kind = string(g.reader.String())
		case name == "coordinates":
			if g.once(&g.hasCoordinates, name) {
				g.coordinates()
			}
		case name == "geometry" && root && g.reader.Peek() == '{':
			if g.once(&g.hasGeometry, name) {
				g.object(false)
			}
		case name == "properties" && root && g.reader.Peek() == '{':
			if g.once(&g.hasProperties, name) {
				g.properties()
			}
		default:
			g.reader.Skip()
		}
	})
}

func (g *geoJSON) coordinates() {
	r := g.reader
	if r.Peek() != '[' {
		g.fail("coordinates", "must be an array of positions")
		return
	}
	r.Expect('[')
	for first := true; r.More(']', &first); {
		if !g.line.room() {
			return
		}
		if r.Peek() != '[' {
			g.line.fail(len(g.line.points), "must be an array [longitude, latitude]")
			return
		}
		r.Expect('[')
		lon := r.Number()
		r.Expect(',')
		lat := r.Number()
		for r.Next(',') {
			r.Number()
		}
		r.Expect(']')
		if err := r.Err(); err != nil {
			g.line.fail(len(g.line.points), err.Error())
			return
		}
		if g.line.add(At(lat, lon)); g.line.err != nil {
			return
		}
	}
}

func (g *geoJSON) properties() {
	r := g.reader
	g.members(func(name string) {
		if name != "coordTimes" || r.Peek() == 'n' {
			r.Skip()
			return
		}
		if !g.once(&g.hasTimes, name) {
			return
		}
		if r.Peek() != '[' {
			g.fail(name, "must be an array of times")
			return
		}
		r.Expect('[')
		for first := true; r.More(']', &first); {
			if len(g.times) >= g.line.max {
				g.fail(name, fmt.Sprintf("more than %d times", g.line.max))
				return
			}
			seconds, problem := readTime(r)
			if problem != "" {
				g.line.err = &InputError{Parameter: name, Point: len(g.times), Problem: problem}
				return
			}
			g.times = append(g.times, seconds)
		}
	})
}

// join checks that the document is a trace, and gives the points their times.
func (g *geoJSON) join() {
	kind, where := g.rootType, "type"
	if kind == "Feature" {
		kind, where = g.geometryType, "geometry"
	}
	switch {
	case kind != "LineString":
		g.fail(where, "must be a LineString, or a Feature with one")
	case !g.hasCoordinates:
		g.fail("coordinates", "is missing")
	case g.hasTimes && len(g.times) != len(g.line.points):
		g.fail("coordTimes", fmt.Sprintf("has %d times for %d positions", len(g.times), len(g.line.points)))
	}
	for i := range g.line.points {
		if g.line.points[i].Time = math.NaN(); g.hasTimes && i < len(g.times) {
			g.line.points[i].Time = g.times[i]
		}
	}
}
