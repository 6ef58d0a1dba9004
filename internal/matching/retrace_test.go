package matching_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// stretch is a part of an arc that a drive travels, in metres from the arc's beginning.
type stretch struct {
	arc      uint32 // an original, never a copy
	from, to float64
}

// place is where a drive may be that has the geometry seen so far.
type place struct {
	arc    uint32
	offset float64
	before int // the place that it was reached from, -1 for none
}

// exact is how exactly a path follows the roads, in metres.
const exact = 0.05

// retrace finds the drive that has a geometry. It knows nothing of the trace: it follows the line over the graph
// through every turn that is allowed, also turning round on roads that are open both ways, in all ways that are
// possible. The error names the step that no car may drive.
func retrace(g *roadgraph.Graph, line orb.LineString) ([]stretch, error) {
	if len(line) < 2 {
		return nil, fmt.Errorf("the path has %d points", len(line))
	}
	var places []place
	for _, h := range g.Near(line[0].Lat(), line[0].Lon(), exact, nil) {
		flags, offset := g.Edge(h.Edge).Flags, float64(h.Offset)/1000
		if flags.Has(roadgraph.Forward) {
			places = append(places, place{2 * h.Edge, offset, -1})
		}
		if flags.Has(roadgraph.Backward) {
			places = append(places, place{2*h.Edge + 1, lengthOf(g, 2*h.Edge) - offset, -1})
		}
	}
	if len(places) == 0 {
		return nil, fmt.Errorf("the path begins at %v, where no road is", line[0])
	}
	places = goOn(g, places, 0)
	first := 0
	for i := 1; i < len(line); i++ {
		last := len(places)
		for k := first; k < last; k++ {
			if at, ok := follow(g, places[k], line[i-1], line[i]); ok {
				places = append(places, place{places[k].arc, at, k})
			}
		}
		if len(places) == last {
			return nil, fmt.Errorf("step %d of %d, from %v to %v, follows no road in its direction", i, len(line)-1, line[i-1],
				line[i])
		}
		places, first = goOn(g, places, last), last
	}
	return collect(g, places, first), nil
}

// follow goes from p to q along an arc, and reports whether that is possible.
func follow(g *roadgraph.Graph, at place, p, q orb.Point) (offset float64, ok bool) {
	between := distance(p, q)
	length := lengthOf(g, at.arc)
	slack := exact + 1e-7*between*between // for where on a long straight line a place is, there is more than one formula
	from, to := at.offset+between-slack, at.offset+between+slack
	if from > length {
		return 0, false
	}
	edge, forward := g.EdgeOf(at.arc)
	if !forward {
		from, to = length-to, length-from
	}
	offset, off := g.NearestOn(edge, from, to, q)
	if !forward {
		offset = length - offset
	}
	return max(offset, at.offset), off <= exact
}

// goOn adds to the places from first on those that are reached from them without moving.
func goOn(g *roadgraph.Graph, places []place, first int) []place {
	add := func(p place) {
		if !slices.ContainsFunc(places[first:],
			func(q place) bool { return p.arc == q.arc && math.Abs(p.offset-q.offset) < exact }) {
			places = append(places, p)
		}
	}
	for k := first; k < len(places); k++ {
		p := places[k]
		edge, forward := g.EdgeOf(p.arc)
		// Who has just got on to a street may not turn round at once: that would be a way past turn restrictions.
		if g.Edge(edge).Flags.Has(roadgraph.Forward|roadgraph.Backward) && p.offset >= exact {
			back := 2 * edge
			if forward {
				back++
			}
			add(place{back, max(lengthOf(g, p.arc)-p.offset, 0), k})
		}
		if lengthOf(g, p.arc)-p.offset < exact {
			for _, turn := range g.Turns(p.arc, nil) {
				add(place{turn.To, 0, k})
			}
		}
	}
	return places
}

