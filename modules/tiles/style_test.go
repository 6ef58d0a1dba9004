package tiles_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/tiles/schema"
)

// rules are what the style specification has for the parts that are in use: the types of layers with their properties,
// and the operators of expressions with the least number of their arguments.
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

// A style is as the specification has it, shows layers and kinds that the tiles have, and needs nothing else.
func TestStyle(t *testing.T) {
	server, _, _ := start(t, "")
	text := server.Do("GET", "/tiles/village/style.json", "", "").Body
	var s struct {
		Version int
		Name    string
		Sources map[string]map[string]any
		Layers  []map[string]any
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		t.Fatal(err)
	}
	if source := s.Sources["map"]; s.Version != 8 || len(s.Sources) != 1 || source["type"] != "vector" ||
		source["url"] != server.URL+"/tiles/village.json" {
		t.Errorf("version %d, sources %v", s.Version, s.Sources)
	}
	drawn, ids := map[string]bool{}, map[string]bool{}
	for _, l := range s.Layers {
		id := l["id"].(string)
		kind := l["type"].(string)
		if ids[id] || properties[kind] == nil || (kind == "background") != (l["source"] == nil) {
			t.Errorf("%s is twice there, or of type %s, or of source %v", id, kind, l["source"])
		}
		ids[id] = true
		if of, ok := l["source-layer"].(string); ok {
			drawn[of] = true
			checkFilter(t, id, of, l["filter"])
		}
		for name, value := range l["paint"].(map[string]any) {
			checkValue(t, id+" "+name, properties[kind][name], value)
		}
		for name, value := range asObject(l["layout"]) {
			if kind != "line" || !slices.Contains(layouts[name], value.(string)) {
				t.Errorf("%s: %s is %v", id, name, value)
			}
		}
	}
	for _, layer := range []string{"earth", "water", "landuse", "buildings", "roads", "boundaries", "places"} {
		if !drawn[layer] {
			t.Errorf("%s is not drawn", layer)
		}
		delete(drawn, layer)
	}
	if len(drawn) > 0 {
		t.Errorf("there are no layers %v", drawn)
	}
}

func asObject(value any) map[string]any {
	object, _ := value.(map[string]any)
	return object
}

// checkFilter looks at a filter, whose kinds the layer has to have.
func checkFilter(t *testing.T, id, of string, filter any) {
	t.Helper()
	checkExpression(t, id, filter)
	known := map[string][]string{}
	for l := schema.Earth; l <= schema.Pois; l++ {
		known[l.String()] = schema.Kinds(l)
	}
	for _, e := range inExpressions(filter) {
		if e[1].([]any)[1] != "kind" {
			continue
		}
		for _, kind := range e[2].([]any)[1].([]any) {
			if !slices.Contains(known[of], kind.(string)) {
				t.Errorf("%s: layer %s has no kind %v", id, of, kind)
			}
		}
	}
}

// inExpressions are those of the operator "in".
func inExpressions(value any) (found [][]any) {
	e, ok := value.([]any)
	if !ok || len(e) == 0 {
		return nil
	}
	if e[0] == "in" {
		return [][]any{e}
	}
	for _, part := range e[1:] {
		found = append(found, inExpressions(part)...)
	}
	return found
}

func checkExpression(t *testing.T, where string, value any) {
	t.Helper()
	e, ok := value.([]any)
	if !ok {
		return
	}
	operator, _ := e[0].(string)
	least, known := operators[operator]
	if !known || len(e)-1 < least {
		t.Errorf("%s: %v", where, e)
		return
	}
	switch operator {
	case "literal":
		return
	case "interpolate":
		last := -1.0
		for i := 3; i < len(e); i += 2 {
			if zoom, ok := e[i].(float64); !ok || zoom <= last || i+1 == len(e) {
				t.Errorf("%s: the stops are not in order: %v", where, e)
			} else {
				last = zoom
			}
		}
	}
	for _, part := range e[1:] {
		checkExpression(t, where, part)
	}
}

func checkValue(t *testing.T, where, kind string, value any) {
	t.Helper()
	switch kind {
	case "color":
		if text, ok := value.(string); !ok || !color.MatchString(text) {
			t.Errorf("%s: %v", where, value)
		}
	case "number":
		if _, ok := value.(float64); !ok {
			checkExpression(t, where, value)
		}
	case "array":
		for _, number := range value.([]any) {
			if _, ok := number.(float64); !ok {
				t.Errorf("%s: %v", where, value)
			}
		}
	default:
		t.Errorf("%s is no property", where)
	}
}
