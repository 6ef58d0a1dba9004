package roadgraph_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// names lists the edges of a graph by name, sorted.
func names(g *roadgraph.Graph) (list []string) {
	for i := range g.Edges() {
		list = append(list, g.Name(i))
	}
	slices.Sort(list)
	return list
}

// TestEdges: where edges begin and end, for cars and on foot.
func TestEdges(t *testing.T) {
	tests := map[string]struct {
		ways string
		cars []string
		foot []string // nil: the same
	}{
		"nothing":                               {},
		"bends are no junctions":                {"abed", []string{"abed"}, nil},
		"a way that others meet is cut":         {"abc\nbe", []string{"abc", "abc", "be"}, nil},
		"two ways of the same properties":       {"ab name=x\nbc name=x", []string{"x"}, nil},
		"drawn towards each other":              {"ab name=x maxspeed:forward=30\ncb name=x maxspeed:backward=30", []string{"x"}, nil},
		"directions differ":                     {"ab name=x oneway=yes\ncb name=x oneway=yes", []string{"x", "x"}, []string{"x"}},
		"names differ":                          {"ab\nbc", []string{"ab", "bc"}, nil},
		"one is a bridge":                       {"ab name=x\nbc name=x bridge=yes", []string{"x", "x"}, nil},
		"one is for destination traffic":        {"ab name=x\nbc name=x motor_vehicle=destination", []string{"x", "x"}, []string{"x"}},
		"a barrier cuts for those it stops":     {"abc\nb barrier=bollard", []string{"abc", "abc"}, []string{"abc"}},
		"a footpath cuts no street for cars":    {"abc\nbe highway=footway", []string{"abc"}, []string{"abc", "abc", "be"}},
		"a way for cars and a path part":        {"ab name=x\nbc name=x foot=no\nbe name=x highway=footway", []string{"x"}, []string{"x", "x"}},
		"a ring of its own":                     {"abeda", []string{"abeda"}, nil},
		"a loop at the end of a street":         {"ha\nabeda", []string{"abeda", "ha"}, nil},
		"a ring that begins between its exits":  {"abeda\nbc\ndg", []string{"abeda", "abeda", "bc", "dg"}, nil},
		"the same of two ways, with one exit":   {"abe name=r\nade name=r\nbc", []string{"bc", "r"}, nil},
		"no other mode, no other mode's street": {"ab highway=motorway\nde highway=footway", []string{"ab"}, []string{"de"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := roadgraphtest.Sketch{Grid: "h a b c\ng d e f", Ways: test.ways}.Draw(t)
			foot := roadgraphtest.Open(t, d.File, region.Foot)
			if test.foot == nil {
				test.foot = test.cars
			}
			if diff := cmp.Diff([][]string{test.cars, test.foot}, [][]string{names(d.Graph), names(foot)}); diff != "" {
				t.Error(diff)
			}
			checkGeometry(t, d.Graph)
			checkGeometry(t, foot)
		})
	}
}

// TestLongRoad: a road without a junction is as many edges as it takes, one behind the other.
func TestLongRoad(t *testing.T) {
	var town roadgraphtest.Town
	var nodes []uint32
	for i := range 10_000 {
		nodes = append(nodes, town.Node(float64(i), 0))
	}
	town.Road("a", nodes...)
	g := town.Open(t)
	checkGeometry(t, g)
	turns := 0
	for edge := range g.Edges() {
		turns += len(g.Turns(2*edge, nil)) + len(g.Turns(2*edge+1, nil))
	}
	if n := len(roadgraphtest.Edges(g)); n != 3 || turns != 10 {
		t.Fatalf("%d edges with %d turns, want 3 with 10", n, turns)
	}
}

// checkGeometry compares what is written of each edge with its shape, and where its turns lead.
func checkGeometry(t *testing.T, g *roadgraph.Graph) (states int) {
	t.Helper()
	for i := range g.Edges() {
		shape := g.Shape(i, nil)
		length := 0.0
		for k := 1; k < len(shape); k++ {
			a, b := shape[k-1].Location(), shape[k].Location()
			length += geo.Distance(a.Lat(), a.Lon(), b.Lat(), b.Lon())
			if diff := length - float64(shape[k].Offset)/1000; diff > 0.002 || diff < -0.002 {
				t.Fatalf("edge %d: point %d is at %d mm, its shape is %.4f m long there", i, k, shape[k].Offset, length)
			}
		}
		edge := g.Edge(i)
		if len(shape) < 2 || shape[0].Offset != 0 || shape[len(shape)-1].Offset != edge.Length {
			t.Fatalf("edge %d: lengths do not agree", i)
		}
		for direction := range uint32(2) {
			arc := 2*i + direction
			all := []uint32{arc}
			first, last := g.StatesOf(arc)
			for ; first < last; first++ {
				all = append(all, first)
			}
			states += len(all) - 1
			if len(all) > 1 && !edge.Flags.Has(roadgraph.HasStates) {
				t.Errorf("edge %d has no HasStates", i)
			}
			for _, state := range all {
				to, forward := g.EdgeOf(state)
				if to != i || forward != (direction == 0) || g.ArcOf(state) != arc || g.Arc(state) != edge.Arcs[direction] {
					t.Fatalf("state %d is of edge %d, forward %v", state, to, forward)
				}
				checkTurns(t, g, state)
			}
		}
	}
	return states
}