// collect is the drive that leads to the place at the end.
func collect(g *roadgraph.Graph, places []place, end int) (drive []stretch) {
	var chain []place
	for at := end; at >= 0; at = places[at].before {
		chain = append(chain, places[at])
	}
	slices.Reverse(chain)
	for i, p := range chain {
		if last := len(drive) - 1; i > 0 && p.arc == chain[i-1].arc && p.offset >= drive[last].to {
			drive[last].to = p.offset
		} else {
			drive = append(drive, stretch{g.ArcOf(p.arc), p.offset, p.offset})
		}
	}
	return slices.DeleteFunc(drive, func(s stretch) bool { return s.to-s.from < exact })
}

// streets are the names of the roads of a drive, one after the other. What is shorter than a metre does not count.
func streets(g *roadgraph.Graph, drive []stretch) (names []string) {
	for _, s := range drive {
		if s.to-s.from >= 1 {
			names = append(names, g.Name(s.arc>>1))
		}
	}
	return slices.Compact(names)
}

// compare is how many metres of a true drive are missing from another one, and how many that one has in addition.
// Road in the wrong direction is wrong twice.
func compare(truth, got []stretch) (missed, added float64) {
	balance := map[uint32]float64{}
	for _, s := range truth {
		balance[s.arc] += s.to - s.from
	}
	for _, s := range got {
		balance[s.arc] -= s.to - s.from
	}
	for _, metres := range balance {
		if metres > 0 {
			missed += metres
		} else {
			added -= metres
		}
	}
	return missed, added
}

// turnsRound counts how often a drive turns back on the same road.
func turnsRound(drive []stretch) (n int) {
	for i := 1; i < len(drive); i++ {
		if drive[i].arc == drive[i-1].arc^1 {
			n++
		}
	}
	return n
}

func lengthOf(g *roadgraph.Graph, arc uint32) float64 { return float64(g.Arc(arc).Length) / 1000 }

func metres(drive []stretch) (total float64) {
	for _, s := range drive {
		total += s.to - s.from
	}
	return total
}

// distance between two positions in metres.
func distance(p, q orb.Point) float64 { return geo.Distance(p.Lat(), p.Lon(), q.Lat(), q.Lon()) }

// toLine is the distance in metres of a position from a line.
func toLine(p orb.Point, line orb.LineString) float64 {
	const degree = math.Pi / 180 * geo.EarthRadius
	xy := func(q orb.Point) (x, y float64) {
		return (q.Lon() - p.Lon()) * degree * math.Cos(p.Lat()*math.Pi/180), (q.Lat() - p.Lat()) * degree
	}
	nearest := math.Inf(1)
	for i := 1; i < len(line); i++ {
		ax, ay := xy(line[i-1])
		bx, by := xy(line[i])
		dx, dy, share := bx-ax, by-ay, 0.0
		if n := dx*dx + dy*dy; n > 0 {
			share = min(max(-(ax*dx+ay*dy)/n, 0), 1)
		}
		nearest = min(nearest, math.Hypot(ax+share*dx, ay+share*dy))
	}
	return nearest
}

// TestRetrace: the check that other tests rely on tells drives that are allowed from others.
func TestRetrace(t *testing.T) {
	d := roadgraphtest.Sketch{Step: 50, Grid: "    n\n   2\nw.1.m.3.e\n 4\n    s",
		Ways: "wm\nme\nmn oneway=yes\nms\nwm/m/ms restriction=no_right_turn"}.Draw(t)
	for path, want := range map[string]string{ // "" where it is not allowed
		"w m e": "wm me", "w 1 m 3 e": "wm me", "1 m n": "wm mn", "1 m 1": "wm", "e m s": "me ms",
		"w m s": "", "n m": "", "m n m": "", "w 4 1": "", "4 1": "", "1 2 n": "",
	} {
		var line orb.LineString
		length := 0.0
		for i, place := range strings.Fields(path) {
			line = append(line, d.At(t, []rune(place)[0]))
			if i > 0 {
				length += distance(line[i-1], line[i])
			}
		}
		drive, err := retrace(d.Graph, line)
		if got := strings.Join(streets(d.Graph, drive), " "); got != want || (err != nil) != (want == "") ||
			err == nil && math.Abs(metres(drive)-length) > 0.5 {
			t.Errorf("%s is %q, %.1f of %.1f m, error %v; want %q", path, got, metres(drive), length, err, want)
		}
	}
}
