package drives

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// spot is the place on a road nearest to x, y, on each arc that is open there.
func spot(g *roadgraph.Graph, x, y float64) []Spot {
	at := roadgraphtest.At(x, y)
	hits := g.Near(at.Lat(), at.Lon(), 20, nil)
	best := hits[0]
	for _, h := range hits {
		if h.Distance < best.Distance {
			best = h
		}
	}
	s := g.Edge(best.Edge)
	var spots []Spot
	if s.Flags.Has(roadgraph.Forward) {
		spots = append(spots, Spot{2 * best.Edge, float64(best.Offset) / 1000})
	}
	if s.Flags.Has(roadgraph.Backward) {
		spots = append(spots, Spot{2*best.Edge + 1, float64(s.Length-best.Offset) / 1000})
	}
	return spots
}

// passes reports whether a line has a point within a metre of x, y.
func passes(line orb.LineString, x, y float64) bool {
	for _, p := range line {
		if px, py := roadgraphtest.XY(p); math.Hypot(px-x, py-y) < 1 {
			return true
		}
	}
	return false
}

func TestFastestPrefersTheFastRoad(t *testing.T) {
	town := &roadgraphtest.Town{}
	a, b := town.Node(0, 0), town.Node(2000, 0)
	slow := town.Road("Straight", a, town.Node(1000, 0), b)
	slow.SpeedForward, slow.SpeedBackward = 30, 30
	fast := town.Road("Bypass", a, town.Node(0, 300), town.Node(2000, 300), b)
	fast.SpeedForward, fast.SpeedBackward = 120, 120
	town.Road("West", town.Node(-500, 0), a)
	town.Road("East", b, town.Node(2500, 0))
	g := town.Open(t)
	r := NewRouter(g)
	route, ok := r.Fastest(spot(g, -250, 0), spot(g, 2250, 0))
	if !ok {
		t.Fatal("no route")
	}
	line, seconds := r.Line(route)
	if !passes(line, 0, 300) || passes(line, 1000, 0) {
		t.Errorf("the route is %v", line)
	}
	if x, y := roadgraphtest.XY(line[0]); math.Hypot(x+250, y) > 0.1 {
		t.Errorf("it begins at %.1f, %.1f", x, y)
	}
	if x, y := roadgraphtest.XY(line[len(line)-1]); math.Hypot(x-2250, y) > 0.1 {
		t.Errorf("it ends at %.1f, %.1f", x, y)
	}
	// 250 m at 50 km/h, 2,600 m at 120 km/h, 250 m at 50 km/h.
	if got, want := seconds[len(seconds)-1], 18+78+18.0; math.Abs(got-want) > 0.1 {
		t.Errorf("it takes %.2f s, want %.2f", got, want)
	}
}

func TestFastestKeepsToOneWays(t *testing.T) {
	town := &roadgraphtest.Town{}
	a, b, c, d := town.Node(0, 0), town.Node(1000, 0), town.Node(1000, 500), town.Node(0, 500)
	town.OneWay("South", a, b)
	town.OneWay("East", b, c)
	town.OneWay("North", c, d)
	town.OneWay("West", d, a)
	town.Road("Spur", a, town.Node(0, -400)) // so that the corner is a junction
	g := town.Open(t)
	r := NewRouter(g)
	route, ok := r.Fastest(spot(g, 800, 0), spot(g, 0, 250))
	if !ok {
		t.Fatal("no route")
	}
	line, _ := r.Line(route)
	if !passes(line, 1000, 0) || !passes(line, 1000, 500) || !passes(line, 0, 500) || passes(line, 0, 0) {
		t.Errorf("the route is %v", line)
	}
	if _, ok := r.Fastest(spot(g, 800, 0), nil); ok {
		t.Error("there is a route to nowhere")
	}
}

// A route back over the arc that it started on, which only a restriction or a one-way makes necessary.
func TestFastestRoundTheBlock(t *testing.T) {
	town := &roadgraphtest.Town{}
	a, b, c, d := town.Node(0, 0), town.Node(1000, 0), town.Node(1000, 500), town.Node(0, 500)
	for _, side := range [][2]uint32{{a, b}, {b, c}, {c, d}, {d, a}} {
		town.OneWay("", side[0], side[1])
	}
	town.Road("Spur", a, town.Node(0, -400))
	town.Road("Spur", b, town.Node(1000, -400))
	g := town.Open(t)
	r := NewRouter(g)
	route, ok := r.Fastest(spot(g, 800, 0), spot(g, 200, 0))
	if !ok {
		t.Fatal("no route")
	}
	line, seconds := r.Line(route)
	length := 0.0
	for i := 1; i < len(line); i++ {
		length += distance(line[i-1], line[i])
		if seconds[i] < seconds[i-1] {
			t.Errorf("time runs backward: %v", seconds)
		}
	}
	if math.Abs(length-2400) > 1 {
		t.Errorf("the route is %.0f m long, want 2400", length)
	}
}

