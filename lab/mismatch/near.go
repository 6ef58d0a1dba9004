package mismatch

import "math"

// interval is a part of a piece, from 0, its beginning, to 1, its end.
type interval struct{ from, to float64 }

// near is the part of p within a distance of q. What is within a distance of a piece is a stadium: a disc around each
// end, and a rectangle between them. It is convex, and so is each of the three; p cuts each in one interval, and those
// together are one.
func (p *piece) near(q *piece, distance float64) (in interval, ok bool) {
	in = interval{math.Inf(1), math.Inf(-1)}
	join := func(from, to float64) {
		if from, to = max(from, 0), min(to, 1); from <= to {
			in, ok = interval{min(in.from, from), max(in.to, to)}, true
		}
	}
	p.disc(q.ax, q.ay, distance, join)
	p.disc(q.bx, q.by, distance, join)
	p.rectangle(q, distance, join)
	return in, ok
}

// disc yields the part of p's line in a disc.
func (p *piece) disc(x, y, radius float64, yield func(from, to float64)) {
	dx, dy := p.bx-p.ax, p.by-p.ay
	n := dx*dx + dy*dy
	if n == 0 {
		return
	}
	middle := ((x-p.ax)*dx + (y-p.ay)*dy) / n // of the chord
	across := ((x-p.ax)*dy - (y-p.ay)*dx) / math.Sqrt(n)
	if half := radius*radius - across*across; half >= 0 {
		half = math.Sqrt(half / n)
		yield(middle-half, middle+half)
	}
}

// rectangle yields the part of p's line that is beside q, and within a distance of it.
func (p *piece) rectangle(q *piece, distance float64, yield func(from, to float64)) {
	ux, uy := q.bx-q.ax, q.by-q.ay
	length := math.Hypot(ux, uy)
	if length == 0 {
		return
	}
	ux, uy = ux/length, uy/length
	dx, dy := p.bx-p.ax, p.by-p.ay
	x, y := p.ax-q.ax, p.ay-q.ay
	from, to := math.Inf(-1), math.Inf(1)
	// Along q from 0 to its length, and across it from -distance to distance.
	for _, side := range [2][4]float64{
		{x*ux + y*uy, dx*ux + dy*uy, 0, length},
		{x*uy - y*ux, dx*uy - dy*ux, -distance, distance},
	} {
		start, slope, low, high := side[0], side[1], side[2], side[3]
		if slope == 0 {
			if start < low || start > high {
				return
			}
			continue
		}
		a, b := (low-start)/slope, (high-start)/slope
		from, to = max(from, min(a, b)), min(to, max(a, b))
	}
	if from <= to {
		yield(from, to)
	}
}
