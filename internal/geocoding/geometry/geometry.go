// Package geometry measures encoded lines and polygons: their distance from a position on the sphere, and whether they
// contain it. The compiler and the region file share one encoding. It does no clipping: see package clip. Start with
// New, Geometry.Closest and Origin.
package geometry

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Geometry is the geometry of a feature, encoded as bytes; see encode.
//
// An edge between two vertices is straight on the plane of longitude and latitude, as everywhere in OpenStreetMap's
// tools.
type Geometry struct {
	Shape Shape
	// Box holds all of the geometry. Its south-west corner is exact: a position is there.
	Box  geo.Box
	data []byte
	view *region.View[byte] // of a region file, in which the data begins at at; data may be only a part of it
	at   int
}

// Offset is a place relative to an origin, in 1e-7 degrees.
type Offset struct{ Dx, Dy float64 }

// Steps returns the greatest number of segments to compare with a position.
func (g *Geometry) Steps() int64 {
	if g.Shape == Point {
		return 1
	}
	if data := g.bytes(0, partsHead); divided(data) {
		var p parts
		p.read(data)
		return MaxSegments * int64(p.levels.Count[0])
	}
	return 1 + MaxSegments
}

// Contains reports whether the origin lies in an area, by the parity of the edges that a ray to the east crosses. An
// edge belongs to its lower end and not to its upper one, so a ray through a vertex counts it once.
//
// An origin on the antimeridian counts as east of it, one at the North Pole as just south of it.
func (g *Geometry) Contains(o *Origin) bool {
	if g.Shape != Area {
		return false
	}
	if o.X != HalfTurn && o.Y != HalfTurn/2 {
		return g.contains(o)
	}
	x, y := o.X, o.Y
	if x == HalfTurn {
		o.X = -HalfTurn
	}
	o.Y = min(y, HalfTurn/2-0.5)
	in := g.contains(o)
	o.X, o.Y = x, y
	return in
}

func (g *Geometry) contains(o *Origin) bool {
	if !Holds(&g.Box, o) {
		return false
	}
	data := g.bytes(0, longestRun)
	if divided(data) {
		var p parts
		p.read(data)
		return g.crossings(o, &p, p.levels.Height, 0, p.levels.Count[p.levels.Height])
	}
	var buffer runBuffer
	return crossings(readRun(data, g.corner(), &buffer), o)
}

// crossings reports whether a ray from the origin to the east crosses a line an odd number of times.
func crossings(line []Coord, o *Origin) bool {
	o.Spend(len(line))
	odd := false
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		ay, by := float64(a.Y), float64(b.Y)
		if (ay > o.Y) == (by > o.Y) {
			continue
		}
		ax, bx := float64(a.X), float64(b.X)
		if ay > by { // from its lower end, so that neighbours that share the edge agree
			ax, ay, bx, by = bx, by, ax, ay
		}
		if (o.X-ax)*(by-ay) < (o.Y-ay)*(bx-ax) {
			odd = !odd
		}
	}
	return odd
}

// misses reports whether a ray from the origin to the east crosses nothing in a box.
func misses(b *geo.Box, o *Origin) bool {
	return float64(b.MinY) > o.Y || float64(b.MaxY) <= o.Y || float64(b.MaxX) < o.X
}

// crossings is that of the parts below the nodes from, … of a level.
func (g *Geometry) crossings(o *Origin, p *parts, level int, from, to uint32) bool {
	o.Spend(int(to - from))
	var boxes [geo.TreeFanout]geo.Box
	odd := false
	for i := range g.boxes(p, level, from, to, &boxes) {
		if misses(&boxes[i], o) {
			continue
		}
		node := from + uint32(i)
		if level > 0 {
			first, last := p.levels.Children(level, node)
			odd = odd != g.crossings(o, p, level-1, first, last)
			continue
		}
		var buffer runBuffer
		line := g.part(node, &boxes[i], &buffer)
		if float64(boxes[i].MinX) > o.X {
			// The ray crosses the whole box: only start and end of the run matter.
			odd = odd != ((float64(line[0].Y) > o.Y) != (float64(line[len(line)-1].Y) > o.Y))
			continue
		}
		odd = odd != crossings(line, o)
	}
	return odd
}

// Closest returns the haversine from the origin to the nearest point of the line or outline, and that point. If nothing
// is nearer than limit, it returns a haversine above it.
func (g *Geometry) Closest(o *Origin, limit float64) (float64, Offset) {
	if g.Shape == Point {
		at := Offset{o.EastTo(g.Box.MinX), float64(g.Box.MinY) - o.Y}
		return o.Haversine(at.Dx, at.Dy), at
	}
	n := pointSearch{o: o, h: math.Inf(1), limit: limit}
	data := g.bytes(0, longestRun)
	if divided(data) {
		var p parts
		p.read(data)
		n.descend(g, &p, p.levels.Height, 0, p.levels.Count[p.levels.Height])
	} else {
		var buffer runBuffer
		n.line(readRun(data, g.corner(), &buffer))
	}
	return n.h, n.at
}

