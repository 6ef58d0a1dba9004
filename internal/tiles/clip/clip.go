package clip

import (
	"math/bits"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// ClipRings appends the part of each ring in a rectangle, as one ring: if it falls apart, its parts are joined along
// the rectangle's border. By the even-odd rule the rings hold the same positions as before; Simple removes the joints.
// Rings inside the rectangle are not copied.
func ClipRings(dst, rings []Ring, r Rect) []Ring {
	for _, ring := range rings {
		if len(ring) < 3 {
			continue
		}
		switch b := Bounds(ring); {
		case !r.Meets(b):
			continue
		case r.Covers(b):
			dst = append(dst, ring)
			continue
		}
		// The columns come first for every rectangle, so that neighbours cut at the same positions.
		for _, side := range [4]halfPlane{
			{at: r.Max.X, vertical: true}, {at: r.Min.X, vertical: true, greater: true},
			{at: r.Max.Y}, {at: r.Min.Y, greater: true},
		} {
			ring = side.clip(ring)
		}
		if len(ring) >= 3 {
			dst = append(dst, ring)
		}
	}
	return dst
}

// halfPlane is one side of a vertical or horizontal line, with the line.
type halfPlane struct {
	at                int32
	vertical, greater bool
}

func (h halfPlane) outside(p geo.Projected) bool {
	v := p.Y
	if h.vertical {
		v = p.X
	}
	if h.greater {
		return v < h.at
	}
	return v > h.at
}

// clip is the algorithm of Sutherland and Hodgman.
func (h halfPlane) clip(ring Ring) Ring {
	kept, all := 0, true
	for _, p := range ring {
		if h.outside(p) {
			all = false
		} else {
			kept++
		}
	}
	if all {
		return ring
	}
	if kept == 0 {
		return nil
	}
	out := make(Ring, 0, kept+8)
	add := func(p geo.Projected) {
		if len(out) == 0 || out[len(out)-1] != p {
			out = append(out, p)
		}
	}
	last := ring[len(ring)-1]
	wasOut := h.outside(last)
	for _, p := range ring {
		isOut := h.outside(p)
		if isOut != wasOut {
			add(h.crossing(last, p))
		}
		if !isOut {
			add(p)
		}
		last, wasOut = p, isOut
	}
	for len(out) > 1 && out[0] == out[len(out)-1] {
		out = out[:len(out)-1]
	}
	return out
}

// crossing returns where the segment between two positions, one on each side, crosses the line.
func (h halfPlane) crossing(a, b geo.Projected) geo.Projected {
	if h.vertical {
		return geo.Projected{X: h.at, Y: Between(a.X, a.Y, b.X, b.Y, h.at)}
	}
	return geo.Projected{X: Between(a.Y, a.X, b.Y, b.X, h.at), Y: h.at}
}

// Between interpolates between two values, rounded: the result is the same in both directions.
func Between(place0, value0, place1, value1, at int32) int32 {
	return value0 + int32(mulDivRound(int64(value1)-int64(value0), int64(at)-int64(place0), int64(place1)-int64(place0)))
}

// mulDivRound is a*b/c rounded to the nearest whole number, halves upwards.
func mulDivRound(a, b, c int64) int64 {
	negative := (a < 0) != (b < 0) != (c < 0)
	ua, ub, uc := magnitude(a), magnitude(b), magnitude(c)
	hi, lo := bits.Mul64(ua, ub)
	q, rest := bits.Div64(hi, lo, uc)
	// rest is less than uc, and uc is far below 2^63: twice the rest does not overflow.
	if negative {
		if 2*rest > uc {
			q++
		}
		return -int64(q)
	}
	if 2*rest >= uc {
		q++
	}
	return int64(q)
}

func magnitude(v int64) uint64 {
	if v < 0 {
		return uint64(-v)
	}
	return uint64(v)
}

// ClipLine appends the parts of a line in a rectangle, without parts of a single position. A line inside the rectangle
// is not copied.
func ClipLine(dst []Line, l Line, r Rect) []Line {
	if len(l) < 2 {
		return dst
	}
	switch b := Bounds(l); {
	case !r.Meets(b):
		return dst
	case r.Covers(b):
		return append(dst, l)
	}
	var part Line
	end := func() {
		if len(part) >= 2 {
			dst = append(dst, part)
		}
		part = nil
	}
	add := func(p geo.Projected) {
		if len(part) == 0 || part[len(part)-1] != p {
			part = append(part, p)
		}
	}
	for i := 1; i < len(l); i++ {
		a, b, ok := clipSegment(l[i-1], l[i], r)
		if !ok {
			end()
			continue
		}
		if len(part) > 0 && part[len(part)-1] != a {
			end()
		}
		add(a)
		add(b)
		if b != l[i] {
			end()
		}
	}
	end()
	return dst
}

// clipSegment cuts a segment at the columns, and then at the rows, as ClipRings does.
func clipSegment(a, b geo.Projected, r Rect) (geo.Projected, geo.Projected, bool) {
	for _, side := range [4]halfPlane{
		{at: r.Max.X, vertical: true}, {at: r.Min.X, vertical: true, greater: true},
		{at: r.Max.Y}, {at: r.Min.Y, greater: true},
	} {
		aOut, bOut := side.outside(a), side.outside(b)
		switch {
		case aOut && bOut:
			return a, b, false
		case aOut:
			a = side.crossing(a, b)
		case bOut:
			b = side.crossing(a, b)
		}
	}
	return a, b, true
}
