package schema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/region"

	"github.com/paulmach/osm"
)

// fullZoom is the zoom at which everything is there: that of the last tiles of a map whose tiles end where those of
// most do. What is to be shown later still says so in its attribute min_zoom.
const fullZoom = 14

// Keys are the keys that say what an object is: one with none of them is not drawn.
var Keys = [...]string{
	"aerialway", "aeroway", "amenity", "attraction", "boundary", "building", "building:part", "craft", "highway",
	"historic", "landuse", "leisure", "man_made", "military", "natural", "place", "railway", "route", "shop",
	"tourism", "waterway",
}

// Details are the other keys that Classify asks for, but for name: of that, only whether there is one.
var Details = [...]string{
	"water", "ref", "oneway", "bridge", "tunnel", "layer", "service", "footway", "usage", "height", "min_height",
	"building:levels", "intermittent", "salt", "population", "capital", "sport", "cuisine", "religion", "iata",
}

// mainValues are the values of Keys.
type mainValues struct {
	aerialway, aeroway, amenity, attraction, boundary, building, part, craft, highway, historic, landuse, leisure,
	manMade, military, natural, place, railway, route, shop, tourism, waterway string
}

// values are the values of the keys that decide what is drawn. Those that say no are empty.
type values struct {
	mainValues
	detailValues
	name bool
}

// detailValues are the values of Details.
type detailValues struct {
	water, ref, oneway, bridge, tunnel, layer, service, footway, usage string
	height, minHeight, levels                                          string
	intermittent, salt, population, capital                            string
	sport, cuisine, religion, iata                                     string
}

// read fills in the values, and says whether there is one of Keys: only then anything is drawn.
func (v *values) read(tags osm.Tags) (any bool) {
	for i := range tags {
		value := tags[i].Value
		if value == "" || value == "no" {
			continue
		}
		to := v.main(tags[i].Key)
		if to != nil {
			any = true
		} else if to = v.detail(tags[i].Key); to == nil {
			v.name = v.name || tags[i].Key == "name"
			continue
		}
		if *to == "" { // of a key given twice the first value stays
			*to = value
		}
	}
	return any
}

func (v *values) main(key string) *string {
	switch key {
	case "aerialway":
		return &v.aerialway
	case "aeroway":
		return &v.aeroway
	case "amenity":
		return &v.amenity
	case "attraction":
		return &v.attraction
	case "boundary":
		return &v.boundary
	case "building":
		return &v.building
	case "building:part":
		return &v.part
	case "craft":
		return &v.craft
	case "highway":
		return &v.highway
	case "historic":
		return &v.historic
	case "landuse":
		return &v.landuse
	case "leisure":
		return &v.leisure
	case "man_made":
		return &v.manMade
	case "military":
		return &v.military
	case "natural":
		return &v.natural
	case "place":
		return &v.place
	case "railway":
		return &v.railway
	case "route":
		return &v.route
	case "shop":
		return &v.shop
	case "tourism":
		return &v.tourism
	case "waterway":
		return &v.waterway
	}
	return nil
}

func (v *values) detail(key string) *string {
	switch key {
	case "water":
		return &v.water
	case "ref":
		return &v.ref
	case "oneway":
		return &v.oneway
	case "bridge":
		return &v.bridge
	case "tunnel":
		return &v.tunnel
	case "layer":
		return &v.layer
	case "service":
		return &v.service
	case "footway":
		return &v.footway
	case "usage":
		return &v.usage
	case "height":
		return &v.height
	case "min_height":
		return &v.minHeight
	case "building:levels":
		return &v.levels
	case "intermittent":
		return &v.intermittent
	case "salt":
		return &v.salt
	case "population":
		return &v.population
	case "capital":
		return &v.capital
	case "sport":
		return &v.sport
	case "cuisine":
		return &v.cuisine
	case "religion":
		return &v.religion
	case "iata":
		return &v.iata
	}
	return nil
}

// Classify says how an object is drawn: not at all, in one way, or in up to three. A building that is a school is a
// building, a ground and a point. area says that its outline is closed, and that it is an area and not a line by its
// tags.
//
// Land, ocean and boundaries are not told by the tags of an object alone: see Land, Ocean and Boundary.
func Classify(kind region.Kind, tags osm.Tags, area bool) []Class {
	var v values
	if len(tags) == 0 || !v.read(tags) {
		return nil
	}
	var classes []Class
	switch {
	case kind == region.KindNode:
		classes = v.places(classes)
		classes = v.waterLabel(classes, "other", v.natural == "bay" || v.natural == "strait" || v.natural == "fjord")
		classes = v.pois(classes)
	case area:
		classes = v.buildings(classes)
		classes = v.waterArea(classes)
		classes = v.landuses(classes)
		if v.name {
			classes = v.pois(classes)
		}
	default:
		classes = v.roads(classes)
		if len(classes) == 0 {
			classes = v.waterLine(classes)
		}
	}
	return classes
}

// attrs collects the attributes of a class.
type attrs []Attr

func (a *attrs) add(key string, value any, minZoom uint8) {
	*a = append(*a, Attr{Key: key, Value: value, MinZoom: minZoom})
}

// text adds a text, if there is one.
func (a *attrs) text(key, value string, minZoom uint8) {
	if value != "" {
		a.add(key, strings.ToValidUTF8(value, "\uFFFD"), minZoom)
	}
}

// is adds what is true of the features; what is not true is not there.
func (a *attrs) is(key string, set bool, minZoom uint8) {
	if set {
		a.add(key, true, minZoom)
	}
}

// int adds a whole number, if the text is one.
func (a *attrs) int(key, value string, minZoom uint8) {
	if value == "" {
		return // most have none, and an error is an allocation
	}
	if n, err := strconv.ParseInt(value, 10, 16); err == nil {
		a.add(key, n, minZoom)
	}
}

func (a attrs) sorted() []Attr {
	slices.SortFunc(a, func(x, y Attr) int { return cmp.Compare(x.Key, y.Key) })
	return a
}

// truth says whether a tag such as bridge=viaduct or tunnel=yes holds. Those that say no were left out before.
func truth(value string) bool { return value != "" && value != "0" && value != "false" }
