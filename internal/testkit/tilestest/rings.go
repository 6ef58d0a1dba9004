package tilestest

import (
	"fmt"
	"math"
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
)

// CheckRings returns what is wrong with the first bad ring: one that crosses or touches itself, has a spike, goes the
// wrong way round, crosses another ring or has a stretch in common with it; a hole that is not in its outer ring or
// touches it more than once; or a polygon without a ring. It compares all edges with each other.
func CheckRings(polygons []clip.Polygon) error {
	var edges []edge
	for pi, p := range polygons {
		if len(p) == 0 {
			return fmt.Errorf("polygon %d has no ring", pi)
		}
		for ri, ring := range p {
			if len(ring) < 3 {
				return fmt.Errorf("ring %d of polygon %d has %d positions", ri, pi, len(ring))
			}
			if area := area2(ring); area == 0 || area > 0 != (ri == 0) {
				return fmt.Errorf("ring %d of polygon %d has the doubled area %d", ri, pi, area)
			}
			for i, a := range ring {
				edges = append(edges, edge{pi, ri, i, len(ring), a, ring[(i+1)%len(ring)]})
			}
			if ri == 0 {
				continue
			}
			for _, a := range ring {
				if !on(p[0], a) && !RingHolds([]clip.Ring{p[0]}, a) {
					return fmt.Errorf("ring %d of polygon %d leaves its outer ring at %v", ri, pi, a)
				}
			}
		}
	}
	touched := map[[3]int]geo.Projected{}
	for i, e := range edges {
		if e.a == e.b {
			return fmt.Errorf("%v has no length", e)
		}
		for _, o := range edges[i+1:] {
			if err := e.conflict(o, touched); err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckArea is CheckRings for an area in degrees, to 1e-7°: as in RFC 7946 its rings are closed, outer ones
// counter-clockwise. Also, no polygon lies in another one, and no hole in another hole.
func CheckArea(area orb.MultiPolygon) error {
	for i, p := range area {
		for k, ring := range p {
			if len(ring) < 4 || !ring.Closed() {
				return fmt.Errorf("ring %d of polygon %d, of %d positions, is not closed", k, i, len(ring))
			}
		}
	}
	polygons := gridded(area)
	for i, p := range polygons {
		for k, q := range polygons {
			if i != k && RingHolds(q, p[0][0]) {
				return fmt.Errorf("polygon %d lies in polygon %d", i, k)
			}
		}
		for k, hole := range p[1:] {
			if around := slices.Delete(slices.Clone(p[1:]), k, k+1); RingHolds(around, hole[0]) {
				return fmt.Errorf("hole %d of polygon %d lies in another one", k, i)
			}
		}
	}
	return CheckRings(polygons)
}

// CheckNested returns which position of an area in degrees is not in another one, to 1e-7°.
func CheckNested(inner, outer orb.MultiPolygon) error {
	rings := Rings(gridded(outer))
	for _, ring := range Rings(gridded(inner)) {
		for _, p := range ring {
			if !RingHolds(rings, p) && !NearRing(rings, p, 2) {
				return fmt.Errorf("%v is not in the greater area", p)
			}
		}
	}
	return nil
}

// gridded returns the polygons of an area in degrees with integer coordinates, which grow to the north and the east.
func gridded(area orb.MultiPolygon) []clip.Polygon {
	polygons := make([]clip.Polygon, len(area))
	for i, p := range area {
		for _, ring := range p {
			r := make(clip.Ring, len(ring)-1)
			for k := range r {
				r[k] = geo.Projected{X: int32(math.Round(ring[k][0] * 1e7)), Y: int32(math.Round(ring[k][1] * 1e7))}
			}
			polygons[i] = append(polygons[i], r)
		}
	}
	return polygons
}

type edge struct {
	polygon, ring, number, of int
	a, b                      geo.Projected
}

func (e edge) String() string {
	return fmt.Sprintf("edge %d of ring %d of polygon %d from %v to %v", e.number, e.ring, e.polygon, e.a, e.b)
}

// conflict returns what is wrong with how two edges lie to each other. Where rings of one polygon touch is remembered.
func (e edge) conflict(o edge, touched map[[3]int]geo.Projected) error {
	if e.misses(o) {
		return nil
	}
	ea, eb, oa, ob := side(o.a, o.b, e.a), side(o.a, o.b, e.b), side(e.a, e.b, o.a), side(e.a, e.b, o.b)
	if ea*eb < 0 && oa*ob < 0 {
		return fmt.Errorf("%v crosses %v", e, o)
	}
	var common []geo.Projected // ends of one that lie on the other
	for _, p := range []geo.Projected{e.a, e.b} {
		if between(o.a, o.b, p) {
			common = append(common, p)
		}
	}
	for _, p := range []geo.Projected{o.a, o.b} {
		if between(e.a, e.b, p) && (len(common) == 0 || common[0] != p) && (len(common) < 2 || common[1] != p) {
			common = append(common, p)
		}
	}
	if len(common) > 1 {
		return fmt.Errorf("%v and %v have a stretch in common", e, o)
	}
	if len(common) == 0 || e.polygon != o.polygon {
		return nil
	}
	if e.ring == o.ring {
		follows := (e.number+1)%e.of == o.number && common[0] == e.b
		precedes := (o.number+1)%o.of == e.number && common[0] == o.b
		if !follows && !precedes {
			return fmt.Errorf("%v touches %v", e, o)
		}
		return nil
	}
	key := [3]int{e.polygon, e.ring, o.ring}
	if before, ok := touched[key]; ok && before != common[0] {
		return fmt.Errorf("rings %d and %d of polygon %d touch at %v and %v", e.ring, o.ring, e.polygon, before, common[0])
	}
	touched[key] = common[0]
	return nil
}

// misses reports whether the boxes of two edges have nothing in common.
func (e edge) misses(o edge) bool {
	return max(e.a.X, e.b.X) < min(o.a.X, o.b.X) || max(o.a.X, o.b.X) < min(e.a.X, e.b.X) ||
		max(e.a.Y, e.b.Y) < min(o.a.Y, o.b.Y) || max(o.a.Y, o.b.Y) < min(e.a.Y, e.b.Y)
}

// RingHolds reports whether a position lies in the rings by the even-odd rule. On an edge the answer is either.
func RingHolds(rings []clip.Ring, p geo.Projected) bool {
	in := false
	for _, r := range rings {
		for i, a := range r {
			b := r[(i+1)%len(r)]
			if a.Y > p.Y == (b.Y > p.Y) {
				continue
			}
			if a.Y > b.Y {
				a, b = b, a
			}
			if side(a, b, p) > 0 {
				in = !in
			}
		}
	}
	return in
}

// NearRing reports whether a position lies at most so many units from an edge of the rings.
func NearRing(rings []clip.Ring, p geo.Projected, units float64) bool {
	for _, r := range rings {
		for i, a := range r {
			if distance(a, r[(i+1)%len(r)], p) <= units {
				return true
			}
		}
	}
	return false
}

// Rings returns the rings of all polygons.
func Rings(polygons []clip.Polygon) []clip.Ring {
	var rings []clip.Ring
	for _, p := range polygons {
		rings = append(rings, p...)
	}
	return rings
}

func on(r clip.Ring, p geo.Projected) bool {
	for i, a := range r {
		if between(a, r[(i+1)%len(r)], p) {
			return true
		}
	}
	return false
}

func between(a, b, p geo.Projected) bool {
	return side(a, b, p) == 0 && p.X >= min(a.X, b.X) && p.X <= max(a.X, b.X) &&
		p.Y >= min(a.Y, b.Y) && p.Y <= max(a.Y, b.Y)
}

// side is 1, 0 or -1: on which side of the line from a to b a position lies.
func side(a, b, p geo.Projected) int {
	d := (int64(b.X)-int64(a.X))*(int64(p.Y)-int64(a.Y)) - (int64(b.Y)-int64(a.Y))*(int64(p.X)-int64(a.X))
	switch {
	case d > 0:
		return 1
	case d < 0:
		return -1
	}
	return 0
}

func area2(r clip.Ring) int64 {
	var sum int64
	for i, a := range r {
		b := r[(i+1)%len(r)]
		sum += int64(a.X)*int64(b.Y) - int64(b.X)*int64(a.Y)
	}
	return sum
}
