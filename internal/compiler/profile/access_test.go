package profile

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/osm"
	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/region"
)

const everyone = region.Car | region.Bicycle | region.Foot

// tagsOf reads "key=value key=value"; a plus is a space.
func tagsOf(text string) *tags.Set {
	var all osm.Tags
	for field := range strings.FieldsSeq(text) {
		k, v, _ := strings.Cut(field, "=")
		all = append(all, osm.Tag{Key: k, Value: strings.ReplaceAll(v, "+", " ")})
	}
	return tags.Of(all)
}

// rights are who may travel along a road in one direction.
type rights struct{ open, destination, private region.Modes }

// accessOf returns the rights on a way.
func accessOf(t *tags.Set) (forward, backward rights) {
	r, _ := RoadOf(t)
	return rights{r.Forward, r.DestinationForward, r.PrivateForward},
		rights{r.Backward, r.DestinationBackward, r.PrivateBackward}
}

// modesIn reads "cbf": car, bicycle, foot.
func modesIn(text string) (m region.Modes) {
	for i, letter := range "cbf" {
		if strings.ContainsRune(text, letter) {
			m |= 1 << i
		}
	}
	return m
}

// TestAccess: who may travel along ways, in each direction. What no one may travel is no road.
func TestAccess(t *testing.T) {
	for _, test := range []struct {
		forward, backward string
		tags              []string
	}{
		{"cbf", "cbf", []string{"highway=residential", "highway=trunk foot=yes", "highway=cycleway motor_vehicle=yes", "highway=track motorcar=designated",
			"highway=track access=permissive"}},
		{"c", "", []string{"highway=motorway", "highway=motorway_link oneway=yes"}},
		{"c", "c", []string{"highway=motorway oneway=no", "highway=motorway_link", "highway=trunk motorroad=yes"}},
		{"cb", "cb", []string{"highway=trunk", "highway=primary motorroad=yes bicycle=yes"}},
		{"bf", "bf", []string{"highway=cycleway", "highway=footway bicycle=yes", "highway=track", "highway=track motor_vehicle=agricultural"}},
		{"f", "f", []string{"highway=footway", "highway=footway access=yes", "highway=pedestrian motor_vehicle=destination"}},
		{"cf", "cf", []string{"highway=pedestrian motor_vehicle=yes"}},
		{"", "", []string{"highway=busway"}},
		{"b", "b", []string{"highway=busway bicycle=designated"}},
		// One-ways.
		{"cbf", "f", []string{"highway=residential oneway=yes", "highway=residential oneway=true", "highway=residential oneway=1",
			"highway=residential oneway=yes cycleway=lane", "highway=tertiary junction=roundabout", "highway=tertiary junction=circular"}},
		{"f", "cbf", []string{"highway=residential oneway=-1", "highway=residential oneway=reverse", "highway=tertiary junction=roundabout oneway=-1"}},
		{"cbf", "cbf", []string{"highway=residential oneway=no", "highway=primary oneway=reversible", "highway=tertiary junction=roundabout oneway=no",
			"highway=residential junction=yes"}},
		{"cbf", "bf", []string{"highway=residential oneway=yes oneway:bicycle=no", "highway=residential oneway=yes cycleway=opposite",
			"highway=residential oneway=yes cycleway=opposite_lane", "highway=residential oneway=yes cycleway:left=opposite_track",
			"highway=residential oneway=yes bicycle:backward=yes"}},
		{"bf", "cf", []string{"highway=residential oneway=-1 oneway:bicycle=yes"}},
		{"cbf", "", []string{"highway=residential oneway=yes oneway:foot=yes"}},
		// Access.
		{"", "", []string{"highway=residential access=no", "highway=service service=emergency_access access=private",
			"highway=residential access=emergency", "highway=residential access=psv", "highway=residential access=agricultural;forestry", "highway=runway"}},
		{"f", "f", []string{"highway=residential access=no foot=yes", "highway=residential vehicle=no", "highway=unclassified smoothness=impassable",
			"highway=residential access=official foot=official"}},
		{"c", "c", []string{"highway=residential access=private", "highway=service access=private", "highway=service service=driveway access=private",
			"highway=service access=private motor_vehicle=yes", "highway=runway motor_vehicle=yes"}},
		{"cbf", "cbf", []string{"highway=service motor_vehicle=private", "highway=service access=customers", "highway=residential access=destination",
			"highway=residential motor_vehicle=no motorcar=yes", "highway=residential access=unheard_of", "highway=runway access=yes"}},
		{"bf", "bf", []string{"highway=service service=emergency_access", "highway=residential vehicle=no bicycle=yes",
			"highway=residential motor_vehicle=no", "highway=residential motorcar=no"}},
		{"cf", "cf", []string{"highway=residential bicycle=use_sidepath", "highway=residential bicycle=dismount"}},
		{"cbf", "bf", []string{"highway=residential motor_vehicle:backward=no"}},
		{"", "cbf", []string{"highway=residential access:forward=no"}},
		{"b", "b", []string{"highway=runway bicycle=designated"}},
		// What bicycles and walkers have of their own.
		{"cb", "", []string{"highway=motorway bicycle=yes", "highway=motorway cycleway=track"}},
		{"c", "", []string{"highway=motorway cycleway=track bicycle=no"}},
		{"cbf", "cbf", []string{"highway=trunk sidewalk=both", "highway=trunk sidewalk:left=yes", "highway=residential sidewalk=separate"}},
		{"cb", "cb", []string{"highway=trunk sidewalk=no", "highway=trunk sidewalk=both foot=no", "highway=residential foot=no",
			"highway=residential foot=use_sidepath"}},
		{"c", "c", []string{"highway=trunk sidewalk=both motorroad=yes"}},
		{"cf", "f", []string{"highway=motorway foot=yes"}},
		{"cf", "cf", []string{"highway=residential bicycle=no"}},
		{"b", "b", []string{"highway=residential access=no bicycle=yes"}},
		{"bf", "bf", []string{"highway=steps bicycle=yes", "highway=path oneway=yes oneway:bicycle=no", "man_made=pier",
			"public_transport=platform bicycle=yes"}},
		{"f", "", []string{"highway=steps conveying=forward"}},
		{"", "f", []string{"highway=footway conveying=backward", "highway=footway oneway:foot=-1"}},
		{"f", "f", []string{"highway=steps conveying=reversible", "highway=elevator", "highway=footway oneway=yes", "railway=platform"}},
		{"bf", "f", []string{"highway=cycleway oneway=yes"}},
		{"", "", []string{"man_made=pier access=private", "leisure=track foot=no"}},
		// Against a one-way by bicycle.
		{"cf", "bf", []string{"highway=residential oneway=yes oneway:bicycle=-1"}},
		{"cbf", "bf", []string{"highway=residential oneway=yes cycleway=opposite_share_busway",
			"highway=residential oneway=yes cycleway:right=opposite_lane", "highway=residential oneway=yes cycleway:both=opposite",
			"highway=residential oneway=yes cycleway:left=lane cycleway:left:oneway=-1",
			"highway=residential oneway=yes cycleway:left=track cycleway:left:oneway=no",
			"highway=residential oneway=yes cycleway:both=lane cycleway:both:oneway=no", "highway=residential oneway=yes cycleway=track cycleway:oneway=-1",
			"highway=tertiary junction=roundabout cycleway=opposite_track", "highway=tertiary junction=roundabout oneway:bicycle=no"}},
		{"bf", "cbf", []string{"highway=residential oneway=-1 cycleway=opposite",
			"highway=residential oneway=-1 cycleway:right=lane cycleway:right:oneway=yes"}},
		{"cbf", "f", []string{"highway=residential oneway=yes cycleway:left=lane",
			"highway=residential oneway=yes cycleway:left=lane cycleway:left:oneway=yes",
			"highway=residential oneway=yes cycleway:left=no cycleway:left:oneway=-1",
			"highway=residential oneway=yes cycleway:left=separate cycleway:left:oneway=no"}},
		{"f", "cbf", []string{"highway=residential oneway=-1 cycleway:right=lane cycleway:right:oneway=-1"}},
		{"cf", "f", []string{"highway=residential oneway=yes bicycle=no cycleway=opposite"}},
		{"bf", "f", []string{"highway=cycleway junction=roundabout"}},
		// Along the edges of squares.
		{"f", "f", []string{"highway=pedestrian area=yes", "highway=pedestrian area=yes motor_vehicle=yes", "highway=footway area=yes oneway=yes",
			"railway=platform area=yes"}},
		{"bf", "bf", []string{"highway=pedestrian area=yes bicycle=yes", "highway=service area=yes",
			"highway=residential area=yes oneway=yes junction=roundabout"}},
		{"", "", []string{"highway=pedestrian area=yes access=private"}},
		// Over ice.
		{"cbf", "cbf", []string{"highway=winter_road", "highway=ice_road", "highway=winter_road winter_road=yes ice_road=yes"}},
		{"bf", "bf", []string{"highway=winter_road motor_vehicle=no"}},
		{"", "", []string{"highway=ice_road access=no"}},
		{"c", "c", []string{"highway=ice_road access=no motor_vehicle=yes"}},
		{"cbf", "f", []string{"highway=ice_road oneway=yes"}},
		// Being built, and open to some.
		{"c", "c", []string{"highway=primary construction=yes motor_vehicle=yes", "highway=primary construction=yes motorcar=designated",
			"highway=primary construction=yes motor_vehicle=destination", "highway=primary construction=yes vehicle=yes",
			"highway=construction construction=primary motor_vehicle=yes", "route=shuttle_train foot=no bicycle=no"}},
		{"cf", "cf", []string{"highway=primary construction=yes motor_vehicle=yes foot=yes"}},
		{"b", "", []string{"highway=primary construction=yes bicycle=yes oneway=yes"}},
		{"c", "", []string{"highway=primary construction=yes motor_vehicle:forward=yes"}},
		{"", "", []string{"highway=primary construction=yes access=yes", "highway=primary construction=yes motor_vehicle=private",
			"highway=primary construction=yes motor_vehicle=unheard_of", "highway=construction construction=primary"}},
		{"f", "f", []string{"highway=primary construction=yes motor_vehicle=no foot=yes", "route=ferry foot=yes vehicle=no"}},
		{"b", "b", []string{"highway=construction construction=cycleway bicycle=yes"}},
		{"cbf", "cbf", []string{"route=ferry", "route=shuttle_train", "route=shuttle_train railway=rail", "route=road;ferry"}},
		{"bf", "bf", []string{"route=shuttle_train motor_vehicle=no", "route=ferry motor_vehicle=no"}},
		// What is no road, for now or at all, and what is one nevertheless.
		{"", "", []string{"", "building=yes", "highway=construction construction=primary", "highway=proposed", "highway=bus_stop",
			"highway=services", "highway=rest_area", "route=bus", "railway=rail", "highway=raceway",
			"highway=abandoned route=ferry", "highway=services access=yes", "highway=construction motor_vehicle=yes",
			"route=train", "leisure=pitch", "man_made=bridge", "highway=primary winter_road=yes",
			"highway=construction construction=minor", "highway=pier", "highway=unclassified ice_road=yes",
			"highway=track ice_road=yes foot=yes", "route=ferry winter_road=yes", "highway=primary construction=yes",
			"highway=primary construction=primary", "highway=footway construction=yes", "route=ferry construction=yes",
			"highway=proposed proposed=secondary", "highway=residential impassable=yes", "highway=path status=impassable",
			"building=yes name=House", "type=multipolygon highway=pedestrian access=private", "type=multipolygon landuse=grass",
			"type=multipolygon highway=construction construction=pedestrian"}},
		{"cbf", "cbf", []string{"highway=primary construction=no", "highway=primary construction=minor", "highway=primary construction=widening",
			"highway=primary winter_road=no ice_road=no", "highway=primary proposed=no", "highway=primary proposed=yes",
			"highway=tertiary proposed=secondary", "highway=primary status=passable", "type=multipolygon highway=service area=no"}},
		// The outlines of relations.
		{"f", "f", []string{"type=multipolygon highway=pedestrian"}},
		{"bf", "bf", []string{"type=multipolygon highway=service area=yes"}},
	} {
		for _, tags := range test.tags {
			r, ok := RoadOf(tagsOf(tags))
			if r.Forward != modesIn(test.forward) || r.Backward != modesIn(test.backward) || ok != (r.Forward|r.Backward != 0) {
				t.Errorf("%s: %03b and %03b, %v; want %q and %q", tags, r.Forward, r.Backward, ok, test.forward, test.backward)
			}
		}
	}
}

