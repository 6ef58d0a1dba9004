package extract

import (
	"strings"

	"github.com/mapsedge/caddy-maps/internal/mapdata"

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
//	corridor, platform, elevator               no (*)    no (*)    yes
//	busway, bus_guideway, unknown values       no (*)    no (*)    no (*)
//	route=ferry, route=shuttle_train           yes       yes       yes
//	man_made=pier                              no (*)    yes       yes
//	railway=platform, leisure=track            no (*)    no (*)    yes
//
// (*) unless the mode's own key opens it: motor_vehicle=yes, bicycle=designated, …; a track or an unknown value also by
// access=yes. What has lanes or tracks for bicycles (cycleway=lane) is open to bicycles, what has a sidewalk to
// walkers. motorroad=yes is a motorway to bicycles and feet. Cars do not use emergency accesses
// (service=emergency_access), nor the outlines of areas (area=yes), along which the others go either way round.
//
// The most specific key that is present decides (motorcar, motor_vehicle, vehicle, access; bicycle, vehicle, access;
// foot, access), in its form for one direction first. What its values mean is in accessValues. Conditional access is
// not considered.

// rights are who may travel along a road in one direction.
type rights struct {
	open mapdata.Modes
	// destination are those among them who may only do so if their way begins or ends there.
	destination mapdata.Modes
}

// accessKeys lists for each mode the keys that rule it, the most specific first; own is how many of them are about the
// mode itself and can open what is closed by default.
var accessKeys = []struct {
	mode mapdata.Modes
	keys []string
	own  int
	// forward and backward are the same keys in their forms for one direction.
	forward, backward []string
}{
	{mapdata.Car, carKeys, 3, directed(carKeys, ":forward"), directed(carKeys, ":backward")},
	{mapdata.Bicycle, bicycleKeys, 1, directed(bicycleKeys, ":forward"), directed(bicycleKeys, ":backward")},
	{mapdata.Foot, footKeys, 1, directed(footKeys, ":forward"), directed(footKeys, ":backward")},
}

var (
	carKeys     = []string{"motorcar", "motor_vehicle", "vehicle", "access"}
	bicycleKeys = []string{"bicycle", "vehicle", "access"}
	footKeys    = []string{"foot", "access"}
)

// directed returns keys in their forms for one direction.
func directed(keys []string, direction string) []string {
	forms := make([]string, len(keys))
	for i, key := range keys {
		forms[i] = key + direction
	}
	return forms
}

// access returns who may travel along a road of a kind in each direction.
func access(tags osm.Tags, h highway) (forward, backward rights) {
	for _, a := range accessKeys {
		if h.area && a.mode == mapdata.Car {
			continue
		}
		oneway := onewayOf(tags, a.mode, h)
		if v, forced := permits(tags, a.keys, a.forward, a.own, a.mode, h); oneway >= 0 || forced {
			forward.add(a.mode, v)
		}
		if v, forced := permits(tags, a.keys, a.backward, a.own, a.mode, h); oneway <= 0 || forced {
			backward.add(a.mode, v)
		}
	}
	if tags.Find("smoothness") == "impassable" { // by wheels
		forward.take(mapdata.Car | mapdata.Bicycle)
		backward.take(mapdata.Car | mapdata.Bicycle)
	}
	if tooSmall(tags) {
		forward.take(mapdata.Car)
		backward.take(mapdata.Car)
	}
	hov := tags.Find("hov") == "designated" || tags.Find("hov") == "only"
	if hov || isAllHOV(tags.Find("hov:lanes")) || isAllHOV(tags.Find("hov:lanes:forward")) {
		forward.destination |= mapdata.Car & forward.open
	}
	if hov || isAllHOV(tags.Find("hov:lanes")) || isAllHOV(tags.Find("hov:lanes:backward")) {
		backward.destination |= mapdata.Car & backward.open
	}
	return forward, backward
}

func (r *rights) add(mode mapdata.Modes, v verdict) {
	if v > forbidden {
		r.open |= mode
	}
	if v == destination {
		r.destination |= mode
	}
}

func (r *rights) take(modes mapdata.Modes) {
	r.open &^= modes
	r.destination &^= modes
}

// isAllHOV says whether all lanes are for cars with passengers, which most cars are not.
func isAllHOV(lanes string) bool {
	if lanes == "" {
		return false
	}
	for lane := range strings.SplitSeq(lanes, "|") {
		if lane != "designated" {
			return false
		}
	}
	return true
}

// permits says whether a mode may use a road in a direction: closed, destination or open. forced means that a tag for
// this very direction says so, which is stronger than oneway.
func permits(tags osm.Tags, keys, directed []string, own int, mode mapdata.Modes, h highway) (v verdict, forced bool) {
	usual := forbidden
	if opensByDefault(tags, mode, h) {
		usual = allowed
	}
	for i, key := range keys {
		value, isDirected := tags.Find(directed[i]), true
		if value == "" {
			value, isDirected = tags.Find(key), false
		}
		if value == "" {
			continue
		}
		v := verdictOf(value, mode, i < own)
		switch {
		case v == forbidden, h.class == mapdata.Service && mode == mapdata.Car && v == destination && isPrivate(value):
			return forbidden, false
		case v == invited, v == allowed && i < own:
			return allowed, isDirected && i < own
		case v == allowed && (mode == mapdata.Car && h.class == mapdata.Track || h == unknownHighway):
			return allowed, false
		case v == destination && usual == allowed:
			return destination, false
		}
		return usual, false
	}
	return usual, false
}

// isPrivate says whether a road is private and nothing else: access=private;customers is not.
func isPrivate(value string) (private bool) {
	for one := range strings.SplitSeq(value, ";") {
		if one = strings.TrimSpace(one); one == "private" {
			private = true
		} else if accessValues[one].car > forbidden {
			return false
		}
	}
	return private
}

// opensByDefault says whether a mode may use a road about which no access key says anything.
func opensByDefault(tags osm.Tags, mode mapdata.Modes, h highway) bool {
	switch {
	case mode != mapdata.Car && tags.Find("motorroad") == "yes":
		return false
	case h.modes&mode != 0:
		return true
	case mode == mapdata.Bicycle:
		return (h.class <= mapdata.Service || h == unknownHighway) && cyclewaysOf(tags).any
	case mode == mapdata.Foot:
		return h.class <= mapdata.Trunk && hasSidewalk(tags)
	}
	return false
}

// hasSidewalk says whether a road has a sidewalk that is not a way of its own.
func hasSidewalk(tags osm.Tags) bool {
	switch tags.Find("sidewalk") {
	case "yes", "both", "left", "right":
		return true
	}
	for _, key := range [...]string{"sidewalk:both", "sidewalk:left", "sidewalk:right"} {
		if tags.Find(key) == "yes" {
			return true
		}
	}
	return false
}
