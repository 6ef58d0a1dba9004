package routing

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/tilestest"
)

// CheckIsochrones checks isochrones around n random places: all costs are those of Dijkstra's algorithm, and areas are
// valid, lie in those of greater limits, and have the roads that are reached but not what is far from them.
func CheckIsochrones(t *testing.T, f *region.File, mode region.Modes, n int) {
	t.Helper()
	m := stored(t, f, mode)
	r := rand.New(rand.NewPCG(11, 12))
	c := &isochrones{m: m, r: r, edges: slices.Collect(m.Graph.Edges()), refs: map[bool]*reference{}}
	for _, metres := range []bool{false, true} {
		c.refs[metres] = newReference(m.Overlay, m.cache.model)
		c.refs[metres].metres = metres
	}
	c.w.search.m, c.other.search.m = m, m
	for i := range 4 * n {
		c.check(t, i&1 != 0, i&2 != 0)
	}
	t.Logf("%d states, %d on ways that are not the best, %d places in areas and %d not", c.states, c.worse, c.in, c.out)
	if c.states == 0 || c.worse > c.states/100 || c.out > c.in/20 {
		t.Error("too few")
	}
}

type isochrones struct {
	m        *metric
	r        *rand.Rand
	edges    []uint32
	refs     map[bool]*reference // whether metres are limited
	w, other worker
	// What has been compared.
	states, worse, in, out int
}

func (c *isochrones) check(t *testing.T, metres, reverse bool) {
	t.Helper()
	p := c.w.randomPlace(c.m, c.edges, c.r)
	limit := 60 + 600*c.r.Float64()
	offRoad := 1 / walking
	if metres {
		limit, offRoad = 10*limit, 1
	}
	fl := flood{w: &c.w, m: c.m, req: &IsochroneRequest{Metres: metres, Reverse: reverse,
		Limits: []float64{limit / 100, limit / 4, limit / 2, limit}}, limit: limit, cells: map[uint32]*flooded{}}
	areas, err := fl.run(&p)
	if err != nil {
		t.Fatal(err)
	}
	for i, area := range areas {
		if err := tilestest.CheckArea(area); err != nil {
			t.Fatalf("limit %v around edge %d: %v", fl.req.Limits[i], p.edge, err)
		}
		if !planar.MultiPolygonContains(area, p.point) {
			t.Fatalf("limit %v around edge %d: the area does not have it", fl.req.Limits[i], p.edge)
		}
		if i > 0 {
			if err := tilestest.CheckNested(areas[i-1], area); err != nil {
				t.Fatalf("limit %v around edge %d: %v", fl.req.Limits[i], p.edge, err)
			}
		}
	}
	got := map[uint32]Cost{}
	for _, cell := range fl.list {
		for i, cost := range cell.costs {
			if cost != noWay && cell.ends[i]&fl.inside() != 0 {
				got[cell.states[i]] = cost
			}
		}
	}
	if reverse {
		c.checkReverse(t, &fl, &p, got)
		return
	}
	ref, from := c.refs[metres], slices.Clone(p.from)
	for i := range from {
		if metres {
			from[i].cost = from[i].length / 100
		}
	}
	ref.run(from)
	for state, want := range ref.costs {
		if _, ok := fl.of(want); ok && want != noWay && got[uint32(state)] != want {
			t.Fatalf("limit %v around edge %d: state %d costs %d, Dijkstra's algorithm says %d", limit, p.edge, state,
				got[uint32(state)], want)
		}
	}
	for state, cost := range got {
		c.states++
		if want := ref.costs[state]; want != cost {
			// Through roads with destination-only access it is nearer, and all other ways are beyond the limit.
			if c.worse++; want > cost || cost < enterCost {
				t.Fatalf("limit %v around edge %d: state %d costs %d, Dijkstra's algorithm says %d", limit, p.edge, state, cost, want)
			}
		}
	}
	c.checkArea(t, &p, areas[len(areas)-1], ref, got, limit, offRoad)
}

