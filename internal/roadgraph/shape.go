package roadgraph

import (
	"math"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// Point is a point of a segment's shape.
type Point struct {
	Lat, Lon int32  // 1e-7 degrees
	Offset   uint32 // millimetres from the segment's first point, along the shape
	Road     uint32 // of the edge that begins or goes on here; see Graph.Way
}

// Location is the point's position in degrees.
func (p *Point) Location() orb.Point { return orb.Point{float64(p.Lon) / 1e7, float64(p.Lat) / 1e7} }

// position is a place in 1e-7 degrees.
type position struct{ lat, lon int32 }

// The shape of an edge is a word for each of its points behind the first: how far north (in the lower half) and east of
// the one before it is, in 1e-7 degrees. Where that does not fit, the word is farPoint, and its latitude and longitude
// are two more.
const farPoint = 0x8000_8000

// AppendShape appends the words that lead from one point of a shape to the next.
func AppendShape(words []uint32, fromLat, fromLon, toLat, toLon int32) []uint32 {
	north, east := int64(toLat)-int64(fromLat), geo.Eastward(fromLon, toLon)
	if north != int64(int16(north)) || east != int32(int16(east)) || north == math.MinInt16 {
		return append(words, farPoint, uint32(toLat), uint32(toLon))
	}
	return append(words, uint32(uint16(north))|uint32(uint16(east))<<16)
}

// next moves a position to the next point of a shape, and returns the words behind that.
func (p *position) next(words []uint32) []uint32 {
	w := words[0]
	if w == farPoint {
		return p.jump(words)
	}
	p.lat += int32(int16(w))
	p.lon += int32(w) >> 16
	if p.lon > halfTurn || p.lon < -halfTurn {
		p.lon = geo.Longitude(int64(p.lon))
	}
	return words[1:]
}

func (p *position) jump(words []uint32) []uint32 {
	p.lat, p.lon = int32(words[1]), int32(words[2])
	return words[3:]
}

// words is the shape of an edge.
func (g *Graph) words(edge uint32, e *Edge) []uint32 {
	first, end := e.FirstShape, g.edges.At(int(edge)+1).FirstShape
	if end-first > 3*MaxEdgeShape {
		g.foreign("an edge has too many points")
	}
	return g.shape.Range(int(first), int(end))
}

// end is where an edge ends.
func (g *Graph) end(edge uint32, e *Edge) position {
	p := position{e.Lat, e.Lon}
	if e.EndNorth != FarEnd {
		p.lat, p.lon = p.lat+int32(e.EndNorth), geo.Longitude(int64(p.lon)+int64(e.EndEast))
		return p
	}
	for words := g.words(edge, e); len(words) > 0; {
		words = p.next(words)
	}
	return p
}

// Shape appends the line of a segment, from its first end to its last: at least two points.
func (g *Graph) Shape(segment uint32, line []Point) []Point {
	first, begin := len(line), uint64(0)
	for edge := segment; ; edge++ {
		e := g.edges.At(int(edge))
		if line = g.appendEdge(line, first, edge, e, begin); len(line)-first > MaxShape {
			g.foreign("a segment has too many points")
		}
		begin += uint64(e.Length)
		if !g.goesOn(segment, edge) {
			return line
		}
	}
}

// appendEdge appends the points of an edge to the line of its segment, which begins at first. The edge begins where the
// one before ends.
func (g *Graph) appendEdge(line []Point, first int, edge uint32, e *Edge, begin uint64) []Point {
	at := position{e.Lat, e.Lon}
	if len(line) == first {
		line = append(line, Point{Lat: at.lat, Lon: at.lon})
	}
	line[len(line)-1].Road = e.Road
	m, metres := newRuler(at.lat), 0.0
	for words := g.words(edge, e); len(words) > 0; {
		from := at
		words = at.next(words)
		metres += m.distance(from, at)
		line = append(line, Point{at.lat, at.lon, offsetAt(begin, metres, e), e.Road})
	}
	line[len(line)-1].Offset = clamp(begin + uint64(e.Length))
	return line
}

// offsetAt is the offset on a segment, in millimetres, of a place on an edge of it: so many metres from where the edge
// begins, which is at an offset itself.
func offsetAt(begin uint64, metres float64, e *Edge) uint32 {
	return clamp(begin + min(uint64(metres*millimetres+0.5), uint64(e.Length)))
}

func clamp(offset uint64) uint32 { return uint32(min(offset, math.MaxUint32)) }

// At is the position on a segment at a number of metres from its first point. At the offsets of its shape's points it
// is exactly these.
func (g *Graph) At(segment uint32, metres float64) orb.Point {
	offset := metres * millimetres
	edge, begin := segment, uint64(0)
	e := g.edges.At(int(edge))
	for offset > float64(begin+uint64(e.Length)) && g.goesOn(segment, edge) {
		begin += uint64(e.Length)
		edge++
		e = g.edges.At(int(edge))
	}
	at, m, length, a := position{e.Lat, e.Lon}, newRuler(e.Lat), 0.0, clamp(begin)
	for words := g.words(edge, e); len(words) > 0; {
		from := at
		words = at.next(words)
		length += m.distance(from, at)
		b := offsetAt(begin, length, e)
		if len(words) == 0 {
			b = clamp(begin + uint64(e.Length))
		}
		if float64(b) >= offset || len(words) == 0 {
			share := 0.0
			if b > a {
				share = min(max((offset-float64(a))/float64(b-a), 0), 1)
			}
			lat, lon := between(from, at, share)
			return orb.Point{lon, lat}
		}
		a = b
	}
	return orb.Point{float64(at.lon) / 1e7, float64(at.lat) / 1e7}
}

// NearestOn is the place nearest to a position on the part of a segment between two numbers of metres from its first
// point: its own number of metres, and its distance in metres.
func (g *Graph) NearestOn(segment uint32, from, to float64, at orb.Point) (metres, distance float64) {
	flat, squared, begin := newPlane(at.Lat(), at.Lon()), math.Inf(1), 0.0
	for edge := segment; ; edge++ {
		e := g.edges.At(int(edge))
		end := begin + float64(e.Length)/millimetres
		if end >= from && begin <= to {
			p, m, a := position{e.Lat, e.Lon}, newRuler(e.Lat), begin
			ax, ay := flat.xy(p)
			for words := g.words(edge, e); len(words) > 0; {
				before := p
				words = p.next(words)
				bx, by := flat.xy(p)
				b := a + m.distance(before, p)
				if b >= from && a <= to {
					first, last := 0.0, 1.0 // the part of this piece that counts
					if b > a {
						first, last = max(0, (from-a)/(b-a)), min(1, (to-a)/(b-a))
					}
					share, d := closest(ax+first*(bx-ax), ay+first*(by-ay), ax+last*(bx-ax), ay+last*(by-ay))
					if d < squared {
						squared, metres = d, a+(first+share*(last-first))*(b-a)
					}
				}
				ax, ay, a = bx, by, b
			}
		}
		if begin = end; !g.goesOn(segment, edge) {
			return metres, math.Sqrt(squared)
		}
	}
}
