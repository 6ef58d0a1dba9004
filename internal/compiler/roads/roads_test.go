package roads

import (
	stdcmp "cmp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mapsedge/caddy-maps/internal/compiler/profile"
	"github.com/mapsedge/caddy-maps/internal/compiler/roads/network"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
)

func TestRoads(t *testing.T) {
	s := sketch{
		nodes: osmtest.Grid(),
		nodeTags: map[int64]string{
			1: "barrier=bollard", 2: "barrier=gate", 50: "barrier=bollard", 3: "highway=traffic_signals",
			11: "highway=stop direction=backward", 51: "highway=crossing",
		},
		ways: []sketchWay{
			{1, []int64{0, 1, 2, 3}, "highway=residential name=Main+Street ref=A+1 maxspeed=50 bridge=yes layer=1 toll=yes"},
			{2, []int64{10, 11, 21, 20, 10}, "highway=tertiary junction=roundabout name=Circle"},
			{3, []int64{5, 6, 999, 7, 8, 998, 9}, "highway=service name=Broken"},
			{4, []int64{30, 30, 31}, "highway=path tunnel=yes layer=-1"},
			{5, []int64{40, 41}, "highway=motorway_link oneway=yes"},
			{6, []int64{50, 51}, "building=yes name=House"},
			{7, []int64{60, 61}, "highway=residential access=no"},
			{8, []int64{70, 99}, "route=ferry name=Ferry bridge=no layer=high"},
		},
	}
	d := s.read(t)
	street := func(way int64, a profile.Attributes, name string) road {
		return road{Road: network.Road{Way: way, Attributes: a}, name: name}
	}
	service := profile.Attributes{Class: region.Service, Forward: everyone, Backward: everyone,
		SpeedForward: 18, SpeedBackward: 18, BicycleSpeed: 16, FootSpeed: 5}
	want := []road{
		street(1, profile.Attributes{Class: region.Residential, Forward: everyone, Backward: everyone, SpeedForward: 50,
			SpeedBackward: 50, BicycleSpeed: 18, FootSpeed: 5, Flags: roadgraph.Bridge | roadgraph.Toll, Layer: 1}, "Main Street"),
		street(2, profile.Attributes{Class: region.Tertiary, Forward: everyone, Backward: region.Foot, SpeedForward: 50,
			SpeedBackward: 50, BicycleSpeed: 18, FootSpeed: 5, Flags: roadgraph.Roundabout}, "Circle"),
		street(3, service, "Broken"),
		street(3, service, "Broken"),
		street(4, profile.Attributes{Class: region.Footway, Forward: region.Bicycle | region.Foot,
			Backward: region.Bicycle | region.Foot, SpeedForward: 10, SpeedBackward: 10,
			BicycleSpeed: 14, FootSpeed: 5, Flags: roadgraph.Tunnel, Layer: -1}, ""),
		street(5, profile.Attributes{Class: region.Motorway, Flags: roadgraph.Link, Forward: region.Car, SpeedForward: 55,
			SpeedBackward: 55, BicycleSpeed: 18, FootSpeed: 5}, ""),
		street(8, profile.Attributes{Class: region.Ferry, Flags: roadgraph.Ferry, Forward: everyone, Backward: everyone,
			SpeedForward: 10, SpeedBackward: 10, BicycleSpeed: 10, FootSpeed: 10}, "Ferry"),
	}
	want[0].ref, want[0].details = "A 1", "\x04toll\x03yes"
	nodes := [][]int64{{0, 1, 2, 3}, {10, 11, 21, 20, 10}, {5, 6}, {7, 8}, {30, 31}, {40, 41}, {70, 99}}
	if len(d.roads) != len(want) {
		t.Fatalf("%d roads, want %d: %+v", len(d.roads), len(want), d.roads)
	}
	for i, r := range d.roads {
		if diff := cmp.Diff(nodes[i], r.nodes); diff != "" {
			t.Errorf("way %d: %s", r.Way, diff)
		}
		r.nodes = nil
		if diff := cmp.Diff(want[i], r, cmp.AllowUnexported(road{})); diff != "" {
			t.Errorf("way %d: %s", r.Way, diff)
		}
	}
	if !slices.IsSortedFunc(d.data.Nodes.Slice(), func(a, b network.Node) int {
		return stdcmp.Or(stdcmp.Compare(a.Lat, b.Lat), stdcmp.Compare(a.Lon, b.Lon))
	}) {
		t.Error("nodes are out of order")
	}
	special := map[int64]network.Special{}
	for _, s := range d.data.Special.Slice() {
		special[d.id(s.Node)] = network.Special{Stops: s.Stops, Control: s.Control}
	}
	if diff := cmp.Diff(map[int64]network.Special{1: {Stops: region.Car}, 3: {Control: roadgraph.Signals},
		11: {Control: roadgraph.Stop | roadgraph.Against}}, special, cmpopts.IgnoreUnexported(network.Special{})); diff != "" {
		t.Error(diff)
	}
	if d.counts.Roads != 7 {
		t.Errorf("counts: %+v", d.counts)
	}
}

