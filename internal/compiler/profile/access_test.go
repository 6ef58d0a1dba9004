package profile

import (
	"strings"
	"testing"

	"github.com/paulmach/osm"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/region"

	"pgregory.net/rapid"
)

const everyone = region.Car | region.Bicycle | region.Foot

// tagsOf reads "key=value key=value"; a plus stands for a space.
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

// accessOf returns the rights on a way; none if nobody may travel along it.
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

func TestAccess(t *testing.T) {
	tests := []struct {
		tags              string
		forward, backward string
	}{
		{"highway=residential", "cbf", "cbf"},
		{"highway=motorway", "c", ""},
		{"highway=motorway oneway=no", "c", "c"},
		{"highway=motorway_link", "c", "c"},
		{"highway=motorway_link oneway=yes", "c", ""},
		{"highway=trunk", "cb", "cb"},
		{"highway=trunk foot=yes", "cbf", "cbf"},
		{"highway=trunk motorroad=yes", "c", "c"},
		{"highway=primary motorroad=yes bicycle=yes", "cb", "cb"},
		{"highway=cycleway", "bf", "bf"},
		{"highway=cycleway motor_vehicle=yes", "cbf", "cbf"},
		{"highway=footway", "f", "f"},
		{"highway=footway bicycle=yes", "bf", "bf"},
		{"highway=footway access=yes", "f", "f"},
		{"highway=pedestrian motor_vehicle=destination", "f", "f"},
		{"highway=pedestrian motor_vehicle=yes", "cf", "cf"},
		{"highway=track", "bf", "bf"},
		{"highway=track motorcar=designated", "cbf", "cbf"},
		{"highway=track access=permissive", "cbf", "cbf"},
		{"highway=track motor_vehicle=agricultural", "bf", "bf"},
		{"highway=busway", "", ""},
		{"highway=busway bicycle=designated", "b", "b"},

		// One-ways.
		{"highway=residential oneway=yes", "cbf", "f"},
		{"highway=residential oneway=true", "cbf", "f"},
		{"highway=residential oneway=1", "cbf", "f"},
		{"highway=residential oneway=-1", "f", "cbf"},
		{"highway=residential oneway=reverse", "f", "cbf"},
		{"highway=residential oneway=no", "cbf", "cbf"},
		{"highway=primary oneway=reversible", "cbf", "cbf"},
		{"highway=residential oneway=yes oneway:bicycle=no", "cbf", "bf"},
		{"highway=residential oneway=yes cycleway=opposite", "cbf", "bf"},
		{"highway=residential oneway=yes cycleway=opposite_lane", "cbf", "bf"},
		{"highway=residential oneway=yes cycleway:left=opposite_track", "cbf", "bf"},
		{"highway=residential oneway=yes cycleway=lane", "cbf", "f"},
		{"highway=residential oneway=-1 oneway:bicycle=yes", "bf", "cf"},
		{"highway=residential oneway=yes bicycle:backward=yes", "cbf", "bf"},
		{"highway=residential oneway=yes oneway:foot=yes", "cbf", ""},
		{"highway=tertiary junction=roundabout", "cbf", "f"},
		{"highway=tertiary junction=circular", "cbf", "f"},
		{"highway=tertiary junction=roundabout oneway=-1", "f", "cbf"},
		{"highway=tertiary junction=roundabout oneway=no", "cbf", "cbf"},
		{"highway=residential junction=yes", "cbf", "cbf"},

		// Access.
		{"highway=residential access=no", "", ""},
		{"highway=residential access=no foot=yes", "f", "f"},
		{"highway=residential access=private", "c", "c"},
		{"highway=service access=private", "c", "c"},
		{"highway=service service=driveway access=private", "c", "c"},
		{"highway=service motor_vehicle=private", "cbf", "cbf"},
		{"highway=service service=emergency_access access=private", "", ""},
		{"highway=service access=private motor_vehicle=yes", "c", "c"},
		{"highway=service access=customers", "cbf", "cbf"},
		{"highway=residential access=destination", "cbf", "cbf"},
		{"highway=service service=emergency_access", "bf", "bf"},
		{"highway=residential vehicle=no", "f", "f"},
		{"highway=residential vehicle=no bicycle=yes", "bf", "bf"},
		{"highway=residential motor_vehicle=no", "bf", "bf"},
		{"highway=residential motor_vehicle=no motorcar=yes", "cbf", "cbf"},
		{"highway=residential motorcar=no", "bf", "bf"},
		{"highway=residential access=emergency", "", ""},
		{"highway=residential access=psv", "", ""},
		{"highway=residential access=agricultural;forestry", "", ""},
		{"highway=residential bicycle=use_sidepath", "cf", "cf"},
		{"highway=residential bicycle=dismount", "cf", "cf"},
		{"highway=residential motor_vehicle:backward=no", "cbf", "bf"},
		{"highway=residential access:forward=no", "", "cbf"},
		{"highway=residential access=unheard_of", "cbf", "cbf"},
		{"highway=unclassified smoothness=impassable", "f", "f"},
		{"highway=residential access=official foot=official", "f", "f"},
		{"highway=runway", "", ""},
		{"highway=runway motor_vehicle=yes", "c", "c"},
		{"highway=runway access=yes", "cbf", "cbf"},
		{"highway=runway bicycle=designated", "b", "b"},

		// What bicycles and walkers have of their own.
		{"highway=motorway bicycle=yes", "cb", ""},
		{"highway=motorway cycleway=track", "cb", ""},
		{"highway=motorway cycleway=track bicycle=no", "c", ""},
		{"highway=trunk sidewalk=both", "cbf", "cbf"},
		{"highway=trunk sidewalk:left=yes", "cbf", "cbf"},
		{"highway=trunk sidewalk=no", "cb", "cb"},
		{"highway=trunk sidewalk=both foot=no", "cb", "cb"},
		{"highway=trunk sidewalk=both motorroad=yes", "c", "c"},
		{"highway=motorway foot=yes", "cf", "f"},
		{"highway=residential foot=no", "cb", "cb"},
		{"highway=residential foot=use_sidepath", "cb", "cb"},
		{"highway=residential sidewalk=separate", "cbf", "cbf"},
		{"highway=residential bicycle=no", "cf", "cf"},
		{"highway=residential access=no bicycle=yes", "b", "b"},
		{"highway=steps bicycle=yes", "bf", "bf"},
		{"highway=steps conveying=forward", "f", ""},
		{"highway=footway conveying=backward", "", "f"},
		{"highway=steps conveying=reversible", "f", "f"},
		{"highway=elevator", "f", "f"},
		{"highway=footway oneway=yes", "f", "f"},
		{"highway=footway oneway:foot=-1", "", "f"},
		{"highway=cycleway oneway=yes", "bf", "f"},
		{"highway=path oneway=yes oneway:bicycle=no", "bf", "bf"},
		{"man_made=pier", "bf", "bf"},
		{"man_made=pier access=private", "", ""},
		{"railway=platform", "f", "f"},
		{"public_transport=platform bicycle=yes", "bf", "bf"},
		{"leisure=track foot=no", "", ""},

		// Against a one-way by bicycle.
		{"highway=residential oneway=yes oneway:bicycle=-1", "cf", "bf"},
		{"highway=residential oneway=yes cycleway=opposite_share_busway", "cbf", "bf"},
		{"highway=residential oneway=-1 cycleway=opposite", "bf", "cbf"},
		{"highway=residential oneway=yes cycleway:right=opposite_lane", "cbf", "bf"},
		{"highway=residential oneway=yes cycleway:both=opposite", "cbf", "bf"},
		{"highway=residential oneway=yes cycleway:left=lane", "cbf", "f"},
		{"highway=residential oneway=yes cycleway:left=lane cycleway:left:oneway=-1", "cbf", "bf"},
		{"highway=residential oneway=yes cycleway:left=track cycleway:left:oneway=no", "cbf", "bf"},
		{"highway=residential oneway=yes cycleway:left=lane cycleway:left:oneway=yes", "cbf", "f"},
		{"highway=residential oneway=yes cycleway:both=lane cycleway:both:oneway=no", "cbf", "bf"},
		{"highway=residential oneway=yes cycleway=track cycleway:oneway=-1", "cbf", "bf"},
		{"highway=residential oneway=yes cycleway:left=no cycleway:left:oneway=-1", "cbf", "f"},
		{"highway=residential oneway=yes cycleway:left=separate cycleway:left:oneway=no", "cbf", "f"},
		{"highway=residential oneway=-1 cycleway:right=lane cycleway:right:oneway=yes", "bf", "cbf"},
		{"highway=residential oneway=-1 cycleway:right=lane cycleway:right:oneway=-1", "f", "cbf"},
		{"highway=residential oneway=yes bicycle=no cycleway=opposite", "cf", "f"},
		{"highway=tertiary junction=roundabout cycleway=opposite_track", "cbf", "bf"},
		{"highway=tertiary junction=roundabout oneway:bicycle=no", "cbf", "bf"},
		{"highway=cycleway junction=roundabout", "bf", "f"},

		// Along the edges of squares.
		{"highway=pedestrian area=yes", "f", "f"},
		{"highway=pedestrian area=yes bicycle=yes", "bf", "bf"},
		{"highway=pedestrian area=yes motor_vehicle=yes", "f", "f"},
		{"highway=footway area=yes oneway=yes", "f", "f"},
		{"highway=service area=yes", "bf", "bf"},
		{"highway=residential area=yes oneway=yes junction=roundabout", "bf", "bf"},
		{"highway=pedestrian area=yes access=private", "", ""},
		{"railway=platform area=yes", "f", "f"},

		// Over ice.
		{"highway=winter_road", "cbf", "cbf"},
		{"highway=ice_road", "cbf", "cbf"},
		{"highway=winter_road winter_road=yes ice_road=yes", "cbf", "cbf"},
		{"highway=winter_road motor_vehicle=no", "bf", "bf"},
		{"highway=ice_road access=no", "", ""},
		{"highway=ice_road access=no motor_vehicle=yes", "c", "c"},
		{"highway=ice_road oneway=yes", "cbf", "f"},

		// Being built, and open to some.
		{"highway=primary construction=yes motor_vehicle=yes", "c", "c"},
		{"highway=primary construction=yes motorcar=designated", "c", "c"},
		{"highway=primary construction=yes motor_vehicle=destination", "c", "c"},
		{"highway=primary construction=yes motor_vehicle=yes foot=yes", "cf", "cf"},
		{"highway=primary construction=yes bicycle=yes oneway=yes", "b", ""},
		{"highway=primary construction=yes motor_vehicle:forward=yes", "c", ""},
		{"highway=primary construction=yes vehicle=yes", "c", "c"},
		{"highway=primary construction=yes access=yes", "", ""},
		{"highway=primary construction=yes motor_vehicle=private", "", ""},
		{"highway=primary construction=yes motor_vehicle=unheard_of", "", ""},
		{"highway=primary construction=yes motor_vehicle=no foot=yes", "f", "f"},
		{"highway=construction construction=primary motor_vehicle=yes", "c", "c"},
		{"highway=construction construction=primary", "", ""},
		{"highway=construction construction=cycleway bicycle=yes", "b", "b"},

		{"route=ferry", "cbf", "cbf"},
		{"route=shuttle_train", "cbf", "cbf"},
		{"route=shuttle_train railway=rail", "cbf", "cbf"},
		{"route=shuttle_train motor_vehicle=no", "bf", "bf"},
		{"route=shuttle_train foot=no bicycle=no", "c", "c"},
		{"route=road;ferry", "cbf", "cbf"},
		{"route=ferry motor_vehicle=no", "bf", "bf"},
		{"route=ferry foot=yes vehicle=no", "f", "f"},
	}
	for _, test := range tests {
		forward, backward := accessOf(tagsOf(test.tags))
		if forward.open != modesIn(test.forward) || backward.open != modesIn(test.backward) {
			t.Errorf("%s: %03b and %03b, want %q and %q", test.tags, forward.open, backward.open, test.forward, test.backward)
		}
	}
}

// TestOnewayReversed: a way drawn the other way round, with its tags turned round as well, is the same road.
func TestOnewayReversed(t *testing.T) {
	turned := map[string]string{"yes": "-1", "-1": "yes", "no": "no", "reversible": "reversible"}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{"primary", "residential", "service", "cycleway", "path", "track"}).Draw(t,
			"highway")
		oneway := rapid.SampledFrom([]string{"yes", "-1", "no", "reversible"}).Draw(t, "oneway")
		closed := rapid.SampledFrom([]string{"motor_vehicle", "bicycle", "access", "vehicle"}).Draw(t, "key")
		there := tagsOf("highway=" + kind + " oneway=" + oneway + " " + closed + ":forward=no")
		back := tagsOf("highway=" + kind + " oneway=" + turned[oneway] + " " + closed + ":backward=no")
		f1, b1 := accessOf(there)
		f2, b2 := accessOf(back)
		if f1 != b2 || b1 != f2 {
			t.Fatalf("%v: %03b %03b; turned: %03b %03b", there.OSM(), f1, b1, f2, b2)
		}
	})
}
