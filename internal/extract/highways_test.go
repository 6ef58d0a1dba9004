package extract

import "testing"

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
		if r := newCollector(nil).road(1, tagsOf(tags)); r != nil {
			t.Errorf("%s: %+v", tags, r)
		}
	}
	for _, tags := range []string{
		"highway=primary construction=no", "highway=primary construction=minor", "highway=primary construction=widening",
		"highway=primary winter_road=no ice_road=no", "highway=primary proposed=no",
		"highway=primary proposed=yes", "highway=tertiary proposed=secondary", "highway=primary status=passable",
	} {
		if r := newCollector(nil).road(1, tagsOf(tags)); r == nil || r.Forward != everyone || r.Backward != everyone {
			t.Errorf("%s: %+v", tags, r)
		}
	}
}

func TestRoadClasses(t *testing.T) {
	tests := []struct {
		tags  string
		class RoadClass
		link  bool
	}{
		{"highway=motorway", Motorway, false}, {"highway=motorway_link", Motorway, true}, {"highway=trunk_link", Trunk, true},
		{"highway=primary", Primary, false}, {"highway=secondary_link", Secondary, true},
		{"highway=tertiary", Tertiary, false},
		{"highway=road", Unclassified, false}, {"highway=residential", Residential, false},
		{"highway=living_street", LivingStreet, false}, {"highway=service", Service, false}, {"highway=track", Track, false},
		{"highway=bus_guideway", BusWay, false}, {"highway=cycleway", Cycleway, false}, {"highway=steps", Footway, false},
		{"highway=path", Footway, false}, {"route=ferry", Ferry, false},
		{"route=shuttle_train", Ferry, false}, {"man_made=pier", Footway, false}, {"railway=platform", Footway, false},
		{"highway=runway", Unclassified, false},
	}
	for _, test := range tests {
		if h, ok := highwayOf(tagsOf(test.tags)); !ok || h.class != test.class || h.link != test.link {
			t.Errorf("%s: %+v", test.tags, h)
		}
	}
}