// city is a grid of streets with various speeds, every fifth of them one-way, and turn restrictions over nodes and ways.
func city(tb testing.TB) *roadgraph.Graph {
	const size, block = 25, 250.0
	random := rand.New(rand.NewPCG(5, 6))
	town := &roadgraphtest.Town{}
	var nodes [size][size]uint32
	for x := range size {
		for y := range size {
			nodes[x][y] = town.Node(float64(x-size/2)*block+random.Float64()*80, float64(y-size/2)*block+random.Float64()*80)
		}
	}
	street := func(a, b uint32) {
		lay := town.Road
		if random.IntN(5) == 0 {
			lay = town.OneWay
		}
		road := lay("", a, b)
		road.SpeedForward = uint8(20 + random.IntN(100))
		road.SpeedBackward = road.SpeedForward
	}
	for x := range size {
		for y := range size {
			if x+1 < size {
				street(nodes[x][y], nodes[x+1][y])
			}
			if y+1 < size {
				street(nodes[x][y], nodes[x][y+1])
			}
		}
	}
	for i := range town.Data.Roads[2:] { // roads that follow one another in the list often meet
		a, b, c := &town.Data.Roads[i], &town.Data.Roads[i+1], &town.Data.Roads[i+2]
		if !slices.Contains(b.Nodes, a.Nodes[0]) || random.IntN(4) > 0 {
			continue
		}
		r := roadgraphtest.Restriction{From: a.Way, To: b.Way, ViaNode: a.Nodes[0], Modes: region.Car}
		if slices.Contains(c.Nodes, b.Nodes[1]) {
			r.To, r.ViaNode, r.ViaWays = c.Way, roadgraphtest.NoNode, []int64{b.Way}
		}
		town.Data.Restrictions = append(town.Data.Restrictions, r)
	}
	g := town.Open(tb)
	if g.NumStates() == 2*g.NumBaseEdges() {
		tb.Fatal("no restriction over a way acts in the city")
	}
	return g
}

// The router's costs are those that the graph's own search finds, from the end of an arc to the beginning of another.
func TestFastestIsWhatSearchFinds(t *testing.T) {
	g := city(t)
	r := NewRouter(g)
	turns := new([256]float64)
	for i := range turns {
		turns[i] = turnSeconds(int8(uint8(i)))
	}
	random := rand.New(rand.NewPCG(1, 2))
	var search roadgraph.Search
	for found := 0; found < 200; {
		from, to := r.randomSpots(random), r.randomSpots(random)
		if len(from) == 0 || len(to) == 0 || !r.apart(from, to) {
			continue
		}
		from, to = from[:1], to[:1]
		from[0].Offset, to[0].Offset = r.length(from[0].Arc), 0
		search.Reset(g, roadgraph.Costs{PerSecond: 1, Turn: turns})
		search.AddSource(0, from[0].Arc, 0, 0)
		first, last := g.StatesOf(to[0].Arc)
		search.AddTarget(0, to[0].Arc)
		for arc := first; arc < last; arc++ {
			search.AddTarget(0, arc)
		}
		label, want := search.Next(context.Background())
		route, ok := r.Fastest(from, to)
		if ok != want {
			t.Fatalf("from arc %d to arc %d: route %v, search %v", from[0].Arc, to[0].Arc, ok, want)
		}
		if !ok {
			continue
		}
		found++
		if got, want := r.costOf(t, route), search.Label(label).Cost; math.Abs(got-want) > 1e-6 {
			t.Errorf("from arc %d to arc %d: %.3f s, and the search finds %.3f", from[0].Arc, to[0].Arc, got, want)
		}
	}
}

// costOf adds up a route, and checks that each turn is there.
func (r *Router) costOf(t *testing.T, route Route) float64 {
	total := 0.0
	for i, arc := range route.Arcs {
		from, to := 0.0, r.length(arc)
		if i == 0 {
			from = route.From
		}
		if i == len(route.Arcs)-1 {
			return total + r.seconds(arc, from, route.To)
		}
		total += r.seconds(arc, from, to)
		found := false
		for _, turn := range r.graph.Turns(arc, nil) {
			if turn.To == route.Arcs[i+1] {
				total, found = total+turnSeconds(turn.Angle), true
			}
		}
		if !found {
			t.Fatalf("there is no turn from arc %d to arc %d", arc, route.Arcs[i+1])
		}
	}
	return total
}

func TestTurnSeconds(t *testing.T) {
	if turnSeconds(0) != 0 || turnSeconds(math.MinInt8) != turnBack {
		t.Error("straight on and right back")
	}
	for a := int8(1); a < math.MaxInt8; a++ {
		if turnSeconds(a) != turnSeconds(-a) || turnSeconds(a) >= turnSeconds(a+1) || turnSeconds(a) > sharpTurn {
			t.Errorf("%v for %d, %v for %d", turnSeconds(a), a, turnSeconds(a+1), a+1)
		}
	}
}
