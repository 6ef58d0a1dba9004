package trace

import (
	"fmt"
	"math"
	"slices"
)

// ParseGeoJSON reads a GeoJSON LineString, a Feature that has one, or a FeatureCollection with exactly one such
// Feature. Times are in properties.coordTimes: RFC 3339 or Unix seconds, one for each position. Altitudes, unknown
// members, and a collection's points and areas are ignored. The points are appended to dst[:0]; reading stops at the
// first point beyond max. The error is an *InputError.
func ParseGeoJSON(dst []Point, body []byte, max int) ([]Point, error) {
	g := geoJSON{reader: newReader(withoutBOM(body))}
	g.line = collector{points: dst[:0], max: max, name: "coordinates"}
	g.object(true)
	g.reader.End()
	g.checkSyntax()
	if g.line.err == nil && g.rootType == "FeatureCollection" {
		g.readCollection()
	}
	if g.line.err == nil {
		g.join()
	}
	if g.line.err != nil {
		g.nameGeometry()
	}
	return g.line.finish()
}

// geoJSON is a document being read. Its members may come in any order, so their meaning is known only at the end.
type geoJSON struct {
	reader *reader
	line   collector
	times  []float64

	rootType, geometryType                     string
	hasCoordinates, hasGeometry, hasProperties bool
	hasTimes                                   bool
	collection                                 collection
}

func (g *geoJSON) fail(parameter, problem string) {
	if g.line.err == nil && g.reader.Err() == nil {
		g.line.err = &InputError{Parameter: parameter, Point: -1, Problem: problem}
	}
}

// checkSyntax takes over the reader's error.
func (g *geoJSON) checkSyntax() {
	if err := g.reader.Err(); err != nil {
		g.line.name = "body"
		g.line.fail(-1, "not the GeoJSON of a trace: "+err.Error())
	}
}

// nameGeometry replaces the error if the geometry is none of a trace. Its type may follow what the error is about.
func (g *geoJSON) nameGeometry() {
	kind, geometry, _ := outline(g.reader.data)
	where := "type"
	if kind == "Feature" {
		kind, where = geometry, "geometry"
	}
	if slices.Contains(otherGeometries, kind) {
		g.line.err = &InputError{Parameter: where, Point: -1, Problem: needsLine + "; it is a " + kind}
	}
}

// members expects an object next, and calls read for each member.
func (g *geoJSON) members(read func(name string)) {
	g.reader.Expect('{')
	for first := true; g.line.err == nil && g.reader.More('}', &first); {
		name := string(g.reader.Name())
		if g.reader.Err() == nil {
			read(name)
		}
	}
}

// once reports whether a member appears for the first time.
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
		case name == "features" && root:
			if g.once(&g.collection.found, name) {
				g.features()
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
	g.members(func(name string) {
		if name != timesName || g.reader.Peek() == 'n' {
			g.reader.Skip()
			return
		}
		if g.once(&g.hasTimes, name) {
			g.readTimes()
		}
	})
}

// timesName is the property of a Feature with the times of its positions.
const timesName = "coordTimes"

func (g *geoJSON) readTimes() {
	r := g.reader
	if r.Peek() != '[' {
		g.fail(timesName, "must be an array of times")
		return
	}
	r.Expect('[')
	for first := true; r.More(']', &first); {
		if len(g.times) >= g.line.max {
			g.fail(timesName, fmt.Sprintf("more than %d times", g.line.max))
			return
		}
		seconds, problem := readTime(r)
		if problem != "" {
			g.line.err = &InputError{Parameter: timesName, Point: len(g.times), Problem: problem}
			return
		}
		g.times = append(g.times, seconds)
	}
}

const needsLine = "must be a LineString, or a Feature or a FeatureCollection with one"

// join checks that the document is a trace, and sets the times of the points.
func (g *geoJSON) join() {
	kind, where := g.rootType, "type"
	if kind == "Feature" {
		kind, where = g.geometryType, "geometry"
	}
	switch {
	case kind != lineString:
		g.fail(where, needsLine)
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
