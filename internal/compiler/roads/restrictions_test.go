package roads

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/compiler/roads/network"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
)

func TestRestrictions(t *testing.T) {
	// A crossing at node 11 with arms to the west (1), east (2), south (3) and north (4); the eastern arm goes on to 13
	// (5), where a road leads north (6). Way 7 is no road, way 8 is a road elsewhere. Way 9 leads over node 23 unsplit.
	ways := []sketchWay{
		{1, []int64{10, 11}, "highway=residential"}, {2, []int64{11, 12}, "highway=residential"},
		{3, []int64{1, 11}, "highway=residential"}, {4, []int64{11, 21}, "highway=residential"},
		{5, []int64{12, 13}, "highway=residential"}, {6, []int64{13, 23}, "highway=residential"},
		{7, []int64{11, 22}, "building=yes name=House"}, {8, []int64{88, 89}, "highway=residential"},
		{9, []int64{33, 23, 24}, "highway=residential"},
	}
	const vehicles = region.Car | region.Bicycle
	type turn struct {
		From, To, ViaNode int64
		ViaWays           []int64
		Only              bool
		Modes             region.Modes
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
			want: []turn{{From: 1, To: 4, ViaNode: 11, Modes: region.Car}}},
		{name: "two modes", members: "w1:from n11:via w4:to",
			tags: "restriction:motorcar=no_left_turn restriction:foot=no_left_turn",
			want: []turn{{From: 1, To: 4, ViaNode: 11, Modes: region.Car | region.Foot}}},
		{name: "except", members: "w1:from n11:via w4:to", tags: "restriction=no_left_turn except=bicycle;psv",
			want: []turn{{From: 1, To: 4, ViaNode: 11, Modes: region.Car}}},
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
		{name: "conditional", members: "w1:from n11:via w4:to", tags: "restriction:conditional=no_left_turn+@+(Mo-Fr)"},
		{name: "conditional without via", members: "w1:from w4:to", tags: "restriction:conditional=no_left_turn+@+(Mo-Fr)",
			skipped: 1},
		{name: "for lorries, and at times for all", members: "w1:from n11:via w4:to",
			tags: "restriction:hgv=no_left_turn restriction:conditional=no_left_turn+@+(Mo-Fr)"},
		{name: "timed", members: "w1:from n11:via w4:to", tags: "restriction=no_left_turn hour_on=07:00 hour_off=09:00",
			skipped: 1},
		{name: "several from", members: "w1:from w3:from n11:via w4:to", tags: "restriction=no_left_turn", skipped: 1},
		{name: "several to", members: "w1:from n11:via w2:to w4:to", tags: "restriction=no_left_turn", skipped: 1},
		{name: "several only", members: "w1:from w3:from n11:via w4:to", tags: "restriction=only_left_turn", skipped: 1},
		{name: "several to of an entry", members: "w1:from n11:via w2:to w4:to", tags: "restriction=no_entry", skipped: 1},
		{name: "several from of an exit", members: "w1:from w3:from n11:via w4:to", tags: "restriction=no_exit", skipped: 1},
		{name: "exit over a way", members: "w1:from w2:via w5:to w12:to", tags: "restriction=no_exit",
			want: []turn{{From: 1, To: 5, ViaNode: -1, ViaWays: []int64{2}, Modes: vehicles}}},
		{name: "unsplit", members: "w9:from n23:via w6:to", tags: "restriction=no_right_turn", skipped: 1},
		{name: "to one that is unsplit", members: "w6:from n23:via w9:to", tags: "restriction=no_left_turn", skipped: 1},
		{name: "via one that is unsplit", members: "w5:from w6:via w9:to", tags: "restriction=no_left_turn", skipped: 1},
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
			want: []turn{{From: 1, To: 4, ViaNode: 11, Modes: region.Car}}},
		{name: "another no", members: "w1:from n11:via w4:to", tags: "restriction=no_weird_zigzags",
			want: []turn{{From: 1, To: 4, ViaNode: 11, Modes: vehicles}}},
		{name: "another only", members: "w1:from n11:via w2:to", tags: "restriction=only_weird_zigzags",
			want: []turn{{From: 1, To: 2, ViaNode: 11, Only: true, Modes: vehicles}}},
		{name: "only on red", members: "w1:from n11:via w4:to", tags: "restriction=only_right_turn_on_red"},
		{name: "unknown, and for cars", members: "w1:from n11:via w4:to",
			tags: "restriction=maybe restriction:motorcar=no_left_turn",
			want: []turn{{From: 1, To: 4, ViaNode: 11, Modes: region.Car}}},
		{name: "unknown, then a ban", members: "w1:from n11:via w4:to", tags: "restriction=maybe;no_weird_zigzags",
			want: []turn{{From: 1, To: 4, ViaNode: 11, Modes: vehicles}}},
		{name: "only u-turn", members: "w1:from n11:via w1:to", tags: "restriction=only_u_turn",
			want: []turn{{From: 1, To: 1, ViaNode: 11, Only: true, Modes: vehicles}}},
		{name: "on foot", members: "w1:from n11:via w4:to", tags: "restriction:foot=no_left_turn",
			want: []turn{{From: 1, To: 4, ViaNode: 11, Modes: region.Foot}}},
		{name: "unknown", members: "w1:from n11:via w4:to", tags: "restriction=maybe", skipped: 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := sketch{nodes: osmtest.Grid(), ways: ways, relations: []sketchRelation{{7, test.members,
				"type=restriction " + test.tags}}}
			d := s.read(t)
			var got []turn
			for _, r := range d.data.Restrictions {
				via := int64(-1)
				if r.ViaNode != network.NoNode {
					via = d.id(r.ViaNode)
				}
				got = append(got, turn{r.From, r.To, via, r.ViaWays, r.Only, r.Modes})
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if d.counts.SkippedRestrictions != test.skipped {
				t.Errorf("%d skipped, want %d", d.counts.SkippedRestrictions, test.skipped)
			}
		})
	}
}
