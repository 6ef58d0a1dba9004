package profile

import (
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

func TestNoRoads(t *testing.T) {
	for _, tags := range []string{
		"", "building=yes", "highway=construction construction=primary", "highway=proposed", "highway=bus_stop",
		"highway=services", "highway=rest_area", "route=bus", "railway=rail", "highway=raceway",
		"highway=abandoned route=ferry",
		"highway=services access=yes", "highway=construction motor_vehicle=yes", "route=train", "leisure=pitch",
		"man_made=bridge",
		"highway=primary winter_road=yes", "highway=construction construction=minor", "highway=pier",
		"highway=unclassified ice_road=yes", "highway=track ice_road=yes foot=yes", "route=ferry winter_road=yes",
		"highway=primary construction=yes", "highway=primary construction=primary", "highway=footway construction=yes",
		"route=ferry construction=yes", "highway=proposed proposed=secondary", "highway=residential impassable=yes",
		"highway=path status=impassable",
	} {
		if r, ok := RoadOf(tagsOf(tags)); ok {
			t.Errorf("%s: %+v", tags, r)
		}
	}
	for _, tags := range []string{
		"highway=primary construction=no", "highway=primary construction=minor", "highway=primary construction=widening",
		"highway=primary winter_road=no ice_road=no", "highway=primary proposed=no",
		"highway=primary proposed=yes", "highway=tertiary proposed=secondary", "highway=primary status=passable",
	} {
		if r, ok := RoadOf(tagsOf(tags)); !ok || r.Forward != everyone || r.Backward != everyone {
			t.Errorf("%s: %+v", tags, r)
		}
	}
}

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

// TestOutlines: whom the outline of a relation is open to.
func TestOutlines(t *testing.T) {
	for tags, modes := range map[string]string{
		"type=multipolygon highway=pedestrian": "f", "type=multipolygon highway=service area=yes": "bf",
		"type=multipolygon highway=pedestrian access=private": "", "type=multipolygon landuse=grass": "",
		"type=multipolygon highway=construction construction=pedestrian": "",
		"type=multipolygon highway=service area=no":                      "cbf",
	} {
		r, ok := RoadOf(tagsOf(tags))
		if r.Forward != modesIn(modes) || r.Backward != modesIn(modes) || ok != (modes != "") {
			t.Errorf("%s: %+v, %v", tags, r, ok)
		}
	}
}
