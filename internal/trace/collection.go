package trace

import "fmt"

const lineString = "LineString"

// collection is the features of a FeatureCollection. A feature's type may follow its coordinates, so they are skipped
// first, and those of the only line are read at the end.
type collection struct {
	found bool // there is a list of features
	lines int
	other string // type of a line that is no LineString; "" if there is none
	line  feature
}

// feature has the offsets in bytes of the parts of a feature; -1 for a missing part.
type feature struct{ coordinates, times int }

// features skips the features of a collection.
func (g *geoJSON) features() {
	r := g.reader
	if r.Peek() != '[' {
		g.fail("features", "must be an array")
		return
	}
	r.Expect('[')
	for first := true; g.line.err == nil && r.More(']', &first); {
		if r.Peek() != '{' {
			r.Skip()
			continue
		}
		at, kind := g.feature()
		switch {
		case kind == lineString:
			if g.collection.lines++; g.collection.lines == 1 {
				g.collection.line = at
			}
		case kind == "MultiLineString" || kind == "GeometryCollection":
			g.collection.other = kind
		}
	}
}

// feature skips one of them. kind is the type of its geometry; "" if it has none, or is no feature.
func (g *geoJSON) feature() (at feature, kind string) {
	at = feature{-1, -1}
	is, hasGeometry, hasProperties := false, false, false
	r := g.reader
	g.members(func(name string) {
		switch {
		case name == "type":
			is = string(r.String()) == "Feature"
		case name == "geometry" && r.Peek() == '{' && g.once(&hasGeometry, name):
			g.members(func(name string) {
				switch name {
				case "type":
					kind = string(r.String())
				case "coordinates":
					at.coordinates = g.skipOnce(at.coordinates, name)
				default:
					r.Skip()
				}
			})
		case name == "properties" && r.Peek() == '{' && g.once(&hasProperties, name):
			g.members(func(name string) {
				if name == timesName && r.Peek() != 'n' {
					at.times = g.skipOnce(at.times, name)
				} else {
					r.Skip()
				}
			})
		default:
			if g.line.err == nil {
				r.Skip()
			}
		}
	})
	if !is {
		kind = ""
	}
	return at, kind
}

// skipOnce skips a value and returns its offset. It fails if there was one before.
func (g *geoJSON) skipOnce(before int, name string) (begins int) {
	found := before >= 0
	if !g.once(&found, name) {
		return before
	}
	g.reader.Peek()
	begins = g.reader.at
	g.reader.Skip()
	return begins
}

// readCollection reads the only line of the collection, as if it were the document.
func (g *geoJSON) readCollection() {
	c := &g.collection
	switch {
	case !c.found:
		g.fail("features", "is missing")
	case c.other != "":
		g.fail("features", fmt.Sprintf("one has a %s; a trace is one %s", c.other, lineString))
	case c.lines != 1:
		g.fail("features", fmt.Sprintf("%d have a %s; a trace is one", c.lines, lineString))
	}
	if g.line.err != nil {
		return
	}
	g.rootType, g.line.points = lineString, g.line.points[:0]
	if g.hasCoordinates = c.line.coordinates >= 0; g.hasCoordinates {
		g.reader.at = c.line.coordinates
		g.coordinates()
	}
	if g.hasTimes, g.times = c.line.times >= 0, g.times[:0]; g.hasTimes && g.line.err == nil {
		g.reader.at = c.line.times
		g.readTimes()
	}
	g.checkSyntax()
}
