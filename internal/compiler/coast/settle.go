package coast

import (
	"cmp"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/maptile/geom"
	"github.com/mapsedge/caddy-maps/internal/mercator"
)

// settle makes a tile of pieces of coast in its square, whatever they are like: pieces are joined where one begins at
// the point where another ends; loose ends are joined across small gaps or led straight on to the border; and where the
// border would lie on land, or in the ocean, twice over, because coasts cross or go the wrong way, two are joined along
// it, so that mistakes stay in their square.
func settle(s square, pieces []geom.Line) *tile {
	t := &tile{square: s}
	t.lines = t.join(pieces)
	if loose := t.mend(t.lines); len(loose) > 0 {
		t.lines = t.join(append(t.lines, loose...))
	}
	if doubled := t.doubled(); len(doubled) > 0 {
		t.lines = t.join(append(t.lines, doubled...))
	}
	return t
}

// join joins pieces where one begins at the point where another ends. Those that close go to the rings.
func (t *tile) join(pieces []geom.Line) []geom.Line {
	const none = -1
	starts := make(map[mercator.Point][]int, len(pieces))
	for i, p := range pieces {
		if p[0] != p[len(p)-1] {
			starts[p[0]] = append(starts[p[0]], i)
		}
	}
	after, led := make([]int, len(pieces)), make([]bool, len(pieces))
	for i, p := range pieces {
		after[i] = none
		end := p[len(p)-1]
		if waiting := starts[end]; p[0] != end && len(waiting) > 0 {
			after[i], led[waiting[0]] = waiting[0], true
			starts[end] = waiting[1:]
		}
	}
	used := make([]bool, len(pieces))
	follow := func(i int) geom.Line {
		used[i] = true
		line := pieces[i]
		if after[i] != none && !used[after[i]] {
			line = slices.Clone(line)
		}
		for i = after[i]; i != none && !used[i]; i = after[i] {
			used[i] = true
			line = append(line, pieces[i][1:]...)
		}
		return line
	}
	var open []geom.Line
	take := func(line geom.Line) {
		if line[0] != line[len(line)-1] {
			open = append(open, line)
		} else if ring := geom.Ring(line[:len(line)-1]); geom.Area2(ring) != 0 {
			t.rings = append(t.rings, ring)
		}
	}
	for i := range pieces {
		if !led[i] {
			take(follow(i))
		}
	}
	for i := range pieces {
		if !used[i] {
			take(follow(i))
		}
	}
	return open
}

// mend returns what joins the loose ends of some lines, across gaps of up to a quarter of the square, or leads them on
// to the border.
func (t *tile) mend(lines []geom.Line) (added []geom.Line) {
	var ends, starts []int // lines that end, or begin, inside of the square
	for i, l := range lines {
		if t.place(l[len(l)-1]) < 0 {
			ends = append(ends, i)
		}
		if t.place(l[0]) < 0 {
			starts = append(starts, i)
		}
	}
	type gap struct {
		width      float64
		end, start int
	}
	var gaps []gap
	for _, e := range ends {
		for _, s := range starts {
			l := lines[e]
			if w := distance(l[len(l)-1], lines[s][0]); w <= float64(t.size)/4 {
				gaps = append(gaps, gap{w, e, s})
			}
		}
	}
	slices.SortFunc(gaps, func(a, b gap) int {
		return cmp.Or(cmp.Compare(a.width, b.width), cmp.Compare(a.end, b.end), cmp.Compare(a.start, b.start))
	})
	ended, started := make(map[int]bool), make(map[int]bool)
	for _, g := range gaps {
		if !ended[g.end] && !started[g.start] {
			ended[g.end], started[g.start] = true, true
			l := lines[g.end]
			added = append(added, geom.Line{l[len(l)-1], lines[g.start][0]})
		}
	}
	for _, e := range ends {
		if l := lines[e]; !ended[e] {
			last := l[len(l)-1]
			added = append(added, geom.Line{last, t.onward(t.before(l), last)})
		}
	}
	for _, s := range starts {
		if !started[s] {
			back := slices.Clone(lines[s])
			slices.Reverse(back)
			added = append(added, geom.Line{t.onward(t.before(back), lines[s][0]), lines[s][0]})
		}
	}
	return added
}

// before is the point of a line that tells in which direction it ends: far enough from the end for that.
func (t *tile) before(line []mercator.Point) mercator.Point {
	last := line[len(line)-1]
	for i := len(line) - 2; i > 0; i-- {
		if distance(line[i], last) > float64(t.size)/16 {
			return line[i]
		}
	}
	return line[0]
}

func distance(a, b mercator.Point) float64 {
	return math.Hypot(float64(a.X-b.X), float64(a.Y-b.Y))
}

// doubled returns what joins the lines between which the border lies on land twice over.
func (t *tile) doubled() (added []geom.Line) {
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
			l := t.lines[last.line]
			path := t.appendCorners(geom.Line{l[len(l)-1]}, last.place, e.place)
			added = append(added, append(path, t.lines[e.line][0]))
		}
	}
	return added
}
