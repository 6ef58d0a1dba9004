package geocoding

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/region"
)

// geometry is what a feature looks like. It is plain slices, so that the same code serves the compiler and the region file.
//
// An edge between two vertices is straight on the plane of longitude and latitude, as everywhere in OpenStreetMap's tools.
type geometry struct {
	shape    shape
	box      box
	coords   []coord
	chunks   []chunk // none: coords are one line or ring
	boxes    []box   // of the chunks
	branches []box   // over the chunks
}

// chunk returns the segments of a chunk, as a line.
func (g *geometry) chunk(i uint32) []coord {
	c := &g.chunks[i]
	if c.Segments > chunkSegments {
		foreign("a part of an outline is too long")
	}
	return g.coords[c.First : c.First+c.Segments+1]
}

// foreign ends the reading of a file that Write has not made, whatever its checksums say.
func foreign(problem string) { panic(&region.DamageError{Problem: problem}) }

// position is a place relative to an origin, in 1e-7 degrees.
type position struct{ dx, dy float64 }

// steps is how many of its parts are looked at, at most, to compare a geometry with a position.
func (g *geometry) steps() int64 { return 1 + int64(len(g.coords)) }

// contains tells whether the origin lies in an area, by the parity of the edges that a ray to the east crosses. An edge
// belongs to its lower end and not to its upper one, so a ray through a vertex counts it once.
func (g *geometry) contains(o *origin) bool {
	if g.shape != shapeArea || o.x < float64(g.box.MinX) || o.x > float64(g.box.MaxX) || o.y < float64(g.box.MinY) || o.y > float64(g.box.MaxY) {
		return false
	}
	if len(g.chunks) == 0 {
		return crossings(g.coords, o)
	}
	if len(g.chunks) <= fanout {
		return g.chunkCrossings(o, 0, uint32(len(g.chunks)))
	}
	p := newPyramid(uint32(len(g.chunks)))
	return g.branchCrossings(o, &p, p.height, 0, p.count[p.height])
}

// meets tells whether a line or outline may come within two units of a square, given by its south-west corner.
func (g *geometry) meets(minX, minY, size float64) bool {
	const margin = 2
	minX, minY = minX-margin, minY-margin
	maxX, maxY := minX+size+2*margin, minY+size+2*margin
	apart := func(b box) bool {
		return float64(b.MinX) > maxX || float64(b.MaxX) < minX || float64(b.MinY) > maxY || float64(b.MaxY) < minY
	}
	if apart(g.box) {
		return false
	}
	i := 0
	for line := range g.lines {
		if i++; len(g.chunks) > 0 && apart(g.boxes[i-1]) {
			continue
		}
		for j := 1; j < len(line); j++ {
			a, b := line[j-1], line[j]
			if apart(box{min(a.X, b.X), min(a.Y, b.Y), max(a.X, b.X), max(a.Y, b.Y)}) {
				continue
			}
			// All corners on one side of the edge's line, by more than the products can be wrong by: it passes by.
			ax, ay, dx, dy := float64(a.X), float64(a.Y), float64(b.X)-float64(a.X), float64(b.Y)-float64(a.Y)
			least, most := math.Inf(1), math.Inf(-1)
			for _, corner := range [...][2]float64{{minX, minY}, {maxX, minY}, {minX, maxY}, {maxX, maxY}} {
				side := dx*(corner[1]-ay) - dy*(corner[0]-ax)
				least, most = min(least, side), max(most, side)
			}
			if wrong := 1e-15 * (math.Abs(dx) + math.Abs(dy)) * fullTurn; least <= wrong && most >= -wrong {
				return true
			}
		}
	}
	return false
}

// crossings tells whether a ray from the origin to the east crosses a line an odd number of times.
func crossings(line []coord, o *origin) bool {
	o.spend(len(line))
	odd := false
	for i := 1; i < len(line); i++ {
		a, b := line[i-1], line[i]
		ay, by := float64(a.Y), float64(b.Y)
		if (ay > o.y) == (by > o.y) {
			continue
		}
		ax, bx := float64(a.X), float64(b.X)
		if ay > by { // from its lower end, so that neighbours who share the edge in opposite directions agree
			ax, ay, bx, by = bx, by, ax, ay
		}
		if (o.x-ax)*(by-ay) < (o.y-ay)*(bx-ax) {
			odd = !odd
		}
	}
	return odd
}

func (g *geometry) chunkCrossings(o *origin, from, to uint32) bool {
	o.spend(int(to - from))
	odd := false
	for i := from; i < to; i++ {
		b := &g.boxes[i]
		if misses(b, o) {
			continue
		}
		line := g.chunk(i)
		if float64(b.MinX) > o.x {
			// All of it is in the ray's way: only where it starts and ends matters.
			odd = odd != ((float64(line[0].Y) > o.y) != (float64(line[len(line)-1].Y) > o.y))
			continue
		}
		odd = odd != crossings(line, o)
	}
	return odd
}

// misses tells that a ray from the origin to the east crosses nothing in a box.
func misses(b *box, o *origin) bool {
	return float64(b.MinY) > o.y || float64(b.MaxY) <= o.y || float64(b.MaxX) < o.x
}

func (g *geometry) branchCrossings(o *origin, p *pyramid, level int, from, to uint32) bool {
	if level == 0 {
		return g.chunkCrossings(o, from, to)
	}
	o.spend(int(to - from))
	odd := false
	for i := from; i < to; i++ {
		if misses(&g.branches[p.first[level]+i], o) {
			continue
		}
		first, last := p.children(level, i)
		odd = odd != g.branchCrossings(o, p, level-1, first, last)
	}
	return odd
}

