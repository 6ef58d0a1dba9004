package roadgraph_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// TestControls: a street of two ways, the second of which is drawn against the first, with a path that cuts it into more
// edges. What is at a node is told once by each edge, with the direction as the edge has it.
func TestControls(t *testing.T) {
	var town roadgraphtest.Town
	var nodes []uint32
	for i := range 7 {
		nodes = append(nodes, town.Node(float64(100*i), 0))
	}
	town.Road("street", nodes[:4]...)
	second := slices.Clone(nodes[3:])
	slices.Reverse(second)
	town.Road("street", second...)
	path := town.Road("path", nodes[2], town.Node(200, 50))
	path.Forward, path.Backward = region.Foot, region.Foot
	control := func(i int, c roadgraph.ControlFlags) { town.Data.Nodes[nodes[i]].Control = c }
	control(0, roadgraph.Signals)
	control(2, roadgraph.Crossing) // where the path begins
	control(3, roadgraph.GiveWay)  // where the ways meet
	control(4, roadgraph.Stop|roadgraph.Along)
	g := town.Open(t)
	edge := roadgraphtest.Edges(g)[0]
	if n := len(roadgraphtest.Edges(g)); n != 1 {
		t.Fatalf("%d edges", n)
	}
	got := map[float64]roadgraph.ControlFlags{} // by metres from the first node
	shape := g.Shape(edge, nil)
	reversed := false
	for _, c := range g.Controls(edge, nil) {
		x, _ := roadgraphtest.XY(shape[c.Point].Location())
		got[float64(int(x/10+0.5)*10)] |= c.Flags
		reversed = shape[0].Lon > shape[1].Lon
	}
	stop := roadgraph.Stop | roadgraph.Against
	if reversed {
		stop = stop.Reversed()
	}
	want := map[float64]roadgraph.ControlFlags{0: roadgraph.Signals, 200: roadgraph.Crossing, 300: roadgraph.GiveWay,
		400: stop}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := len(g.Controls(edge, nil)); n != len(want) {
		t.Errorf("%d controls, want %d", n, len(want))
	}
}

// TestDetails: what was written is read again.
func TestDetails(t *testing.T) {
	var town roadgraphtest.Town
	details := map[string]map[string]string{ // by the name of the road
		"a": {}, "b": {"surface": "asphalt"}, "c": {"destination": "Straße;B", "toll": "", "turn:lanes": "left|right"},
		"d": {"surface": "asphalt"}, "e": {"": "no key"},
	}
	for i, name := range slices.Sorted(maps.Keys(details)) {
		r := town.Street(name, 0, 0, float64(100*i+10), 100)
		for _, key := range slices.Sorted(maps.Keys(details[name])) {
			r.Details = roadgraph.AppendDetail(r.Details, key, details[name][key])
		}
	}
	g := town.Open(t)
	for edge := range g.Edges() {
		got := maps.Collect(g.Details(g.Shape(edge, nil)[0].Road))
		if diff := cmp.Diff(details[g.Name(edge)], got); diff != "" {
			t.Error(diff)
		}
	}
}

// TestConditionalTurns: restrictions that hold at certain times are details of the ways that they lead from.
func TestConditionalTurns(t *testing.T) {
	d := roadgraphtest.Sketch{Grid: `
		a   b   c
		    d   e`, Ways: `
		ab surface=asphalt
		bc
		bd
		ce
		ab/b/bd restriction:hgv:conditional=no_right_turn~@~(Mo-Fr~07:00-09:00) except=bicycle;psv
		ab/bc/ce restriction:conditional=only_right_turn~@~wet restriction:bicycle:conditional=none~@~dry`,
	}.Draw(t)
	b := d.At(t, 'b')
	want := map[string][]string{"ab": {
		"surface=asphalt",
		"restriction:hgv:conditional=no_right_turn @ (Mo-Fr 07:00-09:00)", "except=bicycle;psv",
		fmt.Sprintf("restriction:via=%.7f,%.7f", b.Lat(), b.Lon()), "restriction:to=3",
		"restriction:conditional=only_right_turn @ wet", "restriction:bicycle:conditional=none @ dry",
		"restriction:via=2", "restriction:to=4",
	}}
	got := make(map[string][]string)
	for edge := range d.Edges() {
		for key, value := range d.Details(d.Shape(edge, nil)[0].Road) {
			got[d.Name(edge)] = append(got[d.Name(edge)], key+"="+value)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