// TestDetails: details are kept as text, each set of them once, and private roads are told from others.
func TestDetails(t *testing.T) {
	s := sketch{nodes: osmtest.Grid(), ways: []sketchWay{
		{1, []int64{0, 1}, "highway=motorway_link oneway=yes destination=Rome;Milan turn:lanes=left|through surface=asphalt"},
		{2, []int64{1, 2}, "highway=residential surface=asphalt"}, {3, []int64{2, 3}, "highway=service surface=asphalt"},
		{4, []int64{3, 4}, "highway=residential access=private"}, {5, []int64{4, 5}, "highway=residential access=destination"},
	}}
	d := s.read(t)
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
	for i, private := range []region.Modes{0, 0, 0, region.Car, 0} {
		if r := d.roads[i]; r.PrivateForward != private || r.DestinationForward&region.Car == 0 != (i < 3) {
			t.Errorf("way %d: %+v", r.Way, r)
		}
	}
}

// TestCrossings: ferries and shuttle trains go as fast as their durations say.
func TestCrossings(t *testing.T) {
	tests := []struct {
		tags  string
		nodes []int64
		speed uint8 // of all
	}{
		{"route=ferry", []int64{0, 1, 2}, 10},
		{"route=ferry duration=00:10", []int64{0, 1, 2}, 13},
		{"route=ferry duration=00:10 maxspeed=60", []int64{0, 1, 2}, 13},
		{"route=ferry duration=PT1H", []int64{0, 1, 2}, 2},
		{"route=ferry duration=99:00", []int64{0, 1, 2}, 1},
		{"route=ferry duration=00:00:10", []int64{0, 1, 2}, 200},
		{"route=ferry duration=later", []int64{0, 1, 2}, 10},
		{"route=ferry duration=00:10", []int64{0, 1, 999, 2, 3}, 10},
		{"route=shuttle_train", []int64{0, 1, 2}, 40},
		{"route=shuttle_train duration=00:02", []int64{0, 1, 2}, 67},
	}
	for _, test := range tests {
		s := sketch{nodes: osmtest.Grid(), ways: []sketchWay{{1, test.nodes, test.tags}}}
		d := s.read(t)
		if len(d.roads) == 0 {
			t.Errorf("%s: no road", test.tags)
		}
		for _, r := range d.roads {
			if !r.Flags.Has(roadgraph.Ferry) || r.Class != region.Ferry || r.Forward != everyone || r.Backward != everyone {
				t.Errorf("%s: %+v", test.tags, r)
			}
			for _, speed := range []uint8{r.SpeedForward, r.SpeedBackward, r.BicycleSpeed, r.FootSpeed} {
				if speed != test.speed {
					t.Errorf("%s: %d km/h, want %d", test.tags, speed, test.speed)
				}
			}
		}
	}
	s := sketch{nodes: osmtest.Grid(), ways: []sketchWay{{1, []int64{0, 1, 2}, "highway=residential duration=00:10"}}}
	if r := s.read(t).roads[0]; r.SpeedForward != 30 || r.FootSpeed != 5 {
		t.Errorf("a street is not timed: %+v", r)
	}
}
