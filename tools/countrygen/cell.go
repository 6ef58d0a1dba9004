package main

import (
	"math"
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/clip"
)

// outline is a country, or the part of it inside a cell, in the grid's units. Outer rings run counterclockwise, holes
// clockwise, so that signed areas add up.
type outline struct {
	number int // the country's position, plus one
	over   bool
	rings  []orb.Ring
}

// toOutline converts a territory to units.
func toOutline(number int, t territory) outline {
	o := outline{number: number, over: t.over}
	for _, polygon := range t.polygons {
		for i, ring := range polygon {
			converted := make(orb.Ring, len(ring))
			for j, p := range ring {
				converted[j] = orb.Point{(p.Lon() + 180) * unitsPerDegree, (p.Lat() + 90) * unitsPerDegree}
			}
			if outer := i == 0; outer != (converted.Orientation() == orb.CCW) {
				slices.Reverse(converted)
			}
			o.rings = append(o.rings, converted)
		}
	}
	return o
}

// within returns what of some outlines lies in a square or any other box.
func within(outlines []outline, b orb.Bound) []outline {
	var inside []outline
	for _, o := range outlines {
		var rings []orb.Ring
		for _, ring := range o.rings {
			if !b.Intersects(ring.Bound()) {
				continue
			}
			// Clipping writes into the ring it is given.
			if clipped := clip.Ring(b, ring.Clone()); len(clipped) > 0 {
				rings = append(rings, clipped)
			}
		}
		if len(rings) > 0 {
			inside = append(inside, outline{o.number, o.over, rings})
		}
	}
	return inside
}

// vertex is a point in whole units from the south-west corner of its cell.
type vertex struct{ x, y int }

// area is the part of a country inside a cell, on whole units.
type area struct {
	number int
	over   bool
	rings  [][]vertex
	twice  int // twice its size
}

func (a *area) vertices() int {
	n := 0
	for _, ring := range a.rings {
		n += len(ring)
	}
	return n
}

// quantise rounds outlines that were clipped to a cell, and drops those that round to nothing. The first area that
// contains a position answers, so those that go over others come first.
func quantise(outlines []outline, west, south int) []area {
	var areas []area
	for _, o := range outlines {
		a := area{number: o.number, over: o.over}
		for _, ring := range o.rings {
			if rounded := roundRing(ring, west, south); len(rounded) >= 3 {
				a.rings = append(a.rings, rounded)
				a.twice += twiceArea(rounded)
			}
		}
		if a.twice > 0 {
			areas = append(areas, a)
		}
	}
	slices.SortStableFunc(areas, func(a, b area) int {
		if a.over != b.over {
			if a.over {
				return -1
			}
			return 1
		}
		return a.number - b.number
	})
	return areas
}

// roundRing rounds a ring to whole units, opens it, and drops vertices that change nothing.
func roundRing(ring orb.Ring, west, south int) []vertex {
	rounded := make([]vertex, 0, len(ring))
	for _, p := range ring {
		v := vertex{int(math.Round(p[0])) - west, int(math.Round(p[1])) - south}
		if len(rounded) == 0 || rounded[len(rounded)-1] != v {
			rounded = append(rounded, v)
		}
	}
	for len(rounded) > 1 && rounded[0] == rounded[len(rounded)-1] {
		rounded = rounded[:len(rounded)-1]
	}
	for {
		kept := make([]vertex, 0, len(rounded))
		for i, v := range rounded {
			before := rounded[(i+len(rounded)-1)%len(rounded)]
			if len(kept) > 0 {
				before = kept[len(kept)-1]
			}
			after := rounded[(i+1)%len(rounded)]
			// On one line with its neighbours: a repeated vertex, a point along an edge, or the tip of a spike without area.
			if (v.x-before.x)*(after.y-v.y) == (v.y-before.y)*(after.x-v.x) {
				continue
			}
			kept = append(kept, v)
		}
		if len(kept) == len(rounded) || len(kept) < 3 {
			return kept
		}
		rounded = kept
	}
}

// twiceArea is twice the signed area of a ring, positive counterclockwise.
func twiceArea(ring []vertex) int {
	sum := 0
	for i, a := range ring {
		b := ring[(i+1)%len(ring)]
		sum += a.x*b.y - b.x*a.y
	}
	return sum
}
