// Package profile derives the access and speed of each mode of travel from tags: which ways are roads (RoadOf), whom
// nodes stop (Stops), and to whom turn restrictions apply (TurnOf). Each mode is a table (profile.go). It knows no
// geometry. Begin at RoadOf; docs/internals/algorithms.md describes the rules.
package profile

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// profile is a mode of travel. The fields up to sizes are the table. newProfile derives the others.
type profile struct {
	mode region.Modes
	// motor is set for motor vehicles. They may use motorroads. They may not use emergency accesses, the outlines of
	// areas, locked gates, and barriers that are not in barriers.
	motor bool
	// wheels is false for walkers: they ignore one-ways, and restrictions that do not name them.
	wheels bool
	// keys are its access keys, the most specific first. The first own of them are specific to it and can open ways that
	// are closed by default.
	keys []tags.Key
	own  int
	// names are the values of access keys that name it. The names of other modes close a way to it.
	names string
	// private is the verdict of values like access=private. values are other exceptions to accessValues.
	private verdict
	values  map[string]verdict
	// oneway are the keys of one-ways, the most specific first.
	oneway []tags.Key
	// beside reports whether a road has a lane or sidewalk for it, which opens roads up to the class besideUpTo, and
	// whether that leads against a one-way.
	beside     func(t *tags.Set, oneway int) (has, against bool)
	besideUpTo region.RoadClass
	// open are the kinds of ways (see kinds) that it may use by default. opened are those that access=yes opens.
	open, opened string
	// barriers are, for motor vehicles, the kinds of barriers that let them pass, and for others the kinds that stop them.
	barriers string
	// usual is its speed on kinds of ways, services on kinds of service roads, and speed on all others, in km/h.
	usual, services map[string]float64
	speed           float64
	// caps are limits by other tags. limited is set if maxspeed and the like apply to it.
	caps    []limit
	limited bool
	sizes   []size

	forward, backward []tags.Key         // keys in their forms for one direction
	meanings          map[string]verdict // of all values
	byKind            []usual            // by the numbers of kinds
	letPass           map[string]bool
	accessKeys        *tags.Keys // in all forms
}

// limit is the greatest speed for values of a key, in km/h.
type limit struct {
	key    tags.Key
	speeds map[string]float64
}

// usual is a profile's default for a kind of ways.
type usual struct {
	open, opened bool
	speed        float64
}

// profiles are all modes of travel.
var profiles = []*profile{car, bicycle, foot}

// roadsForAll are the kinds of ways that are open to all modes.
const roadsForAll = `primary primary_link secondary secondary_link tertiary tertiary_link unclassified road residential
	living_street service winter_road ice_road route=ferry route=shuttle_train `

var car = newProfile(profile{
	mode: region.Car, motor: true, wheels: true,
	keys: tags.List("motorcar motor_vehicle vehicle access"), own: 3,
	names: "motorcar car cars motor_vehicle motor_vehicles vehicle",
	// A trace on a private road shows that its driver had the right to be there.
	private: private,
	values:  map[string]verdict{"hov": destination}, // the number of passengers is not known
	oneway:  tags.List("oneway:motorcar oneway:motor_vehicle oneway:vehicle oneway"),
	open:    roadsForAll + "motorway motorway_link trunk trunk_link",
	opened:  "track",
	barriers: `cattle_grid border_control toll_booth sally_port gate lift_gate swing_gate sliding_gate hampshire_gate no
		entrance height_restrictor arch checkpoint sump_buster kerb speed_bump bump_gate`,
	// Free speeds of roads without a tagged limit, comparable to tagged limits.
	usual: map[string]float64{
		"motorway": 110, "motorway_link": 55, "trunk": 100, "trunk_link": 50, "primary": 80, "primary_link": 40,
		"secondary": 65, "secondary_link": 32, "tertiary": 50, "tertiary_link": 25, "unclassified": 35, "road": 35,
		"residential": 30, "living_street": 12, "service": 18, "track": 15, "winter_road": 25, "ice_road": 25, "busway": 30,
		"bus_guideway": 30, "cycleway": 10, "path": 10, "footway": 10, "pedestrian": 10, "bridleway": 10,
		"route=ferry": 10, "route=shuttle_train": 40, unknownKind: 15,
	},
	services: map[string]float64{"alley": 12, "parking_aisle": 10, "driveway": 10, "drive-through": 8, "parking": 10},
	speed:    5,
	caps: []limit{
		{tags.Surface, map[string]float64{
			"cement": 80, "compacted": 80, "fine_gravel": 80, "paving_stones": 60, "metal": 60, "bricks": 60, "grass": 40,
			"wood": 40, "sett": 40, "grass_paver": 40, "gravel": 40, "unpaved": 40, "ground": 40, "dirt": 40,
			"pebblestone": 40, "tartan": 40, "cobblestone": 30, "clay": 30, "earth": 30, "stone": 20, "rocky": 20, "sand": 20,
			"mud": 10,
		}},
		{tags.Smoothness, map[string]float64{"intermediate": 80, "bad": 40, "very_bad": 20, "horrible": 10,
			"very_horrible": 5}},
		{tags.Tracktype, map[string]float64{"grade1": 60, "grade2": 40, "grade3": 30, "grade4": 25, "grade5": 20}},
	},
	limited: true,
	sizes: []size{
		{tags.List("maxwidth:physical maxwidth width est_width"), 1.9},
		{tags.List("maxheight:physical maxheight"), 1.99},
	},
})

