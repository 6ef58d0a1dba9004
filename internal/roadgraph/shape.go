package roadgraph

import (
	"math"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// Point is a point of an edge's shape.
type Point struct {
	Lat, Lon int32  // 1e-7 degrees
	Offset   uint32 // millimetres from the edge's first node, along the shape
	Road     uint32 // of the base edge that begins or continues here; see Graph.Way
}

// Location returns the point's position in degrees.
func (p *Point) Location() orb.Point { return orb.Point{float64(p.Lon) / 1e7, float64(p.Lat) / 1e7} }

// position is a place in 1e-7 degrees.
type position struct{ lat, lon int32 }

// The shape of a base edge is a word for each node after the first: how far north (in the lower half) and east of the
// one before it is, in 1e-7 degrees. If that does not fit, the word is farPoint, followed by latitude and longitude.
const farPoint = 0x8000_8000

// AppendShape appends the words from one node of a shape to the next.
func AppendShape(words []uint32, fromLat, fromLon, toLat, toLon int32) []uint32 {
	north, east := int64(toLat)-int64(fromLat), geo.Eastward(fromLon, toLon)
	if north != int64(int16(north)) || east != int32(int16(east)) || north == math.MinInt16 {
		return append(words, farPoint, uint32(toLat), uint32(toLon))
	}
	return append(words, uint32(uint16(north))|uint32(uint16(east))<<16)
}

// next moves a position to the next node of a shape, and returns the words after it.
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

// words returns the shape of a base edge.
func (g *Graph) words(base uint32, e *BaseEdge) []uint32 {
	first, end := e.FirstShape, g.baseEdges.At(int(base)+1).FirstShape
	if end-first > 3*MaxBaseEdgeSegments {
		g.corrupt("a base edge has too many points")
	}
	return g.shape.Range(int(first), int(end))
}

// end returns where a base edge ends.
func (g *Graph) end(base uint32, e *BaseEdge) position {
	p := position{e.Lat, e.Lon}
	if e.EndNorth != FarEnd {
		p.lat, p.lon = p.lat+int32(e.EndNorth), geo.Longitude(int64(p.lon)+int64(e.EndEast))
		return p
	}
	for words := g.words(base, e); len(words) > 0; {
		words = p.next(words)
	}
	return p
}

// Shape appends the nodes of an edge, at least two.
func (g *Graph) Shape(edge uint32, line []Point) []Point {
	first, begin := len(line), uint64(0)
	for base := edge; ; base++ {
		e := g.baseEdges.At(int(base))
		if line = g.appendBaseEdge(line, first, base, e, begin); len(line)-first > MaxShape {
			g.corrupt("an edge has too many points")
		}
		begin += uint64(e.Length)
		if !g.continues(edge, base) {
			return line
		}
	}
}

// appendBaseEdge appends the nodes of a base edge to the line of its edge, which begins at line[first]. The base edge
// begins where the one before it ends.
func (g *Graph) appendBaseEdge(line []Point, first int, base uint32, e *BaseEdge, begin uint64) []Point {
	at := position{e.Lat, e.Lon}
	if len(line) == first {
		line = append(line, Point{Lat: at.lat, Lon: at.lon})
	}
	line[len(line)-1].Road = e.Road
	m, metres := newRuler(at.lat), 0.0
	for words := g.words(base, e); len(words) > 0; {
		from := at
		words = at.next(words)
		metres += m.distance(from, at)
		line = append(line, Point{at.lat, at.lon, offsetAt(begin, metres, e), e.Road})
	}
	line[len(line)-1].Offset = clamp(begin + uint64(e.Length))
	return line
}

// offsetAt returns the offset on an edge, in millimetres, of a place some metres from the beginning of a base edge,
// which is at offset begin.
func offsetAt(begin uint64, metres float64, e *BaseEdge) uint32 {
	return clamp(begin + min(uint64(metres*millimetres+0.5), uint64(e.Length)))
}

func clamp(offset uint64) uint32 { return uint32(min(offset, math.MaxUint32)) }

// At returns the position on an edge, in degrees, some metres from its first node. At the offset of a node it is
// exactly the node.
func (g *Graph) At(edge uint32, metres float64) orb.Point {
	offset := metres * millimetres
	base, begin := edge, uint64(0)
	e := g.baseEdges.At(int(base))
	for offset > float64(begin+uint64(e.Length)) && g.continues(edge, base) {
		begin += uint64(e.Length)
		base++
		e = g.baseEdges.At(int(base))
	}
	at, m, length, a := position{e.Lat, e.Lon}, newRuler(e.Lat), 0.0, clamp(begin)
	for words := g.words(base, e); len(words) > 0; {
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

// NearestOn finds the place nearest to a position on the part of an edge between two offsets in metres: its offset in
// metres from the first node, and its distance in metres.
func (g *Graph) NearestOn(edge uint32, from, to float64, at orb.Point) (metres, distance float64) {
	flat, squared, begin := newPlane(at.Lat(), at.Lon()), math.Inf(1), 0.0
	for base := edge; ; base++ {
		e := g.baseEdges.At(int(base))
		end := begin + float64(e.Length)/millimetres
		if end >= from && begin <= to {
			p, m, a := position{e.Lat, e.Lon}, newRuler(e.Lat), begin
			ax, ay := flat.xy(p)
			for words := g.words(base, e); len(words) > 0; {
				before := p
				words = p.next(words)
				bx, by := flat.xy(p)
				b := a + m.distance(before, p)
				if b >= from && a <= to {
					first, last := 0.0, 1.0 // the part of this segment that counts
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
		if begin = end; !g.continues(edge, base) {
			return metres, math.Sqrt(squared)
		}
	}
}