// checkReverse compares some of the costs with routes.
func (c *isochrones) checkReverse(t *testing.T, fl *flood, p *place, got map[uint32]Cost) {
	t.Helper()
	n := 0
	for state, cost := range got {
		arc := c.refs[false].arc(state)
		if arc == noWay || fl.req.Metres {
			continue
		}
		edge, forward := c.m.Graph.EdgeOf(state)
		first, last := c.m.ends(edge)
		if !forward {
			last = first
		}
		found, err := c.other.search.run([]end{{state: state, leaf: last, cost: arc, length: c.m.Graph.Length(state)}}, p.to)
		if err != nil {
			t.Fatal(err)
		}
		if c.states++; found.cost != cost {
			if c.worse++; found.cost > cost || cost < enterCost {
				t.Fatalf("limit %v to edge %d: from state %d it costs %d, a route %d", fl.limit, p.edge, state, cost, found.cost)
			}
		}
		if n++; n == 50 {
			return
		}
	}
}

// checkArea checks that an area has the middles of the arcs that are reached well within the limit, and nothing that is
// far from all arcs that are reached.
func (c *isochrones) checkArea(t *testing.T, p *place, area orb.MultiPolygon, ref *reference, got map[uint32]Cost, limit,
	offRoad float64) {
	t.Helper()
	value := func(cost Cost) float64 { return float64(cost%enterCost) / 10 } // also metres
	b := area.Bound()
	shrink := math.Cos(b.Center().Lat() * math.Pi / 180)
	wide, high := (b.Right()-b.Left())*111_195*shrink, (b.Top()-b.Bottom())*111_195
	cell := max(40, math.Sqrt(wide*high/(1<<17)))
	moved := func(p orb.Point, x, y float64) orb.Point { return orb.Point{p[0] + x/111_195/shrink, p[1] + y/111_195} }
	far := max(100, 1.6*cell) + 7*cell // beside a road, at a corner, across a hole that is left out
	near := map[[2]int]bool{}
	key := func(p orb.Point) [2]int {
		return [2]int{int(math.Floor(p[0] * 111_195 * shrink / far)), int(math.Floor(p[1] * 111_195 / far))}
	}
	reach := func(p orb.Point) {
		for x := -1; x <= 1; x++ {
			for y := -1; y <= 1; y++ {
				k := key(p)
				near[[2]int{k[0] + x, k[1] + y}] = true
			}
		}
	}
	for at := 0.0; at <= 1; at += 0.1 { // the road of the place itself
		reach(c.m.Graph.At(p.edge, at*float64(c.m.Graph.Edge(p.edge).Length)/1000))
	}
	var inside []orb.Point
	for state, cost := range got {
		edge, forward := c.m.Graph.EdgeOf(state)
		arc := ref.arc(state)
		if arc == noWay {
			continue
		}
		length := float64(c.m.Graph.Length(state)) / 1000
		for at := 0.0; at <= 1; at += min(0.5, 50/max(length, 1)) {
			metres := at * length
			if !forward {
				metres = length - metres
			}
			if p, v := c.m.Graph.At(edge, metres), value(cost)+at*value(arc); v <= limit {
				if reach(p); v <= limit-2*cell*offRoad && c.r.IntN(10) == 0 {
					inside = append(inside, p)
				}
			}
		}
	}
	for _, p := range inside[:min(len(inside), 300)] {
		if planar.MultiPolygonContains(area, p) {
			c.in++
			continue
		}
		c.out++
		beside := false
		for i := range 16 {
			sin, cos := math.Sincos(float64(i) * math.Pi / 8)
			beside = beside || planar.MultiPolygonContains(area, moved(p, 1.5*cell*cos, 1.5*cell*sin))
		}
		if !beside {
			t.Fatalf("%v is reached within the limit %v, and is not in its area", p, limit)
		}
	}
	for range 300 {
		p := orb.Point{b.Left() + c.r.Float64()*(b.Right()-b.Left()), b.Bottom() + c.r.Float64()*(b.Top()-b.Bottom())}
		if !near[key(p)] && planar.MultiPolygonContains(area, p) {
			t.Fatalf("%v is in the area of the limit %v, and no road near it is reached", p, limit)
		}
	}
}