var bicycle = newProfile(profile{
	mode: region.Bicycle, wheels: true,
	keys: tags.List("bicycle vehicle access"), own: 1,
	names: "bicycle bicycles vehicle",
	// There is nearly always another road.
	private: forbidden,
	values:  map[string]verdict{"dismount": forbidden},
	oneway:  tags.List("oneway:bicycle oneway:vehicle oneway"),
	beside:  cyclewaysOf, besideUpTo: region.Service,
	open: roadsForAll + "trunk trunk_link track cycleway path man_made=pier",
	barriers: `wall fence yes hedge city_wall retaining_wall guard_rail stile turnstile full-height_turnstile kissing_gate
		debris log`,
	usual: map[string]float64{
		"living_street": 15, "service": 16, "track": 14, "path": 14, "footway": 12, "pedestrian": 10, "bridleway": 10,
		"steps": 3, "corridor": 6, "platform": 6, "elevator": 3, "man_made=pier": 10, "leisure=track": 10,
		"route=ferry": 10, "route=shuttle_train": 40, unknownKind: 12,
	},
	speed: 18,
	caps: []limit{
		{tags.Surface, map[string]float64{
			"compacted": 15, "fine_gravel": 14, "unpaved": 12, "wood": 12, "ground": 11, "dirt": 11, "earth": 11, "sett": 11,
			"gravel": 10, "pebblestone": 10, "grass_paver": 10, "cobblestone": 9, "grass": 8, "unhewn_cobblestone": 7,
			"rock": 6, "stone": 6, "sand": 5, "mud": 5,
		}},
		{tags.Smoothness, map[string]float64{"bad": 11, "very_bad": 8, "horrible": 5, "very_horrible": 4}},
		{tags.Tracktype, map[string]float64{"grade2": 14, "grade3": 11, "grade4": 9, "grade5": 7}},
		{tags.SacScale, map[string]float64{
			"hiking": 8, "mountain_hiking": 5, "demanding_mountain_hiking": 4, "alpine_hiking": 3,
			"demanding_alpine_hiking": 3, "difficult_alpine_hiking": 3,
		}},
	},
})

var foot = newProfile(profile{
	mode: region.Foot,
	keys: tags.List("foot access"), own: 1,
	names:   "foot pedestrian pedestrians wheelchair",
	private: forbidden,
	values:  map[string]verdict{"dismount": allowed},
	oneway:  tags.List("oneway:foot"),
	beside:  sidewalksOf, besideUpTo: region.Trunk,
	open: roadsForAll + `track cycleway path footway pedestrian bridleway steps corridor platform elevator
		man_made=pier leisure=track`,
	barriers: "wall fence yes hedge city_wall retaining_wall guard_rail",
	usual:    map[string]float64{"steps": 3, "corridor": 4, "elevator": 3, "route=ferry": 10, "route=shuttle_train": 40},
	speed:    5,
	caps: []limit{
		{tags.Surface, map[string]float64{"gravel": 4, "pebblestone": 4, "rock": 4, "sand": 3, "mud": 3}},
		{tags.Smoothness, map[string]float64{"very_horrible": 4, "impassable": 3}},
		{tags.SacScale, map[string]float64{
			"mountain_hiking": 4, "demanding_mountain_hiking": 3, "alpine_hiking": 2, "demanding_alpine_hiking": 2,
			"difficult_alpine_hiking": 1,
		}},
		// Walkers prefer the sidewalk, which is a way of its own.
		{tags.Sidewalk, map[string]float64{"separate": 4}}, {tags.SidewalkBoth, map[string]float64{"separate": 4}},
	},
})

// newProfile derives the other fields from a table.
func newProfile(p profile) *profile {
	for _, key := range p.keys {
		p.forward = append(p.forward, tags.Number(key.String()+":forward"))
		p.backward = append(p.backward, tags.Number(key.String()+":backward"))
	}
	p.accessKeys = tags.KeysOf(slices.Concat(p.keys, p.forward, p.backward)...)
	p.meanings = maps.Clone(accessValues)
	for value, v := range accessValues {
		if v == private {
			p.meanings[value] = p.private
		}
	}
	for value := range strings.FieldsSeq(p.names) {
		p.meanings[value] = invited
	}
	maps.Copy(p.meanings, p.values)
	p.letPass = setOf(p.barriers)
	open, opened := setOf(p.open), setOf(p.opened)
	p.byKind = make([]usual, len(kinds))
	for name, k := range kinds {
		p.byKind[k.number] = usual{open[name], opened[name], cmp.Or(p.usual[name], p.speed)}
	}
	return &p
}

// heeds reports whether a key is one of its access keys, apart from access itself.
func (p *profile) heeds(key string) bool {
	return key != tags.Access.String() && slices.ContainsFunc(p.keys, func(k tags.Key) bool { return k.String() == key })
}

// modesOf returns the modes of the profiles for which is returns true.
func modesOf(is func(p *profile) bool) (modes region.Modes) {
	for _, p := range profiles {
		if is(p) {
			modes |= p.mode
		}
	}
	return modes
}

// setOf returns the set of words in a text.
func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}
