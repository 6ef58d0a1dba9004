package roads

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"

	"github.com/google/go-cmp/cmp"
)

// TestSquares: the ways of a square between nodes 0, 2, 22 and 20, with an island in it, as one closed way and as a
// multipolygon of two ways. What is wanted is who may go along each way, in both directions.
func TestSquares(t *testing.T) {
	const members = "w1:outer w2:outer w3:inner"
	tests := map[string]struct {
		closed    string // tags of the closed way 4
		outer     string // tags of way 2
		relations []sketchRelation
		want      []string // way: modes
	}{
		"a closed way":          {closed: "highway=pedestrian area=yes name=Plaza", want: []string{"4: f Plaza"}},
		"with bicycles":         {closed: "highway=pedestrian area=yes bicycle=yes", want: []string{"4: bf "}},
		"no square, but a loop": {closed: "highway=residential", want: []string{"4: cbf "}},
		"a multipolygon": {
			relations: []sketchRelation{{1, members, "type=multipolygon highway=pedestrian name=Plaza"}},
			want:      []string{"1: f Plaza", "2: f Plaza"},
		},
		"that says that it is an area": {
			relations: []sketchRelation{{1, members, "type=multipolygon highway=service area=yes"}},
			want:      []string{"1: bf ", "2: bf "},
		},
		"that is private": {
			relations: []sketchRelation{{1, members, "type=multipolygon highway=pedestrian access=private"}},
		},
		"that is being built": {
			relations: []sketchRelation{{1, members, "type=multipolygon highway=construction construction=pedestrian"}},
		},
		"one side of which is a street": {
			outer:     "highway=residential name=Street",
			relations: []sketchRelation{{1, members, "type=multipolygon highway=pedestrian name=Plaza"}},
			want:      []string{"1: f Plaza", "2: cbf Street"},
		},
		"one side of which is closed": {
			outer:     "highway=residential access=no",
			relations: []sketchRelation{{1, members, "type=multipolygon highway=pedestrian name=Plaza"}},
			want:      []string{"1: f Plaza"},
		},
		"one side of which is a wall": {
			outer:     "barrier=wall",
			relations: []sketchRelation{{1, members, "type=multipolygon highway=pedestrian name=Plaza"}},
			want:      []string{"1: f Plaza", "2: f Plaza"},
		},
		"two that share a side": {
			relations: []sketchRelation{
				{2, "w2:outer w3:outer", "type=multipolygon highway=pedestrian name=Second bicycle=yes"},
				{1, "w1:outer w2:outer", "type=multipolygon highway=pedestrian name=First"},
			},
			want: []string{"1: f First", "2: f First", "3: bf Second"},
		},
		"a boundary is none":    {relations: []sketchRelation{{1, members, "type=boundary highway=pedestrian"}}},
		"nor is any other area": {relations: []sketchRelation{{1, members, "type=multipolygon landuse=grass name=Green"}}},
		"nor a platform":        {relations: []sketchRelation{{1, members, "type=multipolygon railway=platform"}}},
		"a square without roles": {relations: []sketchRelation{{1, "w1: w2:", "type=multipolygon highway=pedestrian"}},
			want: []string{"1: f ", "2: f "}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := sketch{nodes: osmtest.Grid(), relations: test.relations, ways: []sketchWay{
				{1, []int64{0, 1, 2, 12}, ""}, {2, []int64{12, 22, 20, 0}, test.outer}, {3, []int64{11, 10, 21, 11}, ""},
				{4, []int64{0, 2, 22, 20, 0}, test.closed},
			}}
			var got []string
			d := s.read(t)
			for _, r := range d.roads {
				if r.Forward != r.Backward {
					t.Errorf("way %d: %03b and %03b", r.Way, r.Forward, r.Backward)
				}
				modes := ""
				for i, letter := range "cbf" {
					if r.Forward&(1<<i) != 0 {
						modes += string(letter)
					}
				}
				got = append(got, fmt.Sprintf("%d: %s %s", r.Way, modes, r.name))
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
