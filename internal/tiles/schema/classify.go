package schema

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/region"

	"github.com/paulmach/osm"
)

// fullZoom is the zoom at which tiles have all features: the usual maxzoom of tilesets. Features to be shown later have
// the attribute min_zoom.
const fullZoom = 14

// Keys are the main keys. An object without any of them is not on the map.
var Keys = [...]string{
	"aerialway", "aeroway", "amenity", "attraction", "boundary", "building", "building:part", "craft", "highway",
	"historic", "landuse", "leisure", "man_made", "military", "natural", "place", "railway", "route", "shop",
	"tourism", "waterway",
}

// Details are the other keys that Classify uses, beside the presence of a name.
var Details = [...]string{
	"water", "ref", "oneway", "bridge", "tunnel", "layer", "service", "footway", "usage", "height", "min_height",
	"building:levels", "intermittent", "salt", "population", "capital", "sport", "cuisine", "religion", "iata",
}

// mainValues are the values of Keys.
type mainValues struct {
	aerialway, aeroway, amenity, attraction, boundary, building, part, craft, highway, historic, landuse, leisure,
	manMade, military, natural, place, railway, route, shop, tourism, waterway string
}

// values are the values of Keys and Details. Values that mean no are empty.
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

// read fills in the values, and reports whether one of Keys is set.
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
		if *to == "" { // the first value of a repeated key counts
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

// Classify returns the classes of an object: none, or up to three. A school, say, is a building, a land use and a point
// of interest. area means that its outline is closed and its tags make it an area.
//
// The classes of land, ocean and boundaries depend on more than an object's tags: see Land, Ocean and Boundary.
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

// is adds a boolean attribute if it is true.
func (a *attrs) is(key string, set bool, minZoom uint8) {
	if set {
		a.add(key, true, minZoom)
	}
}

// int adds a whole number, if the text is one.
func (a *attrs) int(key, value string, minZoom uint8) {
	if value == "" {
		return // the common case, without the allocation of an error
	}
	if n, err := strconv.ParseInt(value, 10, 16); err == nil {
		a.add(key, n, minZoom)
	}
}

func (a attrs) sorted() []Attr {
	slices.SortFunc(a, func(x, y Attr) int { return cmp.Compare(x.Key, y.Key) })
	return a
}

// truth reports whether a tag such as bridge=viaduct or tunnel=yes is set. Values that mean no are empty already.
func truth(value string) bool { return value != "" && value != "0" && value != "false" }
