package tiles

import "github.com/mapsedge/caddy-maps/internal/tiles/schema"

// style is a MapLibre style (https://maplibre.org/maplibre-style-spec/). It has no glyphs and no sprite, which this
// server does not serve, and therefore neither labels nor symbols.
type style struct {
	Version int                    `json:"version"`
	Name    string                 `json:"name"`
	Center  [2]float64             `json:"center"` // longitude, latitude; where a map begins
	Zoom    float64                `json:"zoom"`
	Sources map[string]styleSource `json:"sources"`
	Layers  []styleLayer           `json:"layers"`
}

type styleSource struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// object is a JSON object, and expression a JSON array.
type (
	object     = map[string]any
	expression = []any
)

type styleLayer struct {
	ID          string     `json:"id"`
	Type        string     `json:"type"`
	Source      string     `json:"source,omitempty"`
	SourceLayer string     `json:"source-layer,omitempty"`
	MinZoom     float64    `json:"minzoom,omitempty"`
	Filter      expression `json:"filter,omitempty"`
	Layout      object     `json:"layout,omitempty"`
	Paint       object     `json:"paint"`
}

const sourceName = "map"

// newStyle returns a light style for the map whose TileJSON is at an address.
func newStyle(name, tileJSON string) *style {
	s := &style{Version: 8, Name: name, Sources: map[string]styleSource{sourceName: {"vector", tileJSON}}}
	s.Layers = append(s.Layers,
		styleLayer{ID: "background", Type: "background", Paint: object{"background-color": "#e6e9eb"}})
	s.areas()
	s.roads()
	s.lines()
	return s
}

func (s *style) add(id, kind string, of schema.Layer, filter expression, paint object) *styleLayer {
	s.Layers = append(s.Layers, styleLayer{ID: id, Type: kind, Source: sourceName, SourceLayer: of.String(),
		Filter: filter, Paint: paint})
	return &s.Layers[len(s.Layers)-1]
}

// isIn is a filter for features whose attribute has one of some values.
func isIn(attribute string, values ...string) expression {
	return expression{"in", expression{"get", attribute}, expression{"literal", values}}
}

var (
	areas       = expression{"==", expression{"geometry-type"}, "Polygon"}
	linesOnly   = expression{"==", expression{"geometry-type"}, "LineString"}
	intermitted = expression{"==", expression{"get", "intermittent"}, true}
)

// width is the width of a line in pixels, as pairs of a zoom and a width.
func width(stops ...any) expression {
	return append(expression{"interpolate", expression{"exponential", 1.6}, expression{"zoom"}}, stops...)
}

func (s *style) areas() {
	s.add("earth", "fill", schema.Earth, areas, object{"fill-color": "#f7f5f0"})
	for _, use := range []struct {
		id, color string
		kinds     []string
	}{
		{"built-up", "#efebe4", []string{"residential", "neighbourhood", "commercial", "industrial", "railway", "military"}},
		{"public", "#ece6ef", []string{"hospital", "school", "college", "university", "kindergarten", "library"}},
		{"farmland", "#f1efdd", []string{"farmland", "farmyard", "orchard"}},
		{"grass", "#dfeccd", []string{"grass", "meadow", "recreation_ground", "golf_course", "cemetery", "garden",
			"dog_park", "camp_site"}},
		{"park", "#d3e8c4", []string{"park", "zoo", "national_park", "nature_reserve", "protected_area", "playground"}},
		{"wood", "#c9e0bb", []string{"wood", "forest", "scrub"}},
		{"wetland", "#d9e8e0", []string{"wetland"}},
		{"sand", "#f4ecd2", []string{"beach", "sand"}},
		{"rock", "#e8e6e3", []string{"bare_rock", "glacier"}},
		{"pitch", "#cfe6c9", []string{"pitch", "stadium"}},
		{"airport", "#e9e8ee", []string{"aerodrome"}},
		{"paved", "#f2f0ee", []string{"pedestrian", "footway", "pier", "platform", "runway", "taxiway"}},
	} {
		s.add("landuse-"+use.id, "fill", schema.Landuse, isIn("kind", use.kinds...),
			object{"fill-color": use.color, "fill-opacity": 0.9})
	}
	s.add("water", "fill", schema.Water, areas, object{"fill-color": "#a9d3e8"})
	for _, river := range []struct {
		id     string
		filter expression
		dashes expression
	}{
		{"waterway", expression{"all", linesOnly, expression{"!", intermitted}}, nil},
		{"waterway-intermittent", expression{"all", linesOnly, intermitted}, expression{3, 2}},
	} {
		paint := object{"line-color": "#a9d3e8", "line-width": width(9, 0.6, 14, 1.6, 18, 8)}
		if river.dashes != nil {
			paint["line-dasharray"] = river.dashes
		}
		s.add(river.id, "line", schema.Water, river.filter, paint)
	}
	s.add("buildings", "fill", schema.Buildings, isIn("kind", "building", "building_part"),
		object{"fill-color": "#e0dad2", "fill-outline-color": "#cfc7bd"}).MinZoom = 13
}

