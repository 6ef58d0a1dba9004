package tiles_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/tiles/schema"
)

// The parts of the style specification that are in use: the properties of each type of layer, and the operators of
// expressions with the least number of their arguments.
var (
	properties = map[string]map[string]string{
		"background": {"background-color": "color"},
		"fill":       {"fill-color": "color", "fill-opacity": "number", "fill-outline-color": "color"},
		"line":       {"line-color": "color", "line-width": "number", "line-dasharray": "array"},
		"circle": {"circle-radius": "number", "circle-color": "color", "circle-stroke-color": "color",
			"circle-stroke-width": "number", "circle-opacity": "number", "circle-stroke-opacity": "number"},
	}
	layouts   = map[string][]string{"line-cap": {"butt", "round", "square"}, "line-join": {"bevel", "round", "miter"}}
	operators = map[string]int{"==": 2, "!": 1, "all": 1, "in": 2, "get": 1, "literal": 1, "geometry-type": 0,
		"interpolate": 4, "exponential": 1, "linear": 0, "zoom": 0}
	color = regexp.MustCompile(`^#[0-9a-f]{6}$`)
)

// A style follows the specification, shows layers and kinds that the tiles have, and needs nothing else.
func TestStyle(t *testing.T) {
	server, _, _ := start(t, "")
	var s struct {
		Version int
		Name    string
		Center  [2]float64
		Zoom    float64
		Sources map[string]struct{ Type, URL string }
		Layers  []struct {
			ID, Type, Source string
			SourceLayer      string `json:"source-layer"`
			Filter           any
			Paint            map[string]any
			Layout           map[string]string
			MinZoom          float64
		}
	}
	dec := json.NewDecoder(strings.NewReader(server.Do("GET", "/tiles/village/style.json", "", "").Body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		t.Fatal(err)
	}
	if source := s.Sources["map"]; s.Version != 8 || len(s.Sources) != 1 || source.Type != "vector" ||
		source.URL != server.URL+"/tiles/village.json" {
		t.Errorf("version %d, sources %v", s.Version, s.Sources)
	}
	var described struct{ Center [3]float64 }
	if err := json.Unmarshal([]byte(server.Do("GET", "/tiles/village.json", "", "").Body), &described); err != nil ||
		described.Center != [3]float64{s.Center[0], s.Center[1], s.Zoom} || s.Zoom == 0 {
		t.Errorf("%v, zoom %v; the map's TileJSON: %v, %v", s.Center, s.Zoom, described, err)
	}
	kinds := map[string][]string{}
	for l := schema.Earth; l <= schema.Pois; l++ {
		kinds[l.String()] = schema.Kinds(l)
	}
	drawn, ids := map[string]bool{}, map[string]bool{}
	for _, l := range s.Layers {
		if ids[l.ID] || properties[l.Type] == nil || (l.Type == "background") != (l.Source == "") ||
			l.SourceLayer != "" && kinds[l.SourceLayer] == nil {
			t.Errorf("%+v is twice there, or of an unknown type or layer", l)
		}
		ids[l.ID], drawn[l.SourceLayer] = true, true
		checkExpression(t, l.ID, l.Filter, kinds[l.SourceLayer])
		for name, value := range l.Paint {
			text, isText := value.(string)
			list, isList := value.([]any)
			switch properties[l.Type][name] {
			case "color":
				isText = isText && color.MatchString(text)
			case "number":
				_, number := value.(float64)
				isText = number || isList
				checkExpression(t, l.ID+" "+name, value, nil)
			case "array":
				isText = isList && !slices.ContainsFunc(list, func(v any) bool { _, ok := v.(float64); return !ok })
			default:
				isText = false
			}
			if !isText {
				t.Errorf("%s: %s is %v", l.ID, name, value)
			}
		}
		for name, value := range l.Layout {
			if l.Type != "line" || !slices.Contains(layouts[name], value) {
				t.Errorf("%s: %s is %v", l.ID, name, value)
			}
		}
	}
	for _, layer := range []string{"earth", "water", "landuse", "buildings", "roads", "boundaries", "places"} {
		if !drawn[layer] {
			t.Errorf("%s is not drawn", layer)
		}
	}
}

// checkExpression checks operators, the order of stops, and that a layer has the kinds of its filter.
func checkExpression(t *testing.T, where string, value any, kinds []string) {
	t.Helper()
	e, ok := value.([]any)
	if !ok {
		return
	}
	operator, _ := e[0].(string)
	if least, known := operators[operator]; !known || len(e)-1 < least {
		t.Errorf("%s: %v", where, e)
		return
	}
	switch operator {
	case "literal":
		return
	case "in":
		if e[1].([]any)[1] == "kind" {
			for _, kind := range e[2].([]any)[1].([]any) {
				if !slices.Contains(kinds, kind.(string)) {
					t.Errorf("%s: the layer has no kind %v", where, kind)
				}
			}
		}
	case "interpolate":
		for i, last := 3, -1.0; i < len(e); i += 2 {
			zoom, ok := e[i].(float64)
			if !ok || zoom <= last || i+1 == len(e) {
				t.Errorf("%s: the stops are not in order: %v", where, e)
			}
			last = zoom
		}
	}
	for _, part := range e[1:] {
		checkExpression(t, where, part, kinds)
	}
}