// pointSearch is a search for the nearest point of one geometry.
type pointSearch struct {
	o     *Origin
	limit float64
	h     float64
	at    Offset
}

// descend visits the boxes from, … of a level, nearest first.
func (n *pointSearch) descend(g *Geometry, p *parts, level int, from, to uint32) {
	var boxes [geo.TreeFanout]geo.Box
	var near [geo.TreeFanout]Near
	n.o.Spend(int(to - from))
	for _, b := range near[:n.o.Nearest(&near, g.boxes(p, level, from, to, &boxes), min(n.h, n.limit))] {
		if b.Haversine > min(n.h, n.limit) {
			return
		}
		if level == 0 {
			var buffer runBuffer
			n.line(g.part(from+b.Index, &boxes[b.Index&(geo.TreeFanout-1)], &buffer))
			continue
		}
		first, last := p.levels.Children(level, from+b.Index)
		n.descend(g, p, level-1, first, last)
	}
}

const (
	// farHaversine is the limit of the tangent plane for finding the nearest point: 2 km.
	farHaversine = 2.5e-8
	// polarCosine is the cosine of the latitude above which the plane is not used: 75°.
	polarCosine = 0.26
	// planeError times a haversine is the relative error of the foot on the plane, up to planeHaversine (400 km): it grows
	// with the squares of the distance and of the tangent of the latitude.
	planeError     = 100
	planeHaversine = 1e-3
)

// line looks for the nearest point of one line.
func (n *pointSearch) line(line []Coord) {
	o := n.o
	o.Spend(len(line))
	x0, y0 := o.EastTo(line[0].X), float64(line[0].Y)-o.Y
	scale := o.Cos * o.Cos
	for i := 1; i < len(line); i++ {
		ex, ey := float64(line[i].X)-float64(line[i-1].X), float64(line[i].Y)-float64(line[i-1].Y)
		if o.flat && o.beyond(x0, y0, ex, ey, min(n.h, n.limit)) {
			x0, y0 = x0+ex, y0+ey
			continue
		}
		// On the tangent plane, the foot of the perpendicular lies at t along the edge.
		t := min(max(-(x0*ex*scale+y0*ey)/(ex*ex*scale+ey*ey+math.SmallestNonzeroFloat64), 0), 1)
		at := Offset{x0 + t*ex, y0 + t*ey}
		x0, y0 = x0+ex, y0+ey
		h := o.Haversine(at.Dx, at.Dy)
		if h > farHaversine || o.Cos < polarCosine {
			if h < planeHaversine && o.Cos >= polarCosine && h*(1-planeError*h) > min(n.h, n.limit) {
				continue
			}
			at = o.foot(x0-ex, y0-ey, ex, ey, t)
			h = o.Haversine(at.Dx, at.Dy)
		}
		if h < n.h {
			n.h, n.at = h, at
		}
	}
}

// beyond reports whether all of an edge is farther than a haversine, by the plane that within prepared, on which
// nothing is farther than on the sphere. It needs no division.
func (o *Origin) beyond(x0, y0, ex, ey, limit float64) bool {
	start := x0*x0*o.scaleX + y0*y0*o.scaleY
	toFoot := -(x0*ex*o.scaleX + y0*ey*o.scaleY) // from the start, times the length
	if toFoot <= 0 {
		return start > limit
	}
	length := ex*ex*o.scaleX + ey*ey*o.scaleY
	if toFoot >= length {
		x1, y1 := x0+ex, y0+ey
		return x1*x1*o.scaleX+y1*y1*o.scaleY > limit
	}
	return (start-limit)*length > toFoot*toFoot*(1+1e-9)
}

// foot is the point of an edge nearest to the origin, on the sphere, looked for from t along the edge.
func (o *Origin) foot(x0, y0, ex, ey, t float64) Offset {
	at := func(t float64) Offset { return Offset{x0 + t*ex, y0 + t*ey} }
	best, h := at(t), math.Inf(1)
	for range maxFootSteps {
		p := at(t)
		next := o.Haversine(p.Dx, p.Dy)
		if next >= h {
			break
		}
		best, h = p, next
		// Up to terms of fourth order, the haversine is that of a plane scaled by the cosine of p's latitude. The change of
		// the cosine along the edge moves the foot.
		lat := (o.Y + p.Dy) * RadiansPerUnit
		scale := o.Cos * math.Cos(lat)
		b := p.Dx * RadiansPerUnit
		pull := o.Cos * math.Sin(lat) * ey * b * b / 2 / RadiansPerUnit
		length := ex*ex*scale + ey*ey
		if length <= 0 {
			break
		}
		t = min(max((pull-x0*ex*scale-y0*ey)/length, 0), 1)
	}
	for _, end := range [...]Offset{at(0), at(1)} {
		if e := o.Haversine(end.Dx, end.Dy); e < h {
			best, h = end, e
		}
	}
	return best
}

// maxFootSteps is enough for the foot to settle to less than a millimetre within 500 km.
const maxFootSteps = 6
