package extract

import (
	"testing"

	"github.com/mapsedge/caddy-maps/internal/mapdata"

	"github.com/paulmach/orb"
)

func TestDescribesArea(t *testing.T) {
	tests := []struct {
		tags string
		want bool
	}{
		{"building=yes", true}, {"building=no", false}, {"building:part=yes", true}, {"addr:housenumber=5", true},
		{"amenity=school", true}, {"amenity=school barrier=fence", true}, {"leisure=park", true}, {"leisure=track", true},
		{"leisure=slipway", false}, {"shop=mall", true}, {"tourism=zoo", true}, {"historic=castle", true},
		{"office=company", true},
		{"craft=brewery", true}, {"landuse=forest", true}, {"place=island", true}, {"boundary=administrative", true},
		{"natural=water", true}, {"natural=coastline", false}, {"natural=cliff", false}, {"natural=tree_row", false},
		{"highway=residential", false}, {"highway=pedestrian", false}, {"highway=pedestrian area=yes", true},
		{"highway=services", false}, {"highway=services area=yes", true}, {"area=yes highway=footway", true},
		{"building=yes highway=corridor", false}, {"barrier=wall", false}, {"barrier=hedge area=yes", true},
		{"railway=rail", false}, {"railway=station", true}, {"waterway=river", false}, {"waterway=riverbank", true},
		{"power=line", false}, {"power=substation", true}, {"aeroway=aerodrome", true}, {"aeroway=taxiway", false},
		{"man_made=pier", true}, {"man_made=pipeline", false}, {"amenity=parking area=no", false}, {"route=ferry", false},
		{"area=yes", true}, {"name=Nothing", false}, {"", false},
	}
	for _, test := range tests {
		if got := describesArea(tagsOf(test.tags)); got != test.want {
			t.Errorf("%s: %v, want %v", test.tags, got, test.want)
		}
	}
}

func TestWayShapes(t *testing.T) {
	s := sketch{nodes: grid(), ways: []sketchWay{
		{1, []int64{0, 1, 11, 10, 0}, "name=Park leisure=park"},
		{2, []int64{0, 10, 11, 1, 0}, "name=Clockwise leisure=park"},
		{3, []int64{0, 1, 11, 10, 0}, "name=Ring highway=residential"},
		{4, []int64{0, 1, 11, 10, 0}, "name=Square highway=pedestrian area=yes"},
		{5, []int64{0, 1, 11}, "name=Open leisure=park"},
		{6, []int64{0, 1, 0}, "name=Flat leisure=park"},
		{7, []int64{0, 1, 1, 2}, "name=Repeated highway=path"},
		{8, []int64{0, 0}, "name=Nowhere highway=path"},
		{9, []int64{0, 1, 999, 2, 3, 4}, "name=Gap waterway=river"},
		{10, []int64{0, 1, 999, 10, 0}, "name=Corner leisure=park"},
		{11, []int64{0}, "name=Stub highway=path"},
	}}
	d := s.read(t)
	tests := []struct {
		id     int64
		kind   string // "" for none
		points int
	}{
		{1, "Polygon", 5}, {2, "Polygon", 5}, {3, "LineString", 5}, {4, "Polygon", 5}, {5, "LineString", 3},
		{6, "LineString", 3}, {7, "LineString", 3}, {8, "", 0}, {9, "LineString", 3}, {10, "", 0}, {11, "", 0},
	}
	for _, test := range tests {
		f := d.feature(mapdata.KindWay, test.id)
		if f == nil {
			if test.kind != "" {
				t.Errorf("way %d is missing", test.id)
			}
			continue
		}
		points := 0
		switch g := f.Geometry.(type) {
		case orb.LineString:
			points = len(g)
		case orb.Polygon:
			points = len(g[0])
			checkRings(t, orb.MultiPolygon{g})
		}
		if kind := f.Geometry.GeoJSONType(); kind != test.kind || points != test.points {
			t.Errorf("way %d: %s of %d points, want %s of %d", test.id, kind, points, test.kind, test.points)
		}
	}
	if d.Counts.MissingNodes != 2 || d.Counts.BrokenAreas != 1 {
		t.Errorf("counts: %+v", d.Counts)
	}
}
