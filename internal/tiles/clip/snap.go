package clip

import (
	"cmp"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// segment is an edge of rings without its direction: a comes before b.
type segment struct{ a, b geo.Projected }

func (s segment) compare(o segment) int {
	if c := compare(s.a, o.a); c != 0 {
		return c
	}
	return compare(s.b, o.b)
}

// holds reports whether a position is in the box of the segment.
func (s segment) holds(p geo.Projected) bool {
	return p.X >= s.a.X && p.X <= s.b.X && p.Y >= min(s.a.Y, s.b.Y) && p.Y <= max(s.a.Y, s.b.Y)
}

// oddSegments returns the edges that occur an odd number of times, in the order of compare. By the even-odd rule the
// others bound nothing.
func oddSegments(rings []Ring) []segment {
	n := 0
	for _, r := range rings {
		n += len(r)
	}
	segs := make([]segment, 0, n)
	for _, r := range rings {
		for i, p := range r {
			segs = appendSegment(segs, p, r[(i+1)%len(r)])
		}
	}
	return cancelPairs(segs)
}

func appendSegment(segs []segment, a, b geo.Projected) []segment {
	switch compare(a, b) {
	case -1:
		return append(segs, segment{a, b})
	case 1:
		return append(segs, segment{b, a})
	}
	return segs
}

func cancelPairs(segs []segment) []segment {
	slices.SortFunc(segs, segment.compare)
	kept := segs[:0]
	for i := 0; i < len(segs); {
		j := i + 1
		for j < len(segs) && segs[j] == segs[i] {
			j++
		}
		if (j-i)%2 == 1 {
			kept = append(kept, segs[i])
		}
		i = j
	}
	return kept
}

// The limits of the search for crossings: pairs compared, for each segment and in total.
const (
	pairsPerSegment = 256
	pairsAtLeast    = 1 << 22
)

// meetings is how segments meet.
type meetings struct {
	crossings []geo.Projected // the squares of the grid in which they cross
	touching  bool            // whether one ends on another
	corners   int             // pairs that have an end in common
}

// ofOneRing reports whether n segments, all edges of one ring, form a valid ring: they meet only at its corners, each
// of which occurs once.
func (m meetings) ofOneRing(n int) bool {
	return n > 2 && len(m.crossings) == 0 && !m.touching && m.corners == n
}

// node splits sorted segments so that they meet only at ends, by snap rounding (Hobby 1999). It reports whether its
// work limit was enough. A segment is moved through the middle of each grid square that it passes and in which a
// segment ends or two cross. Nothing moves by more than half a square's diagonal, and no new crossings arise. The
// northern and western borders belong to a square.
func node(segs []segment, m meetings, budget *int) ([]segment, bool) {
	if len(m.crossings) == 0 && !m.touching {
		return segs, true
	}
	crossings := m.crossings
	hot := make([]geo.Projected, 0, 2*len(segs)+len(crossings))
	for _, s := range segs {
		hot = append(hot, s.a, s.b)
	}
	hot = append(hot, crossings...)
	slices.SortFunc(hot, compare)
	hot = slices.Compact(hot)
	passes := segment.passesSquare
	if len(crossings) == 0 {
		passes = segment.passes
	}

	out := make([]segment, 0, len(segs)+2*len(crossings))
	var on []geo.Projected
	first := 0
	for _, s := range segs {
		for first < len(hot) && hot[first].X < s.a.X {
			first++
		}
		on = append(on[:0], s.a)
		for _, p := range hot[first:] {
			if p.X > s.b.X {
				break
			}
			*budget--
			if s.holds(p) && p != s.a && p != s.b && passes(s, p) {
				on = append(on, p)
			}
		}
		if *budget < 0 {
			return nil, false
		}
		if s.b.Y < s.a.Y {
			slices.SortFunc(on, func(p, q geo.Projected) int {
				return cmp.Or(cmp.Compare(p.X, q.X), cmp.Compare(q.Y, p.Y))
			})
		}
		on = append(on, s.b)
		for i := 1; i < len(on); i++ {
			out = appendSegment(out, on[i-1], on[i])
		}
	}
	return cancelPairs(out), true
}

// passes reports whether a position in the segment's box lies on it.
func (s segment) passes(p geo.Projected) bool { return cross(s.a, s.b, p) == 0 }

// passesSquare reports whether the segment passes the square around a position of the grid that is in its box.
func (s segment) passesSquare(p geo.Projected) bool {
	dx, dy := int64(s.b.X-s.a.X), int64(s.b.Y-s.a.Y)
	off := 2 * cross(s.a, s.b, p)
	reach := dx + max(dy, -dy)
	// A segment that touches a corner of the square passes it where this is the corner that belongs to it.
	return off < reach && -off < reach || dy < 0 && off == reach
}

// meet returns how sorted segments meet, and reports whether its work limit was enough.
func meet(segs []segment, budget *int) (m meetings, ok bool) {
	for i, s := range segs {
		low, high := min(s.a.Y, s.b.Y), max(s.a.Y, s.b.Y)
		rest := segs[i+1:]
		for j, o := range rest {
			if o.a.X > s.b.X {
				rest = rest[:j]
				break
			}
			if max(o.a.Y, o.b.Y) < low || min(o.a.Y, o.b.Y) > high {
				continue
			}
			oa, ob := cross(s.a, s.b, o.a), cross(s.a, s.b, o.b)
			if oa > 0 && ob > 0 || oa < 0 && ob < 0 {
				continue
			}
			sa, sb := cross(o.a, o.b, s.a), cross(o.a, o.b, s.b)
			switch {
			case sa > 0 && sb > 0 || sa < 0 && sb < 0:
			case oa != 0 && ob != 0 && sa != 0 && sb != 0:
				m.crossings = append(m.crossings, crossingSquare(oa, ob, o))
			case s.endsInside(o, oa, ob) || o.endsInside(s, sa, sb):
				m.touching = true
			default:
				m.corners++
			}
		}
		*budget -= len(rest)
		if *budget < 0 || len(m.crossings) > 8*len(segs)+64 {
			return m, false
		}
	}
	return m, true
}

// endsInside reports whether an end of o lies on the segment, but not at one of its ends. The numbers are 0 where the
// ends of o lie on the segment's line.
func (s segment) endsInside(o segment, oa, ob int64) bool {
	return oa == 0 && s.holds(o.a) && o.a != s.a && o.a != s.b || ob == 0 && s.holds(o.b) && o.b != s.a && o.b != s.b
}

// crossingSquare is the square of the grid in which o crosses another segment, given how far the ends of o are from the
// other's line.
func crossingSquare(oa, ob int64, o segment) geo.Projected {
	return geo.Projected{
		X: o.a.X + int32(mulDivRound(int64(o.b.X-o.a.X), oa, oa-ob)),
		Y: o.a.Y + int32(mulDivRound(int64(o.b.Y-o.a.Y), oa, oa-ob)),
	}
}