// TestReversed: a way that is drawn the other way round, with its tags turned round as well, is the same road. On all
// roads, people with a destination there are some of those who may travel it, and no one is too slow.
func TestReversed(t *testing.T) {
	turned := map[string]string{"yes": "-1", "-1": "yes", "no": "no", "reversible": "reversible"}
	names := slices.Sorted(maps.Keys(kinds))
	rapid.Check(t, func(t *rapid.T) {
		kind, oneway := rapid.SampledFrom(names).Draw(t, "kind"), rapid.SampledFrom([]string{"yes", "-1", "no", "reversible"}).Draw(t, "oneway")
		key := rapid.SampledFrom([]string{"motor_vehicle", "bicycle", "access", "vehicle"}).Draw(t, "key")
		value := rapid.SampledFrom([]string{"yes", "no", "private", "destination"}).Draw(t, "value")
		surface := rapid.SampledFrom([]string{"mud", "sand", "asphalt"}).Draw(t, "surface")
		if !strings.Contains(kind, "=") {
			kind = "highway=" + kind
		}
		there, back := kind+" oneway="+oneway+" "+key+":forward="+value, kind+" oneway="+turned[oneway]+" "+key+":backward="+value
		r, ok := RoadOf(tagsOf(there + " smoothness=very_horrible surface=" + surface))
		f1, b1 := accessOf(tagsOf(there))
		f2, b2 := accessOf(tagsOf(back))
		if f1 != b2 || b1 != f2 {
			t.Fatalf("%s: %03b %03b; turned: %03b %03b", there, f1, b1, f2, b2)
		}
		if f1.destination&^f1.open != 0 || f1.private&^f1.destination != 0 || ok && (r.SpeedForward < minSpeed || min(r.BicycleSpeed, r.FootSpeed) < 1) {
			t.Fatalf("%s: %+v, %+v", there, f1, r)
		}
	})
}
