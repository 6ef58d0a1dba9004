package osm_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
)

// TestAssembledAreas: the polygons that are made of the ways of a relation. Nodes 100 and 133 are three metres from 0 and
// 33.
func TestAssembledAreas(t *testing.T) {
	t.Parallel()
	const near = "n100 0.00001 0.00002 / n133 0.03002 0.03001 / "
	const park = " type=multipolygon name=Park leisure=park"
	const square, hole = "w1 0 3 33 30 0 / ", "w2 11 12 22 21 11 / "
	for name, c := range map[string]struct {
		sketch, want     string // "" for no area
		broken, repaired int64
	}{
		"one ring of one way":   {square + "r7 w1:outer" + park, "(0 3 33 30)", 0, 0},
		"any order, direction":  {"w1 0 3 / w2 30 33 / w3 3 33 / w4 0 30 / r7 w2:outer w1:outer w4:outer w3:outer" + park, "(0 3 33 30)", 0, 0},
		"a hole":                {square + hole + "r7 w1:outer w2:inner" + park, "(0 3 33 30) (11 21 22 12)", 0, 0},
		"wrong roles":           {square + hole + "r7 w1: w2:outer" + park, "(0 3 33 30) (11 21 22 12)", 0, 0},
		"an island in a hole":   {"w1 0 9 99 90 0 / w2 11 18 88 81 11 / w3 33 35 55 53 33 / r7 w3:outer w1:outer w2:inner" + park, "(0 9 99 90) (11 81 88 18) + (33 35 55 53)", 0, 0},
		"two outer rings":       {"w1 0 1 11 10 0 / w2 5 7 27 25 5 / r7 w1:outer w2:outer" + park, "(0 1 11 10) + (5 7 27 25)", 0, 0},
		"a hole at a corner":    {square + "w2 0 1 11 10 0 / r7 w1:outer w2:inner" + park, "(0 3 33 30) (0 10 11 1)", 0, 0},
		"a way touches itself":  {"w1 0 1 11 12 22 21 11 10 0 / r7 w1:outer" + park, "(0 1 11 10) + (11 12 22 21)", 0, 0},
		"two holes with a side": {"w1 0 4 44 40 0 / " + hole + "w3 12 13 23 22 12 / r7 w1:outer w2:inner w3:inner" + park, "(0 4 44 40) (11 21 22 23 13 12)", 0, 0},
		"a boundary": {"w1 0 3 33 / w2 33 30 0 / r7 w1:outer w2:outer n11:label n12:admin_centre " +
			"type=boundary boundary=administrative admin_level=8 name=Town", "(0 3 33 30)", 0, 0},
		"a postal code":                {square + "r7 w1:outer type=boundary boundary=postal_code name=19901", "(0 3 33 30)", 0, 0},
		"not wanted":                   {square + "r7 w1:outer type=multipolygon leisure=park", "", 0, 0},
		"neither area nor boundary":    {square + "r7 w1:outer type=site name=Site leisure=park", "", 0, 0},
		"a way twice":                  {square + "r7 w1:outer w1:outer" + park, "(0 3 33 30)", 0, 1},
		"a line twice":                 {"w1 0 3 33 / w2 33 30 0 / w3 0 30 33 / r7 w1:outer w2:outer w3:outer" + park, "(0 3 33 30)", 0, 1},
		"a ring twice":                 {square + "w2 33 3 0 30 33 / r7 w1:outer w2:outer" + park, "(0 3 33 30)", 0, 1},
		"ends that nearly meet":        {near + "w1 0 3 33 / w2 133 30 0 / r7 w1:outer w2:outer" + park, "(0 3 33 33~ 30)", 0, 1},
		"both ends nearly meet":        {near + "w1 0 3 33 / w2 133 30 100 / r7 w1:outer w2:outer" + park, "(0 3 33 33~ 30 0~)", 0, 2},
		"a way that nearly closes":     {near + "w1 0 3 33 30 100 / r7 w1:outer" + park, "(0 3 33 30 0~)", 0, 1},
		"ends far apart":               {"w1 0 3 33 30 / r7 w1:outer" + park, "", 1, 0},
		"an open ring and a closed":    {"w1 0 3 33 30 / w2 55 56 66 65 55 / r7 w1:outer w2:outer" + park, "(55 56 66 65)", 1, 0},
		"a hole in nothing":            {"w1 0 3 33 30 / " + hole + "r7 w1:outer w2:inner" + park, "", 1, 0},
		"a way that is not there":      {near + "w1 0 3 33 / w2 133 30 0 / w4 55 56 66 65 55 / r7 w1:outer w2:outer w3:outer w4:outer" + park, "(55 56 66 65)", 1, 0},
		"a node that is not there":     {"w1 0 3 999 30 0 / r7 w1:outer" + park, "", 1, 0},
		"a ring that encloses nothing": {"w1 0 1 2 1 0 / r7 w1:outer" + park, "", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := &osmtest.Recorder{Wants: func(r *osm.Relation) bool { return r.Tags.Find("name") != "" }}
			e := osmtest.Sketch(c.sketch).Read(t, r)
			r.Check(t)
			got := ""
			for _, a := range r.Areas {
				got += osmtest.Rings(a.Polygons)
			}
			if n := e.Counts; got != c.want || n.BrokenAreas != c.broken || n.RepairedRings != c.repaired || len(r.Relations) != 1 {
				t.Errorf("%s, want %s; %+v", got, c.want, n)
			}
		})
	}
}

