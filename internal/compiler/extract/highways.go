package extract

import (
	"strings"

	"github.com/mapsedge/caddy-maps/internal/mapdata"

	"github.com/paulmach/osm"
)

// highway is what the tags say a way is, before anything is said about who may use it.
type highway struct {
	class mapdata.RoadClass
	link  bool
	modes mapdata.Modes // open by default
	// The speeds of the three modes in km/h, where neither a limit nor the surface says otherwise.
	speed, bicycle, foot uint8
	// area says that the way is the outline of an area: people go along it either way round, and nobody drives.
	area bool
}

const everyone = mapdata.Car | mapdata.Bicycle | mapdata.Foot

// slowly are those who travel where no cars do.
const slowly = mapdata.Bicycle | mapdata.Foot

// How fast people ride and walk on a way that is good to ride and to walk on, in km/h.
const (
	riding  = 18
	walking = 5
)

// The speeds of cars are what a free road of the class has where nothing is tagged, on the scale of limits that are
// tagged.
var highways = map[string]highway{
	"motorway":       {mapdata.Motorway, false, mapdata.Car, 110, riding, walking, false},
	"motorway_link":  {mapdata.Motorway, true, mapdata.Car, 55, riding, walking, false},
	"trunk":          {mapdata.Trunk, false, mapdata.Car | mapdata.Bicycle, 100, riding, walking, false},
	"trunk_link":     {mapdata.Trunk, true, mapdata.Car | mapdata.Bicycle, 50, riding, walking, false},
	"primary":        {mapdata.Primary, false, everyone, 80, riding, walking, false},
	"primary_link":   {mapdata.Primary, true, everyone, 40, riding, walking, false},
	"secondary":      {mapdata.Secondary, false, everyone, 65, riding, walking, false},
	"secondary_link": {mapdata.Secondary, true, everyone, 32, riding, walking, false},
	"tertiary":       {mapdata.Tertiary, false, everyone, 50, riding, walking, false},
	"tertiary_link":  {mapdata.Tertiary, true, everyone, 25, riding, walking, false},
	"unclassified":   {mapdata.Unclassified, false, everyone, 35, riding, walking, false},
	"road":           {mapdata.Unclassified, false, everyone, 35, riding, walking, false},
	"residential":    {mapdata.Residential, false, everyone, 30, riding, walking, false},
	"living_street":  {mapdata.LivingStreet, false, everyone, 12, 15, walking, false},
	"service":        {mapdata.Service, false, everyone, 18, 16, walking, false},
	"track":          {mapdata.Track, false, slowly, 15, 14, walking, false},
	"busway":         {mapdata.BusWay, false, 0, 30, riding, walking, false},
	"bus_guideway":   {mapdata.BusWay, false, 0, 30, riding, walking, false},
	"cycleway":       {mapdata.Cycleway, false, slowly, 10, riding, walking, false},
	"path":           {mapdata.Footway, false, slowly, 10, 14, walking, false},
	"footway":        {mapdata.Footway, false, mapdata.Foot, 10, 12, walking, false},
	"pedestrian":     {mapdata.Footway, false, mapdata.Foot, 10, 10, walking, false},
	"bridleway":      {mapdata.Footway, false, mapdata.Foot, 10, 10, walking, false},
	"steps":          {mapdata.Footway, false, mapdata.Foot, 5, 3, 3, false},
	"corridor":       {mapdata.Footway, false, mapdata.Foot, 5, 6, 4, false},
	"platform":       {mapdata.Footway, false, mapdata.Foot, 5, 6, walking, false},
	"elevator":       {mapdata.Footway, false, mapdata.Foot, 5, 3, 3, false},
}

// routes are ways on which people are carried, by the value of route=*. Where the tags tell how long that takes, it is
// known better; see assembleRoads.
var routes = map[string]highway{
	"ferry":         {mapdata.Ferry, false, everyone, 10, 10, 10, false},
	"shuttle_train": {mapdata.Ferry, false, everyone, 40, 40, 40, false},
}

// walkable are ways without highway=* that people walk on all the same.
var walkable = map[osm.Tag]highway{
	{Key: "man_made", Value: "pier"}:             {mapdata.Footway, false, slowly, 5, 10, walking, false},
	{Key: "railway", Value: "platform"}:          {mapdata.Footway, false, mapdata.Foot, 5, 6, walking, false},
	{Key: "public_transport", Value: "platform"}: {mapdata.Footway, false, mapdata.Foot, 5, 6, walking, false},
	{Key: "leisure", Value: "track"}:             {mapdata.Footway, false, mapdata.Foot, 5, 10, walking, false},
}

// noRoads are values of highway=* that nobody travels along, whatever else the tags say: what is not there (yet, any
// more, or in summer), and places.
var noRoads = valueSet("", "no", "none", "construction", "proposed", "planned", "abandoned", "disused", "razed",
	"demolished", "removed", "dismantled", "destroyed", "historic", "winter_road", "ice_road",
	"bus_stop", "services", "rest_area", "emergency_bay", "escape", "passing_place",
	"traffic_island", "toll_gantry", "street_lamp", "trailhead")

// unknownHighway is a road of a kind that is not known: closed, unless a key opens it to somebody.
var unknownHighway = highway{mapdata.Unclassified, false, 0, 15, 12, walking, false}

// highwayOf returns what kind of road a way is; false if it is none, or one that is closed to everybody.
func highwayOf(tags osm.Tags) (h highway, ok bool) {
	if isOutOfUse(tags) {
		return highway{}, false
	}
	kind := tags.Find("highway")
	switch {
	case noRoads[kind]:
		if h, ok = otherWay(tags); kind != "" || !ok {
			return highway{}, false
		}
	default:
		if h, ok = highways[kind]; !ok {
			h = unknownHighway
		}
	}
	if tags.Find("service") == "emergency_access" {
		h.modes &^= mapdata.Car
	}
	if tags.Find("area") == "yes" && h.class != mapdata.Ferry {
		h.modes &^= mapdata.Car
		h.area = true
	}
	return h, true
}

// otherWay is a way without highway=*.
func otherWay(tags osm.Tags) (highway, bool) {
	for i := range tags {
		if h, ok := walkable[tags[i]]; ok {
			return h, true
		}
		if tags[i].Key != "route" {
			continue
		}
		for value := range strings.SplitSeq(tags[i].Value, ";") {
			if h, ok := routes[strings.TrimSpace(value)]; ok {
				return h, true
			}
		}
	}
	return highway{}, false
}

// harmlessWorks are values of construction=* that leave a road open.
var harmlessWorks = valueSet("", "no", "none", "minor", "widening", "completed")

// isOutOfUse says whether a way is not to be travelled along by anybody: it is being built, it lies on ice, or nobody
// gets through. proposed=* is not among that: what is there (highway=tertiary) is to become something else
// (proposed=secondary).
func isOutOfUse(tags osm.Tags) bool {
	for i := range tags {
		switch value := tags[i].Value; tags[i].Key {
		case "construction":
			if !harmlessWorks[value] {
				return true
			}
		case "winter_road", "ice_road", "impassable":
			if value == "yes" {
				return true
			}
		case "status":
			if value == "impassable" {
				return true
			}
		}
	}
	return false
}
