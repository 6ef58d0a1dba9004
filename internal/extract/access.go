package extract

import (
	"strings"

	"github.com/paulmach/osm"
)

// Who may travel along a road
//
//	highway                                    car       bicycle   foot
//	motorway                                   yes       no        no
//	trunk                                      yes       yes       no
//	primary … tertiary, unclassified, road,
//	residential, living_street, service        yes       yes       yes
//	track                                      no (*)    yes       yes
//	cycleway                                   no (*)    yes       yes
//	path                                       no (*)    yes       yes
//	footway, pedestrian, bridleway, steps,
//	corridor, platform                         no (*)    no (*)    yes
//	busway, bus_guideway                       no (*)    no (*)    no (*)
//	route=ferry                                yes       yes       yes
//
// (*) unless the mode's own key opens it: motor_vehicle=yes, bicycle=designated, …; a track also by access=yes.
// motorroad=yes is a motorway to bicycles and feet. Cars do not use emergency accesses (service=emergency_access).
//
// The most specific key that is present decides (motorcar, motor_vehicle, vehicle, access; bicycle, vehicle, access; foot,
// access), in its form for one direction first. "no", "agricultural", "forestry", "emergency", "psv" and the like close a
// road to everybody; "private" and "delivery" close it to bicycles and feet, but to cars only on service roads, where
// routers for cars do not go either: a trace along a private main road shows that its driver was allowed there.
// Conditional and lane access are not considered.

// highway is what a value of highway=* means.
type highway struct {
	class RoadClass
	link  bool
	modes Modes // open by default
	speed uint8 // of a car, in km/h, where no limit is given
}

const everyone = Car | Bicycle | Foot

// The speeds are what a free road of the class has where nothing is tagged, on the scale of limits that are tagged.
var highways = map[string]highway{
	"motorway":       {Motorway, false, Car, 110},
	"motorway_link":  {Motorway, true, Car, 55},
	"trunk":          {Trunk, false, Car | Bicycle, 100},
	"trunk_link":     {Trunk, true, Car | Bicycle, 50},
	"primary":        {Primary, false, everyone, 80},
	"primary_link":   {Primary, true, everyone, 40},
	"secondary":      {Secondary, false, everyone, 65},
	"secondary_link": {Secondary, true, everyone, 32},
	"tertiary":       {Tertiary, false, everyone, 50},
	"tertiary_link":  {Tertiary, true, everyone, 25},
	"unclassified":   {Unclassified, false, everyone, 35},
	"road":           {Unclassified, false, everyone, 35},
	"residential":    {Residential, false, everyone, 30},
	"living_street":  {LivingStreet, false, everyone, 12},
	"service":        {Service, false, everyone, 18},
	"track":          {Track, false, Bicycle | Foot, 15},
	"busway":         {BusWay, false, 0, 30},
	"bus_guideway":   {BusWay, false, 0, 30},
	"cycleway":       {Cycleway, false, Bicycle | Foot, 10},
	"path":           {Footway, false, Bicycle | Foot, 10},
	"footway":        {Footway, false, Foot, 10},
	"pedestrian":     {Footway, false, Foot, 10},
	"bridleway":      {Footway, false, Foot, 10},
	"steps":          {Footway, false, Foot, 5},
	"corridor":       {Footway, false, Foot, 5},
	"platform":       {Footway, false, Foot, 5},
}

var ferry = highway{Ferry, false, everyone, 10}

// highwayOf returns what kind of road a way is; false if it is none.
func highwayOf(tags osm.Tags) (highway, bool) {
	var kind, route, area, service string
	for i := range tags {
		switch tags[i].Key {
		case "highway":
			kind = tags[i].Value
		case "route":
			route = tags[i].Value
		case "area":
			area = tags[i].Value
		case "service":
			service = tags[i].Value
		}
	}
	if area == "yes" {
		return highway{}, false
	}
	if h, ok := highways[kind]; ok {
		if service == "emergency_access" {
			h.modes &^= Car
		}
		return h, true
	}
	if kind == "" && route == "ferry" {
		return ferry, true
	}
	return highway{}, false
}

// accessKeys lists for each mode the keys that rule it, the most specific first; own is how many of them are about the mode
// itself and can open what is closed by default.
var accessKeys = []struct {
	mode Modes
	keys []string
	own  int
}{
	{Car, []string{"motorcar", "motor_vehicle", "vehicle", "access"}, 3},
	{Bicycle, []string{"bicycle", "vehicle", "access"}, 1},
	{Foot, []string{"foot", "access"}, 1},
}

// closing and opening values of access keys. Others leave the default of the class.
var (
	closesAll = valueSet("no", "none", "agricultural", "forestry", "emergency", "psv", "bus", "military", "use_sidepath",
		"restricted", "impassable")
	closesSlow = valueSet("private", "delivery", "dismount")
	opens      = valueSet("yes", "permissive", "designated", "official", "public", "allowed")
)

