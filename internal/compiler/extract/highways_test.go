package extract

import (
	"testing"

	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

func TestNoRoads(t *testing.T) {
	for _, tags := range []string{
		"", "building=yes", "highway=construction construction=primary", "highway=proposed", "highway=bus_stop",
		"highway=services", "highway=rest_area", "route=bus", "railway=rail", "highway=raceway",
		"highway=abandoned route=ferry",
		"highway=services access=yes", "highway=construction motor_vehicle=yes", "route=train", "leisure=pitch",
		"man_made=bridge",
		"highway=winter_road", "highway=ice_road", "highway=winter_road motor_vehicle=yes", "highway=primary winter_road=yes",
		"highway=unclassified ice_road=yes", "highway=track ice_road=yes foot=yes", "route=ferry winter_road=yes",
		"highway=primary construction=yes", "highway=primary construction=primary", "highway=footway construction=yes",
		"route=ferry construction=yes", "highway=proposed proposed=secondary", "highway=residential impassable=yes",
		"highway=path status=impassable",
	} {
		if r, ok := roadOf(tagsOf(tags)); ok {
			t.Errorf("%s: %+v", tags, r)
		}
	}
	for _, tags := range []string{
		"highway=primary construction=no", "highway=primary construction=minor", "highway=primary construction=widening",
		"highway=primary winter_road=no ice_road=no", "highway=primary proposed=no",
		"highway=primary proposed=yes", "highway=tertiary proposed=secondary", "highway=primary status=passable",
	} {
		if r, ok := roadOf(tagsOf(tags)); !ok || r.Forward != everyone || r.Backward != everyone {
			t.Errorf("%s: %+v", tags, r)
		}
	}
}

func TestRoadClasses(t *testing.T) {
	tests := []struct {
		tags  string
		class mapdata.RoadClass
		link  bool
	}{
		{"highway=motorway", mapdata.Motorway, false}, {"highway=motorway_link", mapdata.Motorway, true},
		{"highway=trunk_link", mapdata.Trunk, true},
		{"highway=primary", mapdata.Primary, false}, {"highway=secondary_link", mapdata.Secondary, true},
		{"highway=tertiary", mapdata.Tertiary, false},
		{"highway=road", mapdata.Unclassified, false}, {"highway=residential", mapdata.Residential, false},
		{"highway=living_street", mapdata.LivingStreet, false}, {"highway=service", mapdata.Service, false},
		{"highway=track", mapdata.Track, false},
		{"highway=bus_guideway", mapdata.BusWay, false}, {"highway=cycleway", mapdata.Cycleway, false},
		{"highway=steps", mapdata.Footway, false},
		{"highway=path", mapdata.Footway, false}, {"route=ferry", mapdata.Ferry, false},
		{"route=shuttle_train", mapdata.Ferry, false}, {"man_made=pier", mapdata.Footway, false},
		{"railway=platform", mapdata.Footway, false},
		{"highway=runway", mapdata.Unclassified, false},
	}
	for _, test := range tests {
		if h, ok := highwayOf(tagsOf(test.tags)); !ok || h.class != test.class || h.link != test.link {
			t.Errorf("%s: %+v", test.tags, h)
		}
	}
}
