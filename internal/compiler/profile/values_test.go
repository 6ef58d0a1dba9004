package profile

import (
	"strings"
	"testing"

	"github.com/paulmach/osm"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// rightsOf reads "cbf" for modes to which a road is open, in capitals where only to those who have a destination there;
// P stands for cars on a private road.
func rightsOf(text string) (r rights) {
	if rest, ok := strings.CutPrefix(text, "P"); ok {
		r, text = rights{private: region.Car}, "C"+rest
	}
	r.destination = modesIn(strings.ToLower(strings.Map(func(letter rune) rune {
		if letter >= 'a' {
			return -1
		}
		return letter
	}, text)))
	r.open = modesIn(strings.ToLower(text))
	return r
}

// TestAccessValues: every value that means something, on a street, on a service road, on a footway by its mode's own
// key, and on a gate.
func TestAccessValues(t *testing.T) {
	tests := []struct{ value, street, service, footway, gate string }{
		{"yes", "cbf", "cbf", "cbf", ""},
		{"permissive", "cbf", "cbf", "cbf", ""},
		{"designated", "cbf", "cbf", "cbf", ""},
		{"public", "cbf", "cbf", "cbf", ""},
		{"destination", "CBF", "CBF", "F", ""},
		{"customers", "CBF", "CBF", "F", ""},
		{"visitors", "CBF", "CBF", "F", ""},
		{"private", "P", "P", "", "bf"},
		{"permit", "P", "P", "", "bf"},
		{"residents", "P", "P", "", "bf"},
		{"employees", "P", "P", "", "bf"},
		{"delivery", "P", "P", "", "bf"},
		{"hov", "C", "C", "", "bf"},
		{"no", "", "", "", "cbf"},
		{"official", "", "", "bf", "cbf"},
		{"taxi", "", "", "", "cbf"},
		{"share_taxi", "", "", "", "cbf"},
		{"minibus", "", "", "", "cbf"},
		{"bus", "", "", "", "cbf"},
		{"psv", "", "", "", "cbf"},
		{"emergency", "", "", "", "cbf"},
		{"emergency_vehicle", "", "", "", "cbf"},
		{"agricultural", "", "", "", "cbf"},
		{"forestry", "", "", "", "cbf"},
		{"military", "", "", "", "cbf"},
		{"hgv", "", "", "", "cbf"},
		{"moped", "", "", "", "cbf"},
		{"horse", "", "", "", "cbf"},
		{"disabled", "", "", "", "cbf"},
		{"foot", "f", "f", "f", "cb"},
		{"bicycle", "b", "b", "b", "cf"},
		{"motorcar", "c", "c", "c", "bf"},
		{"motor_vehicle", "c", "c", "c", "bf"},
		{"vehicle", "cb", "cb", "cb", "f"},
		{"dismount", "cf", "cf", "f", ""},
		{"discouraged", "cbf", "cbf", "f", ""},
		{"unheard_of", "cbf", "cbf", "f", ""},

		// Of several each counts.
		{"no;destination", "CBF", "CBF", "F", ""},
		{"agricultural;forestry", "", "", "", "cbf"},
		{"psv; taxi", "", "", "", "cbf"},
		{"psv;yes", "cbf", "cbf", "cbf", ""},
		{"taxi;bicycle", "b", "b", "b", "cf"},
		{"private;destination", "CBF", "CBF", "F", ""},
		{"private;customers", "CBF", "CBF", "F", ""},
		{"private;residents", "P", "P", "", "bf"},
		{"private;agricultural", "P", "P", "", "bf"},
		{"foot;bicycle;emergency", "bf", "bf", "bf", "c"},
		{"unheard_of;no", "", "", "", "cbf"},
		{";", "cbf", "cbf", "f", ""},
	}
	rights := func(all ...osm.Tag) rights {
		forward, backward := accessOf(tags.Of(all))
		if forward != backward {
			t.Errorf("%v: %+v and %+v", all, forward, backward)
		}
		return forward
	}
	for _, test := range tests {
		street := rights(osm.Tag{Key: "highway", Value: "residential"}, osm.Tag{Key: "access", Value: test.value})
		if street != rightsOf(test.street) {
			t.Errorf("access=%s on a street: %+v, want %q", test.value, street, test.street)
		}
		service := rights(osm.Tag{Key: "highway", Value: "service"}, osm.Tag{Key: "access", Value: test.value})
		if service != rightsOf(test.service) {
			t.Errorf("access=%s on a service road: %+v, want %q", test.value, service, test.service)
		}
		footway := rights(osm.Tag{Key: "highway", Value: "footway"}, osm.Tag{Key: "motor_vehicle", Value: test.value},
			osm.Tag{Key: "bicycle", Value: test.value}, osm.Tag{Key: "foot", Value: test.value})
		if footway != rightsOf(test.footway) {
			t.Errorf("%s by every mode's key on a footway: %+v, want %q", test.value, footway, test.footway)
		}
		gate := Stops(tags.Of(osm.Tags{{Key: "barrier", Value: "gate"}, {Key: "access", Value: test.value}}))
		if gate != modesIn(test.gate) {
			t.Errorf("access=%s on a gate stops %03b, want %q", test.value, gate, test.gate)
		}
	}
}

// TestDestinationOnly: which roads are no through roads, and in which direction.
func TestDestinationOnly(t *testing.T) {
	tests := []struct{ tags, forward, backward string }{
		{"highway=residential", "cbf", "cbf"},
		{"highway=residential access=destination foot=yes", "CBf", "CBf"},
		{"highway=residential vehicle=destination bicycle=yes", "Cbf", "Cbf"},
		{"highway=residential motor_vehicle=destination", "Cbf", "Cbf"},
		{"highway=residential access=no motor_vehicle=destination", "C", "C"},
		{"highway=residential access=destination motorcar=yes", "cBF", "cBF"},
		{"highway=residential motor_vehicle:backward=destination", "cbf", "Cbf"},
		{"highway=residential oneway=yes access=destination", "CBF", "F"},
		{"highway=pedestrian motor_vehicle=destination", "f", "f"},
		{"highway=track motor_vehicle=destination", "bf", "bf"},
		{"highway=secondary hov=designated", "Cbf", "Cbf"},
		{"highway=motorway hov:lanes=designated|designated", "C", ""},
		{"highway=motorway hov:lanes=designated|yes", "c", ""},
		{"highway=secondary hov:lanes:backward=designated", "cbf", "Cbf"},
		{"highway=residential motor_vehicle=no hov=designated", "bf", "bf"},
		{"route=ferry access=private", "P", "P"},
		{"highway=service access=private", "P", "P"},
		{"highway=residential access=private motor_vehicle=destination", "C", "C"},
		{"highway=residential motor_vehicle:backward=private", "cbf", "Pbf"},
		{"highway=residential access=private hov=designated", "P", "P"},
		{"highway=primary construction=yes motor_vehicle=destination", "C", "C"},
	}
	for _, test := range tests {
		forward, backward := accessOf(tagsOf(test.tags))
		if forward != rightsOf(test.forward) || backward != rightsOf(test.backward) {
			t.Errorf("%s: %+v and %+v, want %q and %q", test.tags, forward, backward, test.forward, test.backward)
		}
	}
}
