package coast

import (
	"cmp"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
)

// settle makes a tile of any pieces of coast in its square, so that mistakes do not affect other squares:
//
//  1. Pieces are joined where one begins at the end of another.
//  2. Loose ends are joined across small gaps, or continued straight to the border.
//  3. Along the border, land and ocean must alternate. Where coasts cross or have the wrong direction, two lines are
//     joined along the border.
func settle(r clip.Rect, pieces []clip.Line) *tile {
	t := &tile{Rect: r}
	t.Lines = t.join(pieces)
	for _, repair := range []func() []clip.Line{t.mend, t.doubled} {
		if added := repair(); len(added) > 0 {
			t.Lines = t.join(append(t.Lines, added...))
		}
	}
	return t
}

// join joins pieces where one begins at the end of another. It adds closed lines to the rings, and returns the others.
func (t *tile) join(pieces []clip.Line) (open []clip.Line) {
	const none = -1
	starts := make(map[geo.Projected][]int, len(pieces))
	for i, p := range pieces {
		if p[0] != p[len(p)-1] {
			starts[p[0]] = append(starts[p[0]], i)
		}
	}
	after, led, done := make([]int, len(pieces)), make([]bool, len(pieces)), make([]bool, len(pieces))
	for i, p := range pieces {
		after[i] = none
		end := p[len(p)-1]
		if waiting := starts[end]; p[0] != end && len(waiting) > 0 {
			after[i], led[waiting[0]] = waiting[0], true
			starts[end] = waiting[1:]
		}
	}
	follow := func(i int) {
		line := pieces[i][:1:1]
		for ; i != none && !done[i]; i = after[i] {
			done[i] = true
			line = append(line, pieces[i][1:]...)
		}
		if line[0] != line[len(line)-1] {
			open = append(open, line)
		} else if ring := clip.Ring(line[:len(line)-1]); clip.Area2(ring) != 0 {
			t.Rings = append(t.Rings, ring)
		}
	}
	for i := range pieces {
		if !led[i] {
			follow(i)
		}
	}
	for i := range pieces {
		if !done[i] {
			follow(i)
		}
	}
	return open
}

// mend returns lines that join loose ends across gaps of up to a quarter of the square, or continue them to the border.
func (t *tile) mend() (added []clip.Line) {
	type gap struct {
		width      float64
		end, start int // the indexes of the lines
	}
	var gaps []gap
	loose := func(p geo.Projected) bool { return t.place(p) < 0 }
	for e, l := range t.Lines {
		end := l[len(l)-1]
		if !loose(end) {
			continue
		}
		for s, other := range t.Lines {
			if width := distance(end, other[0]); loose(other[0]) && width <= float64(t.size())/4 {
				gaps = append(gaps, gap{width, e, s})
			}
		}
	}
	slices.SortStableFunc(gaps, func(a, b gap) int { return cmp.Compare(a.width, b.width) })
	ended, started := make(map[int]bool), make(map[int]bool)
	for _, g := range gaps {
		if !ended[g.end] && !started[g.start] {
			ended[g.end], started[g.start] = true, true
			l := t.Lines[g.end]
			added = append(added, clip.Line{l[len(l)-1], t.Lines[g.start][0]})
		}
	}
	for i, l := range t.Lines {
		if end := l[len(l)-1]; loose(end) && !ended[i] {
			added = append(added, clip.Line{end, t.onward(l)})
		}
		if loose(l[0]) && !started[i] {
			back := slices.Clone(l)
			slices.Reverse(back)
			added = append(added, clip.Line{t.onward(back), l[0]})
		}
	}
	return added
}

// onward returns where a line that is continued straight reaches the border. Its direction is that from a point at some
// distance to its end.
func (t *tile) onward(l clip.Line) geo.Projected {
	end, from := l[len(l)-1], l[0]
	for i := len(l) - 2; i > 0; i-- {
		if distance(l[i], end) > float64(t.size())/16 {
			from = l[i]
			break
		}
	}
	dx, dy := end.X-from.X, end.Y-from.Y
	times := t.size()/max(dx, -dx, dy, -dy) + 1
	beyond := geo.Projected{X: end.X + times*dx, Y: end.Y + times*dy}
	return clip.ClipLine(nil, clip.Line{end, beyond}, t.Rect)[0][1]
}

func distance(a, b geo.Projected) float64 {
	return math.Hypot(float64(a.X-b.X), float64(a.Y-b.Y))
}

// doubled returns lines along the border that join two lines after which the border would be on land twice.
func (t *tile) doubled() (added []clip.Line) {
	events := t.events()
	depth, least, from := 0, 0, 0
	for i, e := range events {
		if e.end {
			depth++
		} else if depth--; depth < least {
			least, from = depth, i+1
		}
	}
	var open []event
	for i := range events {
		e := events[(from+i)%len(events)]
		if e.end {
			open = append(open, e)
			continue
		}
		last := open[len(open)-1]
		if open = open[:len(open)-1]; len(open) > 0 {
			added = append(added, t.along(last, e))
		}
	}
	return added
}