func checkTurns(t *testing.T, g *roadgraph.Graph, state uint32) {
	t.Helper()
	if !isOpen(g, g.ArcOf(state)) {
		return
	}
	for _, turn := range g.Turns(state, nil) {
		to := g.ArcOf(turn.To)
		if end, begin := ends(g, g.ArcOf(state)), ends(g, to); end[1] != begin[0] || !isOpen(g, to) {
			t.Fatalf("state %d ends at %v, and the next one, %d, begins at %v", state, end[1], to, begin[0])
		}
	}
}

// ends are the two positions that an arc connects.
func ends(g *roadgraph.Graph, arc uint32) [2]orb.Point {
	shape := g.Shape(arc>>1, nil)
	first, last := shape[0].Location(), shape[len(shape)-1].Location()
	if arc&1 == 1 {
		first, last = last, first
	}
	return [2]orb.Point{first, last}
}

func isOpen(g *roadgraph.Graph, arc uint32) bool {
	return g.Edge(arc >> 1).Flags.Has([]roadgraph.Flags{roadgraph.Forward, roadgraph.Backward}[arc&1])
}

// TestProperties: what a graph knows of an edge, for each mode. Durations are those of 1 km there and back.
func TestProperties(t *testing.T) {
	var town roadgraphtest.Town
	main := town.Street("Main Street", 0, 0, 1000, 0)
	main.DestinationForward = region.Bicycle
	main.DestinationBackward, main.PrivateBackward = region.Car|region.Foot, region.Car
	main.Ref, main.Class, main.Flags, main.Layer = "A 1", region.Trunk, roadgraph.Link|roadgraph.Tunnel|roadgraph.Toll, -1
	main.SpeedForward, main.SpeedBackward, main.BicycleSpeed, main.FootSpeed = 100, 50, 10, 4
	ring := town.OneWay("", town.Node(0, 500), town.Node(1000, 500))
	ring.Ref, ring.Flags = "B 2", roadgraph.Roundabout|roadgraph.Bridge|roadgraph.Ferry
	f := roadgraphtest.Compile(t, &town.Data)
	type edge struct {
		Name, Ref string
		Class     region.RoadClass
		Flags     roadgraph.Flags
		Layer     int8
		Seconds   [2]uint32
	}
	const both, mainFlags, ringFlags = roadgraph.Forward | roadgraph.Backward, roadgraph.Link | roadgraph.Tunnel |
		roadgraph.Toll, roadgraph.Roundabout | roadgraph.Bridge | roadgraph.Ferry
	for mode, want := range map[region.Modes][]edge{
		region.Car: {
			{"Main Street", "A 1", region.Trunk, both | mainFlags | roadgraph.DestinationOnlyBackward |
				roadgraph.PrivateBackward, -1, [2]uint32{36, 72}},
			{"B 2", "B 2", region.Residential, roadgraph.Forward | ringFlags, 0, [2]uint32{72, 72}}},
		region.Bicycle: {
			{"Main Street", "A 1", region.Trunk, both | mainFlags | roadgraph.DestinationOnlyForward, -1, [2]uint32{360, 360}},
			{"B 2", "B 2", region.Residential, roadgraph.Forward | ringFlags, 0, [2]uint32{200, 200}}},
		region.Foot: {
			{"Main Street", "A 1", region.Trunk, both | mainFlags | roadgraph.DestinationOnlyBackward, -1, [2]uint32{900, 900}},
			{"B 2", "B 2", region.Residential, both | ringFlags, 0, [2]uint32{720, 720}}},
	} {
		g := roadgraphtest.Open(t, f, mode)
		var got []edge
		for i := range g.Edges() {
			e := g.Edge(i)
			got = append(got, edge{g.Name(i), g.Text(e.Ref), e.Class, e.Flags, e.Layer,
				[2]uint32{(e.Arcs[0].Duration + 500) / 1000, (e.Arcs[1].Duration + 500) / 1000}})
		}
		slices.SortFunc(got, func(a, b edge) int { return strings.Compare(b.Name, a.Name) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("mode %d: %s", mode, diff)
		}
	}
}

func TestDelawareGeometry(t *testing.T) {
	if checkGeometry(t, roadgraphtest.Delaware(t)) == 0 {
		t.Error("Delaware has via-way restrictions, but no arc has further states")
	}
}

// TestSameInputSameBytes: with any amount of memory.
func TestSameInputSameBytes(t *testing.T) {
	if first, second := roadgraphtest.DelawareFile(t), roadgraphtest.CompileDelaware(t, 1<<20); first.Checksum() !=
		second.Checksum() {
		t.Error("the same roads gave two different files")
	}
}

func TestOpenWithoutRoads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty.region")
	if err := (&region.Writer{}).Commit(context.Background(), path, region.Meta{}); err != nil {
		t.Fatal(err)
	}
	f, err := region.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Release)
	g := roadgraphtest.Open(t, f, region.Car)
	if n := len(g.Near(45, 9, 1e6, nil)); g.NumBaseEdges() != 0 || g.NumStates() != 0 || n != 0 {
		t.Errorf("%d base edges, %d states, %d hits", g.NumBaseEdges(), g.NumStates(), n)
	}
}
