package schema

import "strings"

// road is the schema's view of a value of highway.
type road struct {
	kind, detail string
	zoom         uint8
	name, ref    uint8 // the zooms from which it has its name and its shield
	link         bool
}

// roadKinds are the values of highway that are drawn.
var roadKinds = map[string]road{
	"motorway":       {kind: "highway", detail: "motorway", zoom: 3, name: 11, ref: 7},
	"motorway_link":  {kind: "highway", detail: "motorway_link", zoom: 7, name: 13, ref: 12, link: true},
	"trunk":          {kind: "major_road", detail: "trunk", zoom: 6, name: 11, ref: 8},
	"trunk_link":     {kind: "major_road", detail: "trunk_link", zoom: 7, name: 13, ref: 12, link: true},
	"primary":        {kind: "major_road", detail: "primary", zoom: 7, name: 11, ref: 10},
	"primary_link":   {kind: "major_road", detail: "primary_link", zoom: 9, name: 13, ref: 13, link: true},
	"secondary":      {kind: "major_road", detail: "secondary", zoom: 9, name: 12, ref: 11},
	"secondary_link": {kind: "major_road", detail: "secondary_link", zoom: 12, name: 13, ref: 13, link: true},
	"tertiary":       {kind: "major_road", detail: "tertiary", zoom: 9, name: 12, ref: 12},
	"tertiary_link":  {kind: "major_road", detail: "tertiary_link", zoom: 12, name: 13, ref: 13, link: true},
	"residential":    {kind: "minor_road", detail: "residential", zoom: 12, name: 14, ref: 13},
	"unclassified":   {kind: "minor_road", detail: "unclassified", zoom: 12, name: 14, ref: 13},
	"road":           {kind: "minor_road", detail: "road", zoom: 12, name: 14, ref: 13},
	"living_street":  {kind: "minor_road", detail: "residential", zoom: 12, name: 14, ref: 13},
	"raceway":        {kind: "minor_road", detail: "raceway", zoom: 12, name: 14, ref: 13},
	"service":        {kind: "minor_road", detail: "service", zoom: 13, name: 14, ref: 14},
	"busway":         {kind: "minor_road", detail: "service", zoom: 13, name: 14, ref: 14},
	"bus_guideway":   {kind: "minor_road", detail: "service", zoom: 13, name: 14, ref: 14},
	"track":          {kind: "path", detail: "track", zoom: 12, name: 14, ref: 14},
	"path":           {kind: "path", detail: "path", zoom: 12, name: 14, ref: 14},
	"cycleway":       {kind: "path", detail: "cycleway", zoom: 12, name: 14, ref: 14},
	"bridleway":      {kind: "path", detail: "bridleway", zoom: 12, name: 14, ref: 14},
	"pedestrian":     {kind: "path", detail: "pedestrian", zoom: 12, name: 14, ref: 14},
	"footway":        {kind: "path", detail: "path", zoom: 13, name: 14, ref: 14},
	"steps":          {kind: "path", detail: "steps", zoom: 13, name: 14, ref: 14},
	"corridor":       {kind: "path", detail: "corridor", zoom: 14, name: 14, ref: 14},
}

// railDetails are the values of railway on the map, with their kind_detail.
var railDetails = map[string]string{
	"rail": "", "disused": "disused", "funicular": "funicular", "light_rail": "light_rail", "miniature": "miniature",
	"monorail": "monorail", "narrow_gauge": "narrow_gauge", "preserved": "preserved", "subway": "subway", "tram": "tram",
}

const roadRank int64 = 400

