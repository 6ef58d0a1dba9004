package roads

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
)

// TestPedestrianAreas: who may travel along the outlines of an area between nodes 0, 2, 22 and 20, with an island in
// it, as a closed way and as a multipolygon.
func TestPedestrianAreas(t *testing.T) {
	t.Parallel()
	const relation = "r1 w1:outer w2:outer w3:inner type=multipolygon "
	const plaza = relation + "highway=pedestrian name=Plaza"
	for name, c := range map[string]struct {
		closed, outer string // tags of the closed way 4, and of way 2
		relations     string
		want          string // the roads
	}{
		"a closed way":                  {closed: "highway=pedestrian area=yes name=Plaza", want: "4 f Plaza"},
		"with bicycles":                 {closed: "highway=pedestrian area=yes bicycle=yes", want: "4 bf "},
		"not an area, but a loop":       {closed: "highway=residential", want: "4 cbf "},
		"a multipolygon":                {relations: plaza, want: "1 f Plaza, 2 f Plaza"},
		"that says that it is an area":  {relations: relation + "highway=service area=yes", want: "1 bf , 2 bf "},
		"that is private":               {relations: relation + "highway=pedestrian access=private"},
		"that is being built":           {relations: relation + "highway=construction construction=pedestrian"},
		"one side of which is a street": {outer: "highway=residential name=Street", relations: plaza, want: "1 f Plaza, 2 cbf Street"},
		"one side of which is closed":   {outer: "highway=residential access=no", relations: plaza, want: "1 f Plaza"},
		"one side of which is a wall":   {outer: "barrier=wall", relations: plaza, want: "1 f Plaza, 2 f Plaza"},
		"two that share a side": {relations: "r2 w2:outer w3:outer type=multipolygon highway=pedestrian name=Second bicycle=yes / " +
			"r1 w1:outer w2:outer type=multipolygon highway=pedestrian name=First", want: "1 f First, 2 f First, 3 bf Second"},
		"a boundary":    {relations: "r1 w1:outer w2:outer type=boundary highway=pedestrian"},
		"a green":       {relations: relation + "landuse=grass name=Green"},
		"a platform":    {relations: relation + "railway=platform"},
		"without roles": {relations: "r1 w1: w2: type=multipolygon highway=pedestrian", want: "1 f , 2 f "},
	} {
		d := read(t, osmtest.Sketch("w1 0 1 2 12 / w2 12 22 20 0 "+c.outer+" / w3 11 10 21 11 / w4 0 2 22 20 0 "+c.closed+" / "+c.relations))
		var got []string
		for _, r := range d.roads {
			if r.Forward != r.Backward {
				t.Errorf("%s: way %d: %03b and %03b", name, r.Way, r.Forward, r.Backward)
			}
			got = append(got, fmt.Sprintf("%d %s %s", r.Way, modesOf(r.Forward), r.name))
		}
		slices.Sort(got)
		if diff := cmp.Diff(c.want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
