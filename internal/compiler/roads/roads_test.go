package roads

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/compiler/profile"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
)

// TestRoads: ways become roads, with what package profile makes of their tags, and nodes are special.
func TestRoads(t *testing.T) {
	t.Parallel()
	const tags = "highway=residential name=Main+Street ref=A+1 maxspeed=50 bridge=yes layer=1 toll=yes"
	d := read(t, `
		n1 barrier=bollard
		n2 barrier=gate
		n3 highway=traffic_signals
		n11 highway=stop direction=backward
		n50 barrier=bollard
		n51 highway=crossing
		w1 0 1 2 3 `+tags+`
		w2 10 11 21 20 10 highway=tertiary junction=roundabout name=Circle
		w3 5 6 999 7 8 998 9 highway=service name=Broken
		w4 30 30 31 highway=path
		w6 50 51 building=yes name=House
		w7 60 61 highway=residential access=no
		w8 70 99 route=ferry name=Ferry`)
	var got []string
	for _, r := range d.roads {
		got = append(got, strings.TrimSpace(fmt.Sprint(r.Way, " ", r.nodes, " ", r.name)))
	}
	want := []string{"1 [0 1 2 3] Main Street", "2 [10 11 21 20 10] Circle", "3 [5 6] Broken", "3 [7 8] Broken", "4 [30 31]", "8 [70 99] Ferry"}
	if diff := cmp.Diff(want, got); diff != "" || d.counts.Roads != int64(len(want)) {
		t.Errorf("%+v, %s", d.counts, diff)
	}
	road, _ := profile.RoadOf(osmtest.Tags(tags))
	if r := d.roads[0]; r.Attributes != road.Attributes || r.ref != "A 1" || r.details != "\x04toll\x03yes" {
		t.Errorf("%+v, %s, %q; want %+v", r.Attributes, r.ref, r.details, road.Attributes)
	}
	var special []string
	for _, s := range d.data.Special.Slice() {
		special = append(special, fmt.Sprint(d.id(s.Node), " ", modesOf(s.Stops), " ", s.Control))
	}
	slices.Sort(special)
	if diff := cmp.Diff([]string{"1 c 0", fmt.Sprint("11  ", roadgraph.Stop|roadgraph.Against), fmt.Sprint("3  ", roadgraph.Signals)}, special); diff != "" {
		t.Error(diff)
	}
}

// TestDetails: details are kept as text, each set of them once.
func TestDetails(t *testing.T) {
	t.Parallel()
	d := read(t, `
		w1 0 1 highway=motorway_link destination=Rome;Milan turn:lanes=left|through surface=asphalt
		w2 1 2 highway=residential surface=asphalt
		w3 2 3 highway=service surface=asphalt`)
	var text []byte
	for _, tag := range [][2]string{{"destination", "Rome;Milan"}, {"turn:lanes", "left|through"}, {"surface", "asphalt"}} {
		text = roadgraph.AppendDetail(text, tag[0], tag[1])
	}
	if got := d.roads[0].details; got != string(text) {
		t.Errorf("the details are %q, want %q", got, text)
	}
	if roads := d.data.Roads.Slice(); roads[1].Details == 0 || roads[1].Details != roads[2].Details {
		t.Errorf("the same details have the numbers %d and %d", roads[1].Details, roads[2].Details)
	}
}

// TestFerries: ferries and shuttle trains go as fast as their durations say.
func TestFerries(t *testing.T) {
	t.Parallel()
	for way, speed := range map[string]uint8{
		"w1 0 1 2 route=ferry": 10, "w1 0 1 2 route=ferry duration=00:10": 13, "w1 0 1 2 route=ferry duration=00:10 maxspeed=60": 13,
		"w1 0 1 2 route=ferry duration=PT1H": 2, "w1 0 1 2 route=ferry duration=99:00": 1, "w1 0 1 2 route=ferry duration=00:00:10": 200,
		"w1 0 1 2 route=ferry duration=later": 10, "w1 0 1 999 2 3 route=ferry duration=00:10": 10, "w1 0 1 2 route=shuttle_train": 40,
		"w1 0 1 2 route=shuttle_train duration=00:02": 67,
	} {
		for _, r := range read(t, osmtest.Sketch(way)).roads {
			if got := [...]uint8{r.SpeedForward, r.SpeedBackward, r.BicycleSpeed, r.FootSpeed}; got != [...]uint8{speed, speed, speed, speed} ||
				!r.Flags.Has(roadgraph.Ferry) || r.Class != region.Ferry {
				t.Errorf("%s: %v, want %d; %+v", way, got, speed, r)
			}
		}
	}
	if r := read(t, "w1 0 1 2 highway=residential duration=00:10").roads[0]; r.SpeedForward != 30 || r.FootSpeed != 5 {
		t.Errorf("a street with a duration: %+v", r)
	}
}