// roads draws all casings below all roads, so that there is no border between roads that meet.
func (s *style) roads() {
	s.add("paths", "line", schema.Roads, isIn("kind", "path", "pier"),
		object{"line-color": "#d2bfa6", "line-width": width(13, 0.6, 18, 4), "line-dasharray": expression{3, 1.5}})
	classes := []struct {
		id, color, casing string
		filter            expression
		minZoom           float64
		width, wider      expression
	}{
		{"aeroway", "#d9d8de", "#d9d8de", isIn("kind", "aeroway"), 9,
			width(9, 0.6, 13, 4, 18, 40), width(9, 0.6, 13, 4, 18, 40)},
		{"service", "#ffffff", "#dcd7d0", isIn("kind_detail", "service"), 13,
			width(13, 0.5, 16, 3, 18, 10), width(13, 1, 16, 4.2, 18, 12)},
		{"minor", "#ffffff", "#d6d0c8", expression{"all", isIn("kind", "minor_road"),
			expression{"!", isIn("kind_detail", "service")}}, 12,
			width(12, 0.6, 14, 2, 18, 18), width(12, 1.2, 14, 3.2, 18, 20)},
		{"tertiary", "#ffffff", "#cfc8be", isIn("kind_detail", "tertiary", "tertiary_link"), 9,
			width(9, 0.5, 12, 1.6, 14, 3.6, 18, 22), width(9, 0.9, 12, 2.6, 14, 5, 18, 25)},
		{"secondary", "#fdf3cf", "#d8c48e", isIn("kind_detail", "secondary", "secondary_link"), 9,
			width(9, 0.7, 12, 2.2, 14, 4.4, 18, 24), width(9, 1.2, 12, 3.2, 14, 5.8, 18, 27)},
		{"primary", "#fbe6a8", "#d6b765", isIn("kind_detail", "primary", "primary_link"), 7,
			width(7, 0.6, 9, 1.2, 12, 2.8, 14, 5, 18, 26), width(7, 1, 9, 1.9, 12, 4, 14, 6.6, 18, 29)},
		{"trunk", "#f9d491", "#cf9f4e", isIn("kind_detail", "trunk", "trunk_link"), 6,
			width(6, 0.7, 9, 1.6, 12, 3.2, 14, 5.4, 18, 28), width(6, 1.1, 9, 2.4, 12, 4.6, 14, 7.2, 18, 31)},
		{"motorway", "#f3b96f", "#c9853a", isIn("kind", "highway"), 3,
			width(3, 0.5, 6, 1, 9, 2, 12, 3.6, 14, 6, 18, 30), width(3, 0.8, 6, 1.6, 9, 3, 12, 5.2, 14, 8, 18, 34)},
	}
	for _, cased := range []bool{true, false} {
		for _, class := range classes {
			id, paint := "road-"+class.id, object{"line-color": class.color, "line-width": class.width}
			if cased {
				id, paint = id+"-casing", object{"line-color": class.casing, "line-width": class.wider}
			}
			l := s.add(id, "line", schema.Roads, class.filter, paint)
			l.MinZoom, l.Layout = class.minZoom, object{"line-cap": "round", "line-join": "round"}
		}
	}
}

func (s *style) lines() {
	s.add("rail", "line", schema.Roads, isIn("kind", "rail"),
		object{"line-color": "#b3aeb0", "line-width": width(11, 0.6, 14, 1.4, 18, 4)})
	s.add("rail-ties", "line", schema.Roads, isIn("kind", "rail"), object{"line-color": "#ffffff",
		"line-width": width(14, 0.7, 18, 2.4), "line-dasharray": expression{4, 4}}).MinZoom = 14
	s.add("ferry", "line", schema.Roads, isIn("kind", "ferry", "aerialway"),
		object{"line-color": "#7aa7c4", "line-width": width(8, 0.6, 16, 1.6), "line-dasharray": expression{3, 2}})
	s.add("boundary-local", "line", schema.Boundaries, isIn("kind", "county", "locality"),
		object{"line-color": "#b9a9b9", "line-width": width(8, 0.5, 16, 1.2), "line-dasharray": expression{2, 2}})
	s.add("boundary-country", "line", schema.Boundaries, isIn("kind", "country", "region"),
		object{"line-color": "#9c8aa0", "line-width": width(3, 0.7, 10, 1.6, 16, 3), "line-dasharray": expression{5, 2}})
	s.add("places", "circle", schema.Places, isIn("kind", "locality"), object{"circle-radius": 2.5,
		"circle-color": "#ffffff", "circle-stroke-color": "#6d6570", "circle-stroke-width": 1.2,
		"circle-opacity":        expression{"interpolate", expression{"linear"}, expression{"zoom"}, 12, 1, 13, 0},
		"circle-stroke-opacity": expression{"interpolate", expression{"linear"}, expression{"zoom"}, 12, 1, 13, 0}})
}
