package extract

import (
	"testing"

	"github.com/mapsedge/caddy-maps/internal/mapdata"

	"github.com/google/go-cmp/cmp"
)

// roadNodes returns a road's nodes by their ids.
func roadNodes(d *content, r road) []int64 {
	ids := make([]int64, len(r.Nodes))
	for i, n := range r.Nodes {
		ids[i] = d.Nodes[n].id()
	}
	return ids
}

func TestRoads(t *testing.T) {
	s := sketch{
		nodes: grid(),
		nodeTags: map[int64]string{
			1: "barrier=bollard", 2: "barrier=gate", 50: "barrier=bollard", 3: "highway=traffic_signals",
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
	want := []road{
		{Road: Road{Way: 1, Class: mapdata.Residential, Forward: everyone, Backward: everyone, SpeedForward: 50,
			SpeedBackward: 50, BicycleSpeed: 18, FootSpeed: 5, Bridge: true, Layer: 1, Toll: true}, Name: "Main Street",
			Ref: "A 1"},
		{Road: Road{Way: 2, Class: mapdata.Tertiary, Forward: everyone, Backward: mapdata.Foot, SpeedForward: 50,
			SpeedBackward: 50, BicycleSpeed: 18, FootSpeed: 5, Roundabout: true}, Name: "Circle"},
		{Road: Road{Way: 3, Class: mapdata.Service, Forward: everyone, Backward: everyone, SpeedForward: 18,
			SpeedBackward: 18, BicycleSpeed: 16, FootSpeed: 5}, Name: "Broken"},
		{Road: Road{Way: 3, Class: mapdata.Service, Forward: everyone, Backward: everyone, SpeedForward: 18,
			SpeedBackward: 18, BicycleSpeed: 16, FootSpeed: 5}, Name: "Broken"},
		{Road: Road{Way: 4, Class: mapdata.Footway, Forward: mapdata.Bicycle | mapdata.Foot,
			Backward: mapdata.Bicycle | mapdata.Foot, SpeedForward: 10, SpeedBackward: 10,
			BicycleSpeed: 14, FootSpeed: 5, Tunnel: true, Layer: -1}},
		{Road: Road{Way: 5, Class: mapdata.Motorway, Link: true, Forward: mapdata.Car, SpeedForward: 55, SpeedBackward: 55,
			BicycleSpeed: 18, FootSpeed: 5}},
		{Road: Road{Way: 8, Class: mapdata.Ferry, Ferry: true, Forward: everyone, Backward: everyone,
			SpeedForward: 10, SpeedBackward: 10, BicycleSpeed: 10, FootSpeed: 10}, Name: "Ferry"},
	}
	nodes := [][]int64{{0, 1, 2, 3}, {10, 11, 21, 20, 10}, {5, 6}, {7, 8}, {30, 31}, {40, 41}, {70, 99}}
	if len(d.Roads) != len(want) {
		t.Fatalf("%d roads, want %d: %+v", len(d.Roads), len(want), d.Roads)
	}
	for i, r := range d.Roads {
		if diff := cmp.Diff(nodes[i], roadNodes(d, r)); diff != "" {
			t.Errorf("way %d: %s", r.Way, diff)
		}
		r.Nodes = nil
		if diff := cmp.Diff(want[i], r); diff != "" {
			t.Errorf("way %d: %s", r.Way, diff)
		}
	}
	for i, n := range d.Nodes {
		if i > 0 && d.Nodes[i-1].id() >= n.id() {
			t.Errorf("node %d is out of order", n.id())
		}
		if wantBarrier := map[int64]mapdata.Modes{1: mapdata.Car}[n.id()]; n.Barrier != wantBarrier {
			t.Errorf("node %d stops %03b, want %03b", n.id(), n.Barrier, wantBarrier)
		}
	}
	if d.Counts.Roads != 7 || d.Counts.MissingNodes != 2+2 { // the broken way is a feature and a road
		t.Errorf("counts: %+v", d.Counts)
	}
}

func TestRestrictions(t *testing.T) {
	// A crossing at node 11 with arms to the west (1), east (2), south (3) and north (4); the eastern arm goes on to 13
	// (5), where a road leads north (6). Way 7 is no road, way 8 is a road elsewhere.
	ways := []sketchWay{
		{1, []int64{10, 11}, "highway=residential"}, {2, []int64{11, 12}, "highway=residential"},
		{3, []int64{1, 11}, "highway=residential"}, {4, []int64{11, 21}, "highway=residential"},
		{5, []int64{12, 13}, "highway=residential"}, {6, []int64{13, 23}, "highway=residential"},
		{7, []int64{11, 22}, "building=yes name=House"}, {8, []int64{88, 89}, "highway=residential"},
	}
	const vehicles = mapdata.Car | mapdata.Bicycle
	type turn struct {
		From, To, ViaNode int64
		ViaWays           []int64
		Only              bool
		Modes             mapdata.Modes
	}
	tests := []struct {
		name, members, tags string
		want                []turn
		skipped             int64
	}{
		{name: "no", members: "w1:from n11:via w4:to", tags: "restriction=no_left_turn",
			want: []turn{{From: 1, To: 4, ViaNode: 11, Modes: vehicles}}},
		{name: "only", members: "w1:from n11:via w2:to", tags: "restriction=only_straight_on",
			want: []turn{{From: 1, To: 2, ViaNode: 11, Only: true, Modes: vehicles}}},
		{name: "u-turn", members: "w1:from n11:via w1:to", tags: "restriction=no_u_turn",
			want: []turn{{From: 1, To: 1, ViaNode: 11, Modes: vehicles}}},
		{name: "via ways", members: "w1:from w2:via w5:via w6:to", tags: "restriction=no_u_turn",
			want: []turn{{From: 1, To: 6, ViaNode: -1, ViaWays: []int64{2, 5}, Modes: vehicles}}},
		{name: "one mode", members: "w1:from n11:via w4:to", tags: "restriction:motorcar=no_left_turn",
			want: []turn{{From: 1, To: 4, ViaNode: 11, Modes: mapdata.Car}}},
		{name: "two modes", members: "w1:from n11:via w4:to",
			tags: "restriction:motorcar=no_left_turn restriction:foot=no_left_turn",
			want: []turn{{From: 1, To: 4, ViaNode: 11, Modes: mapdata.Car | mapdata.Foot}}},
		{name: "except", members: "w1:from n11:via w4:to", tags: "restriction=no_left_turn except=bicycle;psv",
			want: []turn{{From: 1, To: 4, ViaNode: 11, Modes: mapdata.Car}}},
		{name: "except both", members: "w1:from n11:via w4:to", tags: "restriction=no_left_turn except=bicycle;motorcar"},
		{name: "lorries", members: "w1:from n11:via w4:to", tags: "restriction:hgv=no_left_turn"},
		{name: "entry", members: "w1:from w3:from n11:via w4:to", tags: "restriction=no_entry",
			want: []turn{{From: 1, To: 4, ViaNode: 11, Modes: vehicles}, {From: 3, To: 4, ViaNode: 11, Modes: vehicles}}},
		{name: "exit", members: "w1:from n11:via w2:to w4:to", tags: "restriction=no_exit",
			want: []turn{{From: 1, To: 2, ViaNode: 11, Modes: vehicles}, {From: 1, To: 4, ViaNode: 11, Modes: vehicles}}},
		{name: "a split way", members: "w1:from n11:via w2:to w5:to", tags: "restriction=no_right_turn",
			want: []turn{{From: 1, To: 2, ViaNode: 11, Modes: vehicles}}},
		{name: "conditional beside plain", members: "w1:from n11:via w4:to",
			tags: "restriction=no_left_turn restriction:conditional=no_u_turn",
			want: []turn{{From: 1, To: 4, ViaNode: 11, Modes: vehicles}}},
		{name: "conditional", members: "w1:from n11:via w4:to", tags: "restriction:conditional=no_left_turn+@+(Mo-Fr)",
			skipped: 1},
		{name: "timed", members: "w1:from n11:via w4:to", tags: "restriction=no_left_turn hour_on=07:00 hour_off=09:00",
			skipped: 1},
		{name: "several from", members: "w1:from w3:from n11:via w4:to", tags: "restriction=no_left_turn", skipped: 1},
		{name: "no via", members: "w1:from w4:to", tags: "restriction=no_left_turn", skipped: 1},
		{name: "two via nodes", members: "w1:from n11:via n12:via w4:to", tags: "restriction=no_left_turn", skipped: 1},
		{name: "no to", members: "w1:from n11:via", tags: "restriction=no_left_turn", skipped: 1},
		{name: "no road", members: "w1:from n11:via w7:to", tags: "restriction=no_left_turn", skipped: 1},
		{name: "elsewhere", members: "w1:from n11:via w8:to", tags: "restriction=no_left_turn", skipped: 1},
		{name: "unconnected via ways", members: "w1:from w2:via w8:via w6:to", tags: "restriction=no_u_turn", skipped: 1},
		{name: "missing way", members: "w1:from n11:via w99:to", tags: "restriction=no_left_turn", skipped: 1},
		{name: "missing node", members: "w1:from n999:via w2:to", tags: "restriction=no_left_turn", skipped: 1},
		{name: "not on red", members: "w1:from n11:via w4:to", tags: "restriction=no_left_turn_on_red"},
		{name: "not on red to the right", members: "w1:from n11:via w4:to", tags: "restriction=no_right_turn_on_red"},
		{name: "not for cars on red", members: "w1:from n11:via w4:to", tags: "restriction:motorcar=no_straight_on_on_red"},
		{name: "not on red nor on green", members: "w1:from n11:via w4:to",
			tags: "restriction=no_left_turn_on_red;no_left_turn",
			want: []turn{{From: 1, To: 4, ViaNode: 11, Modes: vehicles}}},
		{name: "on red and for cars", members: "w1:from n11:via w4:to",
			tags: "restriction=no_left_turn_on_red restriction:motorcar=no_left_turn",
			want: []turn{{From: 1, To: 4, ViaNode: 11, Modes: mapdata.Car}}},
		{name: "another no", members: "w1:from n11:via w4:to", tags: "restriction=no_weird_zigzags",
			want: []turn{{From: 1, To: 4, ViaNode: 11, Modes: vehicles}}},
		{name: "another only", members: "w1:from n11:via w2:to", tags: "restriction=only_weird_zigzags",
			want: []turn{{From: 1, To: 2, ViaNode: 11, Only: true, Modes: vehicles}}},
		{name: "only on red", members: "w1:from n11:via w4:to", tags: "restriction=only_right_turn_on_red"},
		{name: "unknown, and for cars", members: "w1:from n11:via w4:to",
			tags: "restriction=maybe restriction:motorcar=no_left_turn",
			want: []turn{{From: 1, To: 4, ViaNode: 11, Modes: mapdata.Car}}},
		{name: "unknown, then a ban", members: "w1:from n11:via w4:to", tags: "restriction=maybe;no_weird_zigzags",
			want: []turn{{From: 1, To: 4, ViaNode: 11, Modes: vehicles}}},
		{name: "only u-turn", members: "w1:from n11:via w1:to", tags: "restriction=only_u_turn",
			want: []turn{{From: 1, To: 1, ViaNode: 11, Only: true, Modes: vehicles}}},
		{name: "on foot", members: "w1:from n11:via w4:to", tags: "restriction:foot=no_left_turn",
			want: []turn{{From: 1, To: 4, ViaNode: 11, Modes: mapdata.Foot}}},
		{name: "unknown", members: "w1:from n11:via w4:to", tags: "restriction=maybe", skipped: 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := sketch{nodes: grid(), ways: ways, relations: []sketchRelation{{7, test.members,
				"type=restriction " + test.tags}}}
			d := s.read(t)
			var got []turn
			for _, r := range d.Restrictions {
				via := int64(-1)
				if r.ViaNode != NoNode {
					via = d.Nodes[r.ViaNode].id()
				}
				got = append(got, turn{r.From, r.To, via, r.ViaWays, r.Only, r.Modes})
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if d.Counts.SkippedRestrictions != test.skipped {
				t.Errorf("%d skipped, want %d", d.Counts.SkippedRestrictions, test.skipped)
			}
		})
	}
}