// TestObjects: what ways and areas become, as osmtest.Recorder describes them. Relations are left out.
func TestObjects(t *testing.T) {
	t.Parallel()
	const lake, isle, old = "name=Lake natural=water", "name=Isle place=islet", "type=multipolygon"
	const square, hole = "w1 0 3 33 30 0 " + lake, "w2 11 12 22 21 11 "
	for name, c := range map[string]struct {
		sketch, want string
		broken       int64
	}{
		"an area":            {"w1 0 1 11 10 0 leisure=park", "w1 0 1 11 10 0 leisure=park / w1 (0 1 11 10) leisure=park", 0},
		"clockwise":          {"w1 0 10 11 1 0 leisure=park", "w1 0 10 11 1 0 leisure=park / w1 (0 1 11 10) leisure=park", 0},
		"a roundabout":       {"w1 0 1 11 10 0 highway=residential", "w1 0 1 11 10 0 highway=residential", 0},
		"a pedestrian area":  {"w1 0 1 11 0 highway=pedestrian area=yes", "w1 0 1 11 0 highway=pedestrian area=yes / w1 (0 1 11) highway=pedestrian area=yes", 0},
		"an open way":        {"w1 0 1 11 leisure=park", "w1 0 1 11 leisure=park", 0},
		"one of no width":    {"w1 0 1 0 leisure=park", "w1 0 1 0 leisure=park", 0},
		"a node again":       {"w1 0 1 1 2 highway=path", "w1 0 1 2 highway=path", 0},
		"ways of one node":   {"w1 0 0 highway=path / w2 0 highway=path", "", 0},
		"a gap":              {"w1 0 1 999 2 3 waterway=river", "w1 0 1 999 2 3 [lacks 1] waterway=river", 0},
		"an area with a gap": {"w1 0 1 999 10 0 leisure=park", "w1 0 1 999 10 0 [lacks 1] leisure=park", 1},
		"nodes with tags": {"n3 entrance=main / n11 entrance=yes / " + square + " / " + hole + "building=yes",
			"n3 300000 0 entrance=main / n11 100000 100000 entrance=yes / w1 0 3 33 30 0 [noted [3]] " + lake + " / w1 (0 3 33 30) [1 noted] " + lake +
				" / " + hole + "[noted [11 11]] building=yes / w2 (11 12 22 21) [2 noted] building=yes", 0},

		// The old style: the tags of a multipolygon are on its outer ways.
		"one way": {square + " / " + hole + isle + " / r7 w1:outer w2:inner source=survey " + old, "w1 0 3 33 30 0 [member] " + lake + " / " + hole + "[member] " + isle +
			" / w1 (0 3 33 30) (11 21 22 12) [with r7: " + lake + " source=survey] " + lake + " / w2 (11 12 22 21) " + isle, 0},
		"a hole along the edge": {"w1 0 1 2 3 33 30 0 " + lake + " / w2 1 2 12 11 1 / r7 w1:outer w2:inner " + old,
			"w1 0 1 2 3 33 30 0 [member] " + lake + " / w2 1 2 12 11 1 [member] / w1 (0 1 11 12 2 3 33 30) [with r7: " + lake + "] " + lake, 0},
		"two relations of one way": {square + " / " + hole + "/ r7 w1:outer w2:inner " + old + " / r8 w1:outer " + old,
			"w1 0 3 33 30 0 [member] " + lake + " / " + hole + "[member] / w1 (0 3 33 30) [with r8: " + lake + "] " + lake, 0},
		"the last relation counts": {square + " / " + hole + "/ r9 w1:outer w2:inner " + old + " / r8 w1:outer " + old,
			"w1 0 3 33 30 0 [member] " + lake + " / " + hole + "[member] / w1 (0 3 33 30) (11 21 22 12) [with r9: " + lake + "] " + lake, 0},
		"several ways": {"w1 0 3 33 water=pond " + lake + " / w2 33 30 0 " + lake + " / w3 11 12 22 21 11 / r7 w1:outer w2:outer w3:inner " + old,
			"w1 0 3 33 [member] [outline of " + lake + "] water=pond " + lake + " / w2 33 30 0 [member] [outline of " + lake + "] " + lake +
				" / w3 11 12 22 21 11 [member] / r7 (0 3 33 30) (11 21 22 12) [old style] " + lake, 0},
		"a name on the relation": {"w1 0 3 33 30 0 natural=water / w2 55 56 66 65 55 natural=water / r7 w1:outer w2:outer name=Twins " + old,
			"w1 0 3 33 30 0 [member] natural=water / w2 55 56 66 65 55 [member] natural=water / w1 (0 3 33 30) [with r7: natural=water name=Twins] natural=water / " +
				"w2 (55 56 66 65) [with r7: natural=water name=Twins] natural=water", 0},
		"outlines that are roads": {"w1 0 3 33 highway=path / w2 33 30 0 highway=path / r7 w1:outer w2:outer " + old,
			"w1 0 3 33 [member] highway=path / w2 33 30 0 [member] highway=path", 0},
		"outlines with gaps": {"w1 998 3 33 999 " + lake + " / w2 997 4 5 997 " + lake + " / r7 w1:outer w2:outer " + old,
			"w1 998 3 33 999 [lacks 2] [member] " + lake + " / w2 997 4 5 997 [lacks 2] [member] " + lake, 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := &osmtest.Recorder{Notes: func(*osm.Node) bool { return true }}
			e := osmtest.Sketch(c.sketch).Read(t, r)
			r.Check(t)
			got := slices.DeleteFunc(r.Objects(), func(s string) bool { return s[0] == 'r' && !strings.Contains(s, " (") })
			slices.Sort(got)
			want := strings.Split(c.want, " / ")
			slices.Sort(want)
			if diff := cmp.Diff(strings.Join(want, "\n"), strings.Join(got, "\n")); diff != "" || e.Counts.BrokenAreas != c.broken {
				t.Errorf("%+v\n%s", e.Counts, diff)
			}
		})
	}
}

func TestIsArea(t *testing.T) {
	t.Parallel()
	for want, all := range map[bool][]string{
		true: {"building=yes", "building:part=yes", "addr:housenumber=5", "amenity=school barrier=fence", "leisure=park", "leisure=track", "shop=mall",
			"tourism=zoo", "historic=castle", "office=company", "craft=brewery", "landuse=forest", "place=island", "boundary=administrative",
			"natural=water", "highway=pedestrian area=yes", "highway=services area=yes", "area=yes highway=footway", "barrier=hedge area=yes",
			"railway=station", "waterway=riverbank", "power=substation", "aeroway=aerodrome", "man_made=pier", "area=yes"},
		false: {"building=no", "leisure=slipway", "natural=coastline", "natural=cliff", "natural=tree_row", "highway=residential", "highway=pedestrian",
			"highway=services", "building=yes highway=corridor", "barrier=wall", "railway=rail", "waterway=river", "power=line", "aeroway=taxiway",
			"man_made=pipeline", "amenity=parking area=no", "route=ferry", "name=Nothing", ""},
	} {
		for _, tags := range all {
			if osm.IsArea(osmtest.Tags(tags)) != want {
				t.Errorf("%s: %v", tags, !want)
			}
		}
	}
}
