package routing

import (
	"context"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// stored opens the overlay of a mode with the costs of the file.
func stored(tb testing.TB, f *region.File, mode region.Modes) *metric {
	tb.Helper()
	g, err := roadgraph.OpenMode(f, mode)
	if err != nil {
		tb.Fatal(err)
	}
	o, err := OpenOverlay(f, g, mode)
	if err != nil {
		tb.Fatal(err)
	}
	if o == nil {
		tb.Fatal("the region has no cells")
	}
	return newMetric(o, storedMatrices{o}, NewModel(Costs{Profile: mode}))
}

// randomPlace is a place on a random edge.
func (w *worker) randomPlace(m *metric, edges []uint32, r *rand.Rand) place {
	for {
		edge := edges[r.IntN(len(edges))]
		length := m.Graph.Edge(edge).Length
		at := At(m.Graph.At(edge, 0))
		offset := uint32(r.Float64() * float64(length))
		if r.IntN(10) == 0 {
			offset = uint32(r.IntN(2)) * length
		}
		if p, ok := w.place(m, &at, roadgraph.Hit{Edge: edge, Offset: offset}); ok {
			return p
		}
	}
}

// onSame returns places on the edge of a place: anywhere, and a metre to both sides.
func (w *worker) onSame(m *metric, p *place, r *rand.Rand) (same []place) {
	length, at := m.Graph.Edge(p.edge).Length, At(p.point)
	here := uint32(math.Round(p.offset * 1000))
	for _, offset := range []uint32{uint32(r.Float64() * float64(length)), here, min(here+1000, length), max(here, 1000) - 1000} {
		if other, ok := w.place(m, &at, roadgraph.Hit{Edge: p.edge, Offset: offset}); ok {
			same = append(same, other)
		}
	}
	return same
}

// CheckPairs checks that routes from n random places to n others, and to some on the same road, cost what Dijkstra's
// algorithm finds, that a matrix says the same, and that unpacked paths cost what the search says.
func CheckPairs(t *testing.T, f *region.File, mode region.Modes, n int) {
	t.Helper()
	m := stored(t, f, mode)
	r := rand.New(rand.NewPCG(1, 2))
	edges := slices.Collect(m.Graph.Edges())
	ref := newReference(m.Overlay, m.cache.model)
	w, matrix := &worker{}, &worker{}
	w.search.m, matrix.search.m = m, m
	origins, targets := make([]place, n), make([]place, n)
	for i := range n {
		origins[i], targets[i] = w.randomPlace(m, edges, r), w.randomPlace(m, edges, r)
		targets = append(targets, w.onSame(m, &origins[i], r)...)
	}
	matrix.search.bound = noWay
	if err := matrix.search.fill(&matrix.buckets, targets); err != nil {
		t.Fatal(err)
	}
	pairs, routes := 0, 0
	for i := range origins {
		from := &origins[i]
		costs, lengths := slices.Repeat([]Cost{noWay}, len(targets)), make([]uint32, len(targets))
		if err := matrix.search.collect(&matrix.buckets, from, targets, costs, lengths); err != nil {
			t.Fatal(err)
		}
		ref.run(from.from)
		for k := range targets {
			to := &targets[k]
			want := ref.to(from.from, to.to)
			if costs[k] != want {
				t.Fatalf("from edge %d at %v to edge %d at %v: the matrix has %d, Dijkstra's algorithm %d", from.edge, from.offset,
					to.edge, to.offset, costs[k], want)
			}
			if k >= n && to.edge != from.edge { // on the road of another origin
				continue
			}
			pairs++
			f, err := w.search.run(from.from, to.to)
			if err != nil {
				t.Fatal(err)
			}
			if f.cost != want {
				t.Fatalf("from edge %d at %v to edge %d at %v: the route costs %d, Dijkstra's %d", from.edge, from.offset, to.edge,
					to.offset, f.cost, want)
			}
			if f.cost != noWay {
				routes++
				w.search.unpack(f, &w.path)
				checkPath(t, ref, &w.path)
			}
		}
	}
	if t.Logf("%d pairs, %d routes, a matrix of %d × %d", pairs, routes, n, len(targets)); routes < n {
		t.Errorf("only %d of %d pairs have routes", routes, pairs)
	}
}

// checkPath checks that all turns of a path are allowed, and that its costs are right.
func checkPath(t *testing.T, ref *reference, p *path) {
	t.Helper()
	cost := p.origin.cost
	if p.states[0] != p.origin.state || p.states[len(p.states)-1] != p.target.state {
		t.Fatalf("the path %v does not lead from %d to %d", p.states, p.origin.state, p.target.state)
	}
	for i := range p.states[1:] {
		if i > 0 {
			cost += ref.arc(p.states[i])
		}
		allowed := false
		for _, turn := range ref.turnsOf(p.states[i]) {
			if turn.to == p.states[i+1] {
				allowed = true
				cost += turn.cost
			}
		}
		if !allowed {
			t.Fatalf("the turn from state %d to %d is not allowed", p.states[i], p.states[i+1])
		}
		if p.costs[i+1] != cost {
			t.Fatalf("state %d of %d costs %d, not %d", i+1, len(p.states), p.costs[i+1], cost)
		}
	}
	if len(p.states) > 1 && p.total != cost+p.target.cost {
		t.Fatalf("the path costs %d, not %d", p.total, cost+p.target.cost)
	}
}

// RunBenchmarks measures routes between random places, and matrices of 100 × 100 of them. "settled/op" is labels.
func RunBenchmarks(b *testing.B, f *region.File) {
	m := stored(b, f, region.Car)
	r := rand.New(rand.NewPCG(1, 2))
	edges := slices.Collect(m.Graph.Edges())
	w := &worker{}
	w.search.m = m
	const n = 200
	var places []place
	for len(places) < n {
		if p := w.randomPlace(m, edges, r); !p.isolated {
			places = append(places, p)
		}
	}
	each := func(name string, do func(from, to *place) error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := range n { // what is in memory later
				if err := do(&places[i], &places[(i+1)%n]); err != nil {
					b.Fatal(err)
				}
			}
			var took []time.Duration
			work, cpu := w.search.work, testkit.ProcessorTime()
			for i := 0; b.Loop(); i++ {
				began := time.Now()
				if err := do(&places[i%n], &places[(i+1)%n]); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(began))
			}
			cpu = testkit.ProcessorTime() - cpu
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns/op")
			b.ReportMetric(float64(cpu.Nanoseconds())/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(w.search.work-work)/float64(b.N), "settled/op")
		})
	}
	each("search", func(from, to *place) error {
		_, err := w.search.run(from.from, to.to)
		return err
	})
	for name, req := range map[string]*Request{"geometry": {}, "steps": {Steps: true}} {
		req.Waypoints = make([]Waypoint, 2)
		each(name, func(from, to *place) error {
			_, err := w.through(m, req, []place{*from, *to})
			return err
		})
	}
	for _, full := range []bool{false, true} {
		name := "100x100"
		if full {
			name, m = "100x100 with distances", customized(b, f, region.Car)
			w.search.m = m
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s := &w.search
				s.bound = noWay
				if err := s.fill(&w.buckets, places[:100]); err != nil {
					b.Fatal(err)
				}
				costs, lengths := make([]Cost, 100), make([]uint32, 100)
				for i := range 100 {
					for k := range costs {
						costs[k] = noWay
					}
					if err := s.collect(&w.buckets, &places[100+i], places[:100], costs, lengths); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// CheckAlternatives checks that alternatives are what they promise, and reports how many pairs have one.
func CheckAlternatives(t *testing.T, f *region.File, n int) {
	t.Helper()
	m := stored(t, f, region.Car)
	r := rand.New(rand.NewPCG(3, 4))
	edges := slices.Collect(m.Graph.Edges())
	w := &worker{}
	w.search.m = m
	have := 0
	for range n {
		places := []place{w.randomPlace(m, edges, r), w.randomPlace(m, edges, r)}
		result, err := w.through(m, &Request{Waypoints: make([]Waypoint, 2), Alternatives: 2}, places)
		if err != nil {
			continue
		}
		for _, route := range result.Routes[1:] {
			if best := result.Routes[0].Duration; route.Duration < best || route.Duration > stretch*best+0.1 {
				t.Errorf("an alternative takes %v s, the best route %v s", route.Duration, best)
			}
		}
		if len(result.Routes) > 1 {
			have++
		}
	}
	if t.Logf("%d of %d pairs have alternatives", have, n); have < n/4 {
		t.Errorf("only %d of %d pairs have alternatives", have, n)
	}
}

// RunIsochrones measures isochrones around the middle of a region.
func RunIsochrones(b *testing.B, f *region.File, at orb.Point) {
	m := stored(b, f, region.Car)
	w := &worker{}
	w.search.m = m
	way := At(at)
	p, _ := w.snap(m, &way, false)
	for _, minutes := range []float64{15, 60} {
		b.Run(strconv.Itoa(int(minutes)), func(b *testing.B) {
			b.ReportAllocs()
			cpu := testkit.ProcessorTime()
			for b.Loop() {
				f := flood{w: w, m: m, req: &IsochroneRequest{Limits: []float64{60 * minutes}}, limit: 60 * minutes,
					cells: map[uint32]*flooded{}}
				if _, err := f.run(&p); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((testkit.ProcessorTime()-cpu).Nanoseconds())/float64(b.N), "cpu-ns/op")
		})
	}
}

// CheckFloods checks that what isochrones of n random places reach, and when, is what Dijkstra's algorithm finds. Beyond
// it they reach roads with destination-only access by shorter ways through these.
func CheckFloods(t *testing.T, f *region.File, n int) {
	t.Helper()
	m := stored(t, f, region.Car)
	r := rand.New(rand.NewPCG(5, 6))
	edges := slices.Collect(m.Graph.Edges())
	ref := newReference(m.Overlay, m.cache.model)
	w := &worker{}
	w.search.m = m
	reached := 0
	for range n {
		p := w.randomPlace(m, edges, r)
		f := flood{w: w, m: m, req: &IsochroneRequest{Limits: []float64{1}}, limit: 60 * (1 + 30*r.Float64()),
			cells: map[uint32]*flooded{}}
		if _, err := f.run(&p); err != nil {
			t.Fatal(err)
		}
		ref.run(p.from)
		want := map[uint32]Cost{}
		for state, cost := range ref.costs {
			if _, ok := f.of(cost); ok && cost != noWay {
				want[uint32(state)] = cost
			}
		}
		got := map[uint32]Cost{}
		for _, c := range f.list {
			for i, state := range c.states {
				cost := c.costs[i]
				if _, ok := want[state]; ok || cost < enterCost {
					got[state] = cost
				}
			}
		}
		if !maps.Equal(got, want) {
			t.Fatalf("within %v s of edge %d: %d states, or other costs than those of %d", f.limit, p.edge, len(got), len(want))
		}
		reached += len(got)
	}
	if reached < 100*n {
		t.Errorf("%d states are reached", reached)
	}
}

// customized opens the overlay of a mode and customizes it.
func customized(tb testing.TB, f *region.File, mode region.Modes) *metric {
	tb.Helper()
	m := stored(tb, f, mode)
	costs, err := Customize(context.Background(), m.Overlay, m.cache.model)
	if err != nil {
		tb.Fatal(err)
	}
	return newMetric(m.Overlay, fullMatrices{costs}, m.cache.model)
}

// patiently asks until costs have been customized, as clients do.
func patiently[T any](ask func() (T, error)) (T, error) {
	for end := time.Now().Add(time.Minute); ; {
		got, err := ask()
		if _, early := errors.AsType[*NotReadyError](err); !early || time.Now().After(end) {
			return got, err
		}
	}
}

// CheckAnswers checks answers of the engine for random places: routes equal matrices, distances are the lengths of lines,
// and waypoints are points of them. Of routes that cost the same, a matrix may have another one: 1 of 1000.
func CheckAnswers(t *testing.T, f *region.File, n int) {
	t.Helper()
	g, err := roadgraph.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	e := NewEngine(f, g)
	r := rand.New(rand.NewPCG(7, 8))
	edges := slices.Collect(g.Edges())
	places := make([]Waypoint, n)
	for i := range places {
		p := g.At(edges[r.IntN(len(edges))], 0)
		places[i] = At(orb.Point{p[0] + (r.Float64()-0.5)*0.001, p[1] + (r.Float64()-0.5)*0.001})
	}
	table, err := patiently(func() (*Table, error) {
		return e.Table(t.Context(), &TableRequest{Sources: places, Destinations: places, Durations: true, Distances: true})
	})
	if err != nil {
		t.Fatal(err)
	}
	ties := 0
	for i := range places {
		for k := range places {
			result, err := e.Route(t.Context(), &Request{Waypoints: []Waypoint{places[i], places[k]}, Annotations: true})
			if math.IsNaN(table.Durations[i][k]) {
				if !errors.Is(err, ErrNoRoute) {
					t.Errorf("%d to %d: %v, and no element in the matrix", i, k, err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			route := &result.Routes[0]
			same := math.Abs(route.Duration-table.Durations[i][k]) <= 0.05
			far := math.Abs(route.Distance-table.Distances[i][k]) > 0.5
			if same && far {
				ties++
			}
			if !same || far && ties > n*n/1000 {
				t.Errorf("%d to %d: %v s, %v m, in the matrix %v s, %v m", i, k, route.Duration, route.Distance,
					table.Durations[i][k], table.Distances[i][k])
			}
			length := 0.0
			for j := range route.Line[1:] {
				length += distance(route.Line[j], route.Line[j+1])
			}
			if math.Abs(length-route.Distance) > 0.01+route.Distance*1e-6 || len(route.Line) < 2 {
				t.Errorf("%d to %d: the line has %v m, the route %v m", i, k, length, route.Distance)
			}
			last := len(route.Line) - 1
			if route.Line[0] != result.Waypoints[0].Location || route.Line[last] != result.Waypoints[1].Location ||
				len(route.Legs[0].Segments) != last {
				t.Errorf("%d to %d: the ends of the line are not the waypoints", i, k)
			}
		}
	}
}

// CheckClosed checks routes that avoid n areas: they are those of Dijkstra's algorithm without the roads in it.
func CheckClosed(t *testing.T, f *region.File, n int) {
	t.Helper()
	whole := stored(t, f, region.Car)
	r := rand.New(rand.NewPCG(9, 10))
	edges := slices.Collect(whole.Graph.Edges())
	ref := newReference(whole.Overlay, whole.cache.model)
	w := &worker{}
	for range n {
		at := whole.Graph.At(edges[r.IntN(len(edges))], 0)
		size := 0.002 + 0.05*r.Float64()
		m, err := whole.without(orb.MultiPolygon{{{at, {at[0] + size, at[1]}, {at[0] + size, at[1] + size}, at}}},
			func(int64) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		ref.closed, w.search.m = m.closed.edges, m
		from := w.randomPlace(m, edges, r)
		ref.run(from.from)
		for range 10 {
			to := w.randomPlace(m, edges, r)
			found, err := w.search.run(from.from, to.to)
			if err != nil {
				t.Fatal(err)
			}
			if want := ref.to(from.from, to.to); found.cost != want {
				t.Fatalf("from edge %d to %d without %d edges: %d, Dijkstra's %d", from.edge, to.edge, len(ref.closed), found.cost, want)
			}
			if found.cost != noWay {
				w.search.unpack(found, &w.path)
				checkPath(t, ref, &w.path)
			}
		}
	}
}