// nearest returns the haversine from the origin to the nearest point of the line or outline, and that point. It looks no
// farther than limit: where nothing is nearer it returns a haversine above it.
func (g *geometry) nearest(o *origin, limit float64) (float64, position) {
	if g.shape == shapePoint {
		at := position{o.eastTo(g.box.MinX), float64(g.box.MinY) - o.y}
		return o.haversine(at.dx, at.dy), at
	}
	n := nearest{o: o, h: math.Inf(1), limit: limit}
	switch count := uint32(len(g.chunks)); {
	case count == 0:
		n.line(g.coords)
	case count <= fanout:
		n.descend(g, nil, 0, 0, count)
	default:
		p := newPyramid(count)
		n.descend(g, &p, p.height, 0, p.count[p.height])
	}
	return n.h, n.at
}

// nearest is a search for the nearest point of one geometry.
type nearest struct {
	o     *origin
	limit float64
	h     float64
	at    position
}

// descend visits the boxes from, … of a level, nearest first.
func (n *nearest) descend(g *geometry, p *pyramid, level int, from, to uint32) {
	var bounds [fanout]float64
	n.o.spend(int(to - from))
	if level == 0 {
		n.o.bounds(&bounds, g.boxes[from:to])
	} else {
		n.o.bounds(&bounds, g.branches[p.first[level]+from:p.first[level]+to])
	}
	for range to - from {
		best := from
		for i := from + 1; i < to; i++ {
			if bounds[i-from] < bounds[best-from] {
				best = i
			}
		}
		if bounds[best-from] > min(n.h, n.limit) {
			return
		}
		bounds[best-from] = math.Inf(1)
		if level == 0 {
			n.line(g.chunk(best))
			continue
		}
		first, last := p.children(level, best)
		n.descend(g, p, level-1, first, last)
	}
}

const (
	// farHaversine is where the plane that touches the sphere at the origin is no longer good enough to find the nearest
	// point: 2 km.
	farHaversine = 2.5e-8
	// polarCosine is that of the latitude above which it never is: 75°.
	polarCosine = 0.26
	// planeError, times its own haversine, is by how much of it the foot on the plane may be too far, up to planeHaversine
	// (400 km): the error grows with the square of the distance and of the tangent of the latitude.
	planeError     = 100
	planeHaversine = 1e-3
)

// line looks for the nearest point of one line.
func (n *nearest) line(line []coord) {
	o := n.o
	o.spend(len(line))
	x0, y0 := o.eastTo(line[0].X), float64(line[0].Y)-o.y
	scale := o.cos * o.cos
	for i := 1; i < len(line); i++ {
		ex, ey := float64(line[i].X)-float64(line[i-1].X), float64(line[i].Y)-float64(line[i-1].Y)
		if o.flat && o.beyond(x0, y0, ex, ey, min(n.h, n.limit)) {
			x0, y0 = x0+ex, y0+ey
			continue
		}
		// On the plane that touches the sphere at the origin, the foot of the perpendicular lies at t along the edge.
		t := min(max(-(x0*ex*scale+y0*ey)/(ex*ex*scale+ey*ey+math.SmallestNonzeroFloat64), 0), 1)
		at := position{x0 + t*ex, y0 + t*ey}
		x0, y0 = x0+ex, y0+ey
		h := o.haversine(at.dx, at.dy)
		if h > farHaversine || o.cos < polarCosine {
			if h < planeHaversine && o.cos >= polarCosine && h*(1-planeError*h) > min(n.h, n.limit) {
				continue
			}
			at = o.foot(x0-ex, y0-ey, ex, ey, t)
			h = o.haversine(at.dx, at.dy)
		}
		if h < n.h {
			n.h, n.at = h, at
		}
	}
}

// beyond tells that all of an edge is farther than a haversine, by the plane that within prepared, on which nothing is farther
// than on the sphere. It needs no division.
func (o *origin) beyond(x0, y0, ex, ey, limit float64) bool {
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
func (o *origin) foot(x0, y0, ex, ey, t float64) position {
	at := func(t float64) position { return position{x0 + t*ex, y0 + t*ey} }
	best, h := at(t), math.Inf(1)
	for range maxFootSteps {
		p := at(t)
		next := o.haversine(p.dx, p.dy)
		if next >= h {
			break
		}
		best, h = p, next
		// The haversine is, up to terms of the fourth order, that of a plane whose scale is the cosine of p's latitude, and
		// the change of that cosine along the edge pulls the foot aside.
		lat := (o.y + p.dy) * radiansPerUnit
		scale := o.cos * math.Cos(lat)
		b := p.dx * radiansPerUnit
		pull := o.cos * math.Sin(lat) * ey * b * b / 2 / radiansPerUnit
		length := ex*ex*scale + ey*ey
		if length <= 0 {
			break
		}
		t = min(max((pull-x0*ex*scale-y0*ey)/length, 0), 1)
	}
	for _, end := range [...]position{at(0), at(1)} {
		if e := o.haversine(end.dx, end.dy); e < h {
			best, h = end, e
		}
	}
	return best
}

// maxFootSteps is enough for the foot to settle to less than a millimetre within 500 km.
const maxFootSteps = 6