func (v *values) roads(classes []Class) []Class {
	r, ok := v.road()
	if !ok {
		return classes
	}
	a := make(attrs, 0, 12)
	a.text("kind", r.kind, 0)
	a.text("kind_detail", r.detail, 0)
	a.add("min_zoom", int64(r.zoom)+1, 0)
	a.add("sort_rank", roadRank, 0)
	a.is("is_link", r.link, 0)
	a.is("is_bridge", truth(v.bridge), 12)
	a.is("is_tunnel", truth(v.tunnel), 12)
	switch v.oneway {
	case "yes", "true", "1":
		a.text("oneway", "yes", fullZoom)
	case "-1", "reverse":
		a.text("oneway", "-1", fullZoom)
	}
	if r.ref != 0 && v.ref != "" {
		a.text("ref", v.ref, r.ref)
		text, network := shield(v.ref)
		a.text("shield_text", text, r.ref)
		a.add("shield_text_length", int64(len([]rune(text))), r.ref)
		a.text("network", network, r.ref)
	}
	if r.kind == "rail" && (v.service == "siding" || v.service == "crossover" || v.service == "yard") {
		a.text("service", v.service, 0)
	}
	return append(classes, Class{Layer: Roads, Geometry: Line, MinZoom: r.zoom, NameZoom: r.name, Attrs: a.sorted()})
}

// road returns the class of a line in the roads layer.
func (v *values) road() (r road, ok bool) {
	if r, ok = roadKinds[v.highway]; ok {
		if v.highway == "footway" && (v.footway == "sidewalk" || v.footway == "crossing") {
			r.detail, r.zoom = v.footway, fullZoom
		}
		return r, true
	}
	if v.highway != "" {
		return r, false // planned, or no road
	}
	if detail, ok := railDetails[v.railway]; ok {
		r = road{kind: "rail", detail: detail, zoom: 11, name: fullZoom}
		if v.railway != "rail" || v.service != "" || v.usage == "industrial" {
			r.zoom = 13
		}
		return r, true
	}
	switch {
	case v.aeroway == "runway":
		return road{kind: "aeroway", detail: "runway", zoom: 9, name: fullZoom}, true
	case v.aeroway == "taxiway" || v.aeroway == "taxilane":
		return road{kind: "aeroway", detail: "taxiway", zoom: 11, name: fullZoom}, true
	case v.route == "ferry":
		return road{kind: "ferry", zoom: 8, name: 12}, true
	case v.aerialway == "cable_car":
		return road{kind: "aerialway", detail: "cable_car", zoom: 11, name: fullZoom}, true
	case aerialways[v.aerialway]:
		return road{kind: "aerialway", zoom: 11, name: fullZoom}, true
	case v.manMade == "pier":
		return road{kind: "pier", detail: "pier", zoom: 13, name: fullZoom}, true
	case v.leisure == "slipway":
		return road{kind: "path", detail: "slipway", zoom: fullZoom, name: fullZoom}, true
	}
	return r, false
}

// aerialways are the values of aerialway for passengers.
var aerialways = map[string]bool{"gondola": true, "mixed_lift": true, "chair_lift": true, "drag_lift": true,
	"t-bar": true, "j-bar": true, "platter": true, "rope_tow": true, "magic_carpet": true}

// shield returns the text and the network of a road's shield. The first of several numbers counts.
func shield(ref string) (text, network string) {
	text, _, _ = strings.Cut(ref, ";")
	network = "other"
	if rest, ok := strings.CutPrefix(text, "US "); ok {
		text, network = rest, "US"
	} else if rest, ok := strings.CutPrefix(text, "I "); ok {
		text, network = rest, "US:I"
	}
	return strings.Join(strings.Fields(text), ""), network
}

// borders are the kinds of boundaries by admin_level, and the zooms from which they are shown.
var borders = [...]struct {
	kind string
	zoom uint8
}{2: {"country", 0}, 3: {"region", 5}, 4: {"region", 5}, 5: {"county", 8}, 6: {"county", 8}, 7: {"locality", 10},
	8: {"locality", 10}}

// Boundary returns the class of a part of administrative boundaries, by the lowest admin_level among them; false if it
// is not from 2 to 8.
func Boundary(level int) (Class, bool) {
	if level < 2 || level >= len(borders) {
		return Class{}, false
	}
	b := borders[level]
	return Class{Layer: Boundaries, Geometry: Line, MinZoom: b.zoom, NameZoom: NoNames, Attrs: []Attr{
		{Key: "kind", Value: b.kind}, {Key: "kind_detail", Value: int64(level)}, {Key: "min_zoom", Value: int64(b.zoom)},
	}}, true
}