func valueSet(values ...string) map[string]bool {
	m := make(map[string]bool, len(values))
	for _, v := range values {
		m[v] = true
	}
	return m
}

// firstValue returns the first of several values of one tag (a;b).
func firstValue(v string) string {
	v, _, _ = strings.Cut(v, ";")
	return strings.TrimSpace(v)
}

// access returns who may travel along a road of a kind in each direction.
func access(tags osm.Tags, h highway) (forward, backward Modes) {
	for _, a := range accessKeys {
		oneway := onewayOf(tags, a.mode, h)
		if open, forced := permits(tags, a.keys, a.own, a.mode, h, ":forward"); open && (oneway >= 0 || forced) {
			forward |= a.mode
		}
		if open, forced := permits(tags, a.keys, a.own, a.mode, h, ":backward"); open && (oneway <= 0 || forced) {
			backward |= a.mode
		}
	}
	if tags.Find("impassable") == "yes" || tags.Find("status") == "impassable" || tags.Find("smoothness") == "impassable" {
		forward &^= Car
		backward &^= Car
	}
	return forward, backward
}

// permits says whether a mode may use a road in a direction; forced, that a tag for this very direction says so, which is
// stronger than oneway.
func permits(tags osm.Tags, keys []string, own int, mode Modes, h highway, direction string) (open, forced bool) {
	open = h.modes&mode != 0
	if mode != Car && tags.Find("motorroad") == "yes" {
		open = false
	}
	for i, key := range keys {
		value, directed := firstValue(tags.Find(key+direction)), true
		if value == "" {
			value, directed = firstValue(tags.Find(key)), false
		}
		switch {
		case value == "":
			continue
		case closesAll[value], mode != Car && closesSlow[value]:
			return false, false
		case mode == Car && value == "private" && h.class == Service:
			return false, false
		case opens[value] && (i < own || mode == Car && h.class == Track):
			return true, directed && i < own
		}
		return open, false
	}
	return open, false
}

// onewayOf returns 1 if a mode may only go along a way's direction, -1 if only against it, 0 if there is no such rule.
func onewayOf(tags osm.Tags, mode Modes, h highway) int {
	var keys []string
	switch mode {
	case Car:
		keys = []string{"oneway:motorcar", "oneway:motor_vehicle", "oneway:vehicle", "oneway"}
	case Bicycle:
		keys = []string{"oneway:bicycle"}
		if !hasContraflow(tags) {
			keys = append(keys, "oneway:vehicle", "oneway")
		}
	default:
		keys = []string{"oneway:foot"}
	}
	for _, key := range keys {
		switch tags.Find(key) {
		case "yes", "true", "1":
			return 1
		case "-1", "reverse":
			return -1
		case "no", "false", "0":
			return 0
		case "reversible", "alternating":
			// Either direction at some time of the day.
			return 0
		}
	}
	if mode == Foot || mode == Bicycle && hasContraflow(tags) {
		return 0
	}
	if j := tags.Find("junction"); j == "roundabout" || j == "circular" || h.class == Motorway && !h.link {
		return 1
	}
	return 0
}

// hasContraflow says whether a one-way street has a cycle track or lane against its direction.
func hasContraflow(tags osm.Tags) bool {
	for _, key := range []string{"cycleway", "cycleway:left", "cycleway:right", "cycleway:both"} {
		switch tags.Find(key) {
		case "opposite", "opposite_lane", "opposite_track", "opposite_share_busway":
			return true
		}
	}
	return false
}

// Barriers that let a mode pass if no access tag says otherwise. To cars all others are closed; to bicycles and feet all
// others are open.
var (
	openToCars = valueSet("cattle_grid", "border_control", "toll_booth", "sally_port", "gate", "lift_gate", "swing_gate",
		"sliding_gate", "hampshire_gate", "no", "entrance", "height_restrictor", "arch", "checkpoint", "sump_buster", "kerb",
		"speed_bump", "bump_gate")
	closedToBicycles = valueSet("wall", "fence", "yes", "hedge", "city_wall", "retaining_wall", "guard_rail", "stile",
		"turnstile", "full-height_turnstile", "kissing_gate", "debris", "log")
	closedToFeet = valueSet("wall", "fence", "yes", "hedge", "city_wall", "retaining_wall", "guard_rail")
)

// barrierOf returns the modes that a node stops.
func barrierOf(tags osm.Tags) (stopped Modes) {
	kind := tags.Find("barrier")
	if kind == "" {
		return 0
	}
	if !openToCars[kind] && tags.Find("bollard") != "rising" {
		stopped |= Car
	}
	if closedToBicycles[kind] {
		stopped |= Bicycle
	}
	if closedToFeet[kind] {
		stopped |= Foot
	}
	for _, a := range accessKeys {
		for _, key := range a.keys {
			value := firstValue(tags.Find(key))
			if value == "" {
				continue
			}
			if closesAll[value] || a.mode != Car && value == "private" {
				stopped |= a.mode
			} else {
				stopped &^= a.mode
			}
			break
		}
	}
	return stopped
}
