package profile

import (
	"strings"
	"testing"

	"github.com/paulmach/osm"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// rightsOf reads "cbf" for modes to which a road is open, in capitals where only to those who have a destination there;
// P means cars on a private road.
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
	for _, test := range []struct {
		street, service, footway, gate string
		values                         []string
	}{
		{"cbf", "cbf", "cbf", "", []string{"yes", "permissive", "designated", "public"}},
		{"CBF", "CBF", "F", "", []string{"destination", "customers", "visitors"}},
		{"P", "P", "", "bf", []string{"private", "permit", "residents", "employees", "delivery"}},
		{"C", "C", "", "bf", []string{"hov"}},
		{"", "", "", "cbf", []string{"no", "taxi", "share_taxi", "minibus", "bus", "psv", "emergency", "emergency_vehicle", "agricultural", "forestry",
			"military", "hgv", "moped", "horse", "disabled"}},
		{"", "", "bf", "cbf", []string{"official"}},
		{"f", "f", "f", "cb", []string{"foot"}},
		{"b", "b", "b", "cf", []string{"bicycle"}},
		{"c", "c", "c", "bf", []string{"motorcar", "motor_vehicle"}},
		{"cb", "cb", "cb", "f", []string{"vehicle"}},
		{"cf", "cf", "f", "", []string{"dismount"}},
		{"cbf", "cbf", "f", "", []string{"discouraged", "unheard_of"}},
		// Of several each counts.
		{"CBF", "CBF", "F", "", []string{"no;destination", "private;destination", "private;customers"}},
		{"", "", "", "cbf", []string{"agricultural;forestry", "psv; taxi", "unheard_of;no"}},
		{"cbf", "cbf", "cbf", "", []string{"psv;yes"}},
		{"b", "b", "b", "cf", []string{"taxi;bicycle"}},
		{"P", "P", "", "bf", []string{"private;residents", "private;agricultural"}},
		{"bf", "bf", "bf", "c", []string{"foot;bicycle;emergency"}},
		{"cbf", "cbf", "f", "", []string{";"}},
	} {
		for _, value := range test.values {
			on := func(road string, keys ...string) rights {
				all := osm.Tags{{Key: "highway", Value: road}}
				for _, key := range keys {
					all = append(all, osm.Tag{Key: key, Value: value})
				}
				forward, backward := accessOf(tags.Of(all))
				if forward != backward {
					t.Errorf("%v: %+v and %+v", all, forward, backward)
				}
				return forward
			}
			got := [...]rights{on("residential", "access"), on("service", "access"), on("footway", "motor_vehicle", "bicycle", "foot")}
			if got != [...]rights{rightsOf(test.street), rightsOf(test.service), rightsOf(test.footway)} {
				t.Errorf("%s on a street, a service road and a footway: %+v, want %+v", value, got, test)
			}
			if gate := Stops(tags.Of(osm.Tags{{Key: "barrier", Value: "gate"}, {Key: "access", Value: value}})); gate != modesIn(test.gate) {
				t.Errorf("access=%s on a gate stops %03b, want %q", value, gate, test.gate)
			}
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
