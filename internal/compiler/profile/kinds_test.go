package profile

import (
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

func TestRoadClasses(t *testing.T) {
	for class, all := range map[region.RoadClass][]string{
		region.Motorway:     {"highway=motorway", "highway=motorway_link"},
		region.Trunk:        {"highway=trunk_link", "highway=construction construction=trunk_link motor_vehicle=yes"},
		region.Primary:      {"highway=primary"},
		region.Secondary:    {"highway=secondary_link"},
		region.Tertiary:     {"highway=tertiary"},
		region.Unclassified: {"highway=road", "highway=winter_road", "highway=ice_road", "highway=runway access=yes"},
		region.Residential:  {"highway=residential"},
		region.LivingStreet: {"highway=living_street"},
		region.Service:      {"highway=service"},
		region.Track:        {"highway=track"},
		region.BusWay:       {"highway=bus_guideway foot=yes"},
		region.Cycleway:     {"highway=cycleway"},
		region.Footway:      {"highway=steps", "highway=path", "man_made=pier", "railway=platform"},
		region.Ferry:        {"route=ferry", "route=shuttle_train"},
	} {
		for _, tags := range all {
			link := strings.Contains(tags, "_link")
			if r, ok := RoadOf(tagsOf(tags)); !ok || r.Class != class || r.Flags.Has(roadgraph.Link) != link {
				t.Errorf("%s: %+v", tags, r)
			}
		}
	}
}

func TestIsOutOfUse(t *testing.T) {
	for tags, want := range map[string]bool{
		"construction=yes": true, "construction=minor": false, "winter_road=yes": true, "ice_road=no": false,
		"impassable=yes": true, "status=impassable": true, "proposed=primary": false, "highway=construction": false,
		"highway=primary construction=yes motor_vehicle=yes": true, "highway=winter_road ice_road=yes": false,
	} {
		if got := IsOutOfUse(tagsOf(tags)); got != want {
			t.Errorf("%s: %v", tags, got)
		}
	}
}
