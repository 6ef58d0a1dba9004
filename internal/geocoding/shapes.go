package geocoding

import (
	"math"
	"slices"

	"github.com/paulmach/orb"
)

// newShape tells the shape of a geometry.
func newShape(g orb.Geometry) shape {
	switch g.(type) {
	case orb.Polygon, orb.MultiPolygon:
		return shapeArea
	case orb.LineString:
		return shapeLine
	default:
		return shapePoint
	}
}

// newCoord rounds a position to 1e-7 degrees.
func newCoord(p orb.Point) coord {
	return coord{int32(math.Round(p[0] * unitsPerDegree)), int32(math.Round(p[1] * unitsPerDegree))}
}

// newGeometry turns a geometry into chunks with boxes; false if nothing is left of it.
func newGeometry(g orb.Geometry) (geometry, bool) {
	out := geometry{shape: newShape(g), box: emptyBox}
	var lines [][]coord
	switch g := g.(type) {
	case orb.Point:
		c := newCoord(g)
		out.box = box{c.X, c.Y, c.X, c.Y}
		return out, finite(g)
	case orb.LineString:
		lines = appendLine(lines, g, false)
	case orb.Polygon:
		lines = appendPolygon(lines, g)
	case orb.MultiPolygon:
		for _, p := range g {
			lines = appendPolygon(lines, p)
		}
	}
	if len(lines) == 0 {
		return out, false
	}
	lines = cutAtAntimeridian(lines, out.shape == shapeArea)
	for _, line := range lines {
		if len(lines) > 1 || len(line) > chunkSegments+1 {
			out.appendChunks(line)
		}
		out.coords = append(out.coords, line...)
		out.box.extend(boxOf(line))
	}
	out.branches = appendPyramid(nil, out.boxes)
	return out, true
}

func finite(p orb.Point) bool {
	return math.Abs(p[0]) <= 180 && math.Abs(p[1]) <= 90 // false for NaN
}

func appendPolygon(lines [][]coord, p orb.Polygon) [][]coord {
	for _, ring := range p {
		lines = appendLine(lines, orb.LineString(ring), true)
	}
	return lines
}

// appendLine adds a line or ring without repeated vertices. One that has no length, or a ring that has no area because it
// has fewer than three vertices, is left out.
func appendLine(lines [][]coord, line orb.LineString, ring bool) [][]coord {
	coords := make([]coord, 0, len(line)+1)
	for _, p := range line {
		if !finite(p) {
			return lines
		}
		coords = append(coords, newCoord(p))
	}
	if ring && len(coords) > 0 && coords[0] != coords[len(coords)-1] {
		coords = append(coords, coords[0])
	}
	coords = slices.Compact(coords)
	if ring && len(coords) < 4 || len(coords) < 1 {
		return lines
	}
	if len(coords) == 1 { // all nodes of the way are at one position
		coords = append(coords, coords[0])
	}
	return append(lines, coords)
}

// appendChunks adds the chunks of a line whose coordinates come next.
func (g *geometry) appendChunks(line []coord) {
	segments := len(line) - 1
	n := (segments + chunkSegments - 1) / chunkSegments
	for i := range n { // as even as can be
		from, to := segments*i/n, segments*(i+1)/n
		g.chunks = append(g.chunks, chunk{uint32(len(g.coords) + from), uint32(to - from)})
		g.boxes = append(g.boxes, boxOf(line[from:to+1]))
	}
}

// cutAtAntimeridian cuts lines where an edge jumps from one side of the map to the other, which means that it crosses the
// 180th meridian: boxes and rays know nothing beyond it. The pieces of areas are closed along the meridian, between each
// crossing and the next, so that a ray to the east leaves them.
func cutAtAntimeridian(lines [][]coord, areas bool) [][]coord {
	var out [][]coord
	var crossings []int32 // latitudes
	for _, line := range lines {
		start := 0
		var piece []coord // what begins at the meridian; nil where the line itself does
		for i := 1; i < len(line); i++ {
			a, b := line[i-1], line[i]
			if d := int64(b.X) - int64(a.X); d <= halfTurn && d >= -halfTurn {
				continue
			}
			side := int32(halfTurn) // that a is on
			if a.X < 0 {
				side = -side
			}
			toEdge, toB := float64(side)-float64(a.X), float64(b.X)+2*float64(side)-float64(a.X)
			y := a.Y
			if toB != 0 {
				y += int32(math.Round(float64(b.Y-a.Y) * toEdge / toB))
			}
			crossings = append(crossings, y)
			out = append(out, slices.Concat(piece, line[start:i], []coord{{side, y}}))
			piece, start = []coord{{-side, y}}, i
		}
		if piece != nil {
			out = append(out, append(piece, line[start:]...))
			continue
		}
		out = append(out, line)
	}
	if areas {
		slices.Sort(crossings)
		for pair := range slices.Chunk(crossings, 2) {
			if len(pair) == 2 && pair[0] != pair[1] {
				out = append(out, []coord{{halfTurn, pair[0]}, {halfTurn, pair[1]}}, []coord{{-halfTurn, pair[0]}, {-halfTurn, pair[1]}})
			}
		}
	}
	return out
}

// extent is the size of a geometry for ordering what lies at the same distance: square metres of an area, on the sphere. A
// line counts as a strip of a millimetre, so that lines come before areas.
func (g *geometry) extent() float64 {
	switch g.shape {
	case shapeLine:
		return lineLength(g.coords) / 1000
	case shapeArea:
		// The rings' signed areas add up: holes run against their outlines. The pieces of a chunked outline share their ends,
		// so that the sum over all runs is the sum over all rings.
		sum := 0.0
		for line := range g.lines {
			sum += signedArea(line)
		}
		return math.Abs(sum)
	}
	return 0
}

// lines yields each run of segments.
func (g *geometry) lines(yield func([]coord) bool) {
	if len(g.chunks) == 0 {
		yield(g.coords)
		return
	}
	for _, c := range g.chunks {
		if !yield(g.coords[c.First : c.First+c.Segments+1]) {
			return
		}
	}
}

// signedArea is the area between a line and the equator, in square metres.
func signedArea(line []coord) float64 {
	sum := 0.0
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		width := float64(int64(b.X)-int64(a.X)) * radiansPerUnit
		sum += width * (math.Sin(float64(a.Y)*radiansPerUnit) + math.Sin(float64(b.Y)*radiansPerUnit)) / 2
	}
	return sum * earthRadius * earthRadius
}

func lineLength(line []coord) float64 {
	sum := 0.0
	for i := 1; i < len(line); i++ {
		sum += distance(line[i-1], line[i])
	}
	return sum
}

// distance is that of two positions in metres.
func distance(a, b coord) float64 {
	o := newOrigin(a.point())
	return metres(o.haversine(o.eastTo(b.X), float64(b.Y)-o.y))
}

func (c coord) point() orb.Point {
	return orb.Point{float64(c.X) / unitsPerDegree, float64(c.Y) / unitsPerDegree}
}
