// Package mismatch measures in metres how much of a true path a matched path misses, and how much it adds. It knows
// only lines, neither maps nor matchers. Start with Of.
package mismatch

import (
	"cmp"
	"math"
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// Tolerance is the distance in metres up to which two lines are the same road: engines round coordinates, and cut
// corners where they simplify.
const Tolerance = 1.5

// Mismatch is the difference between the truth and a path, all in metres.
type Mismatch struct {
	Missed float64 // length of the truth that is not within Tolerance of the path
	Added  float64 // length of the path that is not within Tolerance of the truth
	Truth  float64 // length of the truth
	Path   float64 // length of the path
}

// Share is the mismatch of the tables: (missed + added) / length of the truth. 0 is perfect; a path without end is
// worse than 1.
func (m Mismatch) Share() float64 {
	if m.Truth == 0 {
		return 0
	}
	return (m.Missed + m.Added) / m.Truth
}

// Right is the share of both lines that the other one has too, 0 to 1. A wrong stretch is missed once and added once,
// and so counts once.
func (m Mismatch) Right() float64 {
	if m.Truth+m.Path == 0 {
		return 1
	}
	return 1 - (m.Missed+m.Added)/(m.Truth+m.Path)
}

// Plus adds the lengths of two mismatches, for the figure of several drives together.
func (m Mismatch) Plus(o Mismatch) Mismatch {
	return Mismatch{m.Missed + o.Missed, m.Added + o.Added, m.Truth + o.Truth, m.Path + o.Path}
}

// Of compares the truth with a path. Neither its direction nor how often a road is driven counts: a road that both
// lines have is right. An empty path misses all.
func Of(truth, path orb.LineString) Mismatch {
	flat := around(truth, path)
	a, b := flat.pieces(truth), flat.pieces(path)
	return Mismatch{Missed: outside(a, b, Tolerance), Added: outside(b, a, Tolerance), Truth: length(a), Path: length(b)}
}

// piece is a straight line on a flat map, in metres.
type piece struct{ ax, ay, bx, by float64 }

func (p *piece) length() float64 { return math.Hypot(p.bx-p.ax, p.by-p.ay) }

func length(pieces []piece) float64 {
	total := 0.0
	for i := range pieces {
		total += pieces[i].length()
	}
	return total
}

// plane is a flat map around a position.
type plane struct{ lat, lon, perLat, perLon float64 }

// around is a flat map in the middle of the first line that has points.
func around(lines ...orb.LineString) plane {
	for _, line := range lines {
		if len(line) > 0 {
			middle := line.Bound().Center()
			perLat := geo.EarthRadius * math.Pi / 180
			return plane{middle.Lat(), middle.Lon(), perLat, perLat * math.Cos(middle.Lat()*math.Pi/180)}
		}
	}
	return plane{}
}

// maxPiece is the longest piece in metres: long ones are cut, so that the boxes around them stay small.
const maxPiece = 100.0

// pieces of a line.
func (f plane) pieces(line orb.LineString) []piece {
	var pieces []piece
	for i := 1; i < len(line); i++ {
		ax, ay := (line[i-1].Lon()-f.lon)*f.perLon, (line[i-1].Lat()-f.lat)*f.perLat
		bx, by := (line[i].Lon()-f.lon)*f.perLon, (line[i].Lat()-f.lat)*f.perLat
		n := math.Ceil(math.Hypot(bx-ax, by-ay) / maxPiece)
		for k := 0.0; k < n; k++ {
			s, t := k/n, (k+1)/n
			pieces = append(pieces, piece{ax + s*(bx-ax), ay + s*(by-ay), ax + t*(bx-ax), ay + t*(by-ay)})
		}
	}
	return pieces
}

// outside is the length of what is farther than tolerance from all others. The part of a straight line that is near
// another one is an interval, so the answer is exact.
func outside(pieces, others []piece, tolerance float64) float64 {
	g := newGrid(others, tolerance)
	total := 0.0
	var near []interval
	for i := range pieces {
		near = near[:0]
		g.visit(&pieces[i], func(k int32) {
			if in, ok := pieces[i].near(&others[k], tolerance); ok {
				near = append(near, in)
			}
		})
		total += pieces[i].length() * (1 - covered(near))
	}
	return total
}

// covered is the length of the union of intervals. It sorts them.
func covered(intervals []interval) float64 {
	slices.SortFunc(intervals, func(a, b interval) int { return cmp.Compare(a.from, b.from) })
	total, end := 0.0, 0.0
	for _, in := range intervals {
		if in.to > end {
			total += in.to - max(in.from, end)
			end = in.to
		}
	}
	return total
}
