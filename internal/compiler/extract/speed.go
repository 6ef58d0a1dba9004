package extract

import (
	"math"
	"strconv"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/mapdata"

	"github.com/paulmach/osm"
)

// The range of Road.SpeedForward and SpeedBackward, in km/h.
const (
	minSpeed = 5
	maxSpeed = 200
)

// Kilometres in units of speed limits.
const (
	kmPerMile         = 1.609344
	kmPerNauticalMile = 1.852
)

// Speeds that words stand for, in km/h.
const (
	walkingPace  = 7
	withoutLimit = 130
)

// implicitLimits are what kinds of roads allow where a limit is given as country:kind; an entry with the country
// overrides that for the kind alone.
var implicitLimits = map[string]float64{
	"urban": 50, "rural": 90, "trunk": 100, "motorway": 130, "expressway": 100, "living_street": 15,
	"pedestrian_zone": walkingPace,
	"bicycle_road":    30, "school": 30, "zone": 30, "nsl_restricted": 30 * kmPerMile, "nsl_single": 60 * kmPerMile,
	"nsl_dual": 70 * kmPerMile,
	"at:rural": 100, "de:rural": 100, "be:motorway": 120, "ch:motorway": 120, "ch:rural": 80, "dk:rural": 80,
	"es:motorway": 120,
	"fi:motorway": 120, "fi:rural": 80, "fr:rural": 80, "gb:motorway": 70 * kmPerMile, "hu:trunk": 110, "ie:motorway": 120,
	"it:trunk": 110, "nl:rural": 80, "no:motorway": 110, "no:rural": 80, "pl:motorway": 140, "pl:trunk": 120,
	"pt:motorway": 120,
	"ro:trunk":    100, "ru:urban": 60, "ru:motorway": 110, "se:rural": 70, "se:motorway": 110, "ua:motorway": 130,
	"uk:motorway": 70 * kmPerMile, "us:rural": 55 * kmPerMile, "us:urban": 25 * kmPerMile,
}

// parseMaxspeed reads a value of maxspeed: 50, 30 mph, 10 knots, walk, none, RO:urban, DE:zone30. False if there is no
// single limit in it.
func parseMaxspeed(value string) (kmh float64, ok bool) {
	v := strings.ToLower(firstValue(value))
	if len(v) > 40 {
		return 0, false
	}
	switch v {
	case "":
		return 0, false
	case "none", "unlimited":
		return withoutLimit, true
	case "walk", "foot", "walking":
		return walkingPace, true
	}
	if v[0] >= '0' && v[0] <= '9' {
		return parseNumericSpeed(v)
	}
	if limit, ok := implicitLimits[v]; ok {
		return limit, true
	}
	_, kind, _ := strings.Cut(v, ":")
	if kind == "" {
		kind = v
	}
	if limit, ok := implicitLimits[kind]; ok {
		return limit, true
	}
	// Zones carry their limit: zone:30, zone30, 30.
	number := strings.TrimPrefix(strings.TrimPrefix(kind, "zone"), ":")
	if number != "" && number[0] >= '0' && number[0] <= '9' {
		return parseNumericSpeed(number)
	}
	return 0, false
}

// parseNumericSpeed reads a number that starts with a digit, with its unit.
func parseNumericSpeed(v string) (kmh float64, ok bool) {
	end := strings.IndexFunc(v, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end < 0 {
		end = len(v)
	}
	number, err := strconv.ParseFloat(v[:end], 64)
	if err != nil {
		return 0, false
	}
	switch strings.TrimSpace(v[end:]) {
	case "", "km/h", "kmh", "kph":
	case "mph":
		number *= kmPerMile
	case "knots", "kn":
		number *= kmPerNauticalMile
	default:
		return 0, false
	}
	return number, number > 0 && number < 500
}

// What a surface, its smoothness or a track's grade allow, in km/h, whatever the limit.
var (
	surfaceSpeeds = map[string]float64{
		"cement": 80, "compacted": 80, "fine_gravel": 80, "paving_stones": 60, "metal": 60, "bricks": 60, "grass": 40,
		"wood": 40,
		"sett": 40, "grass_paver": 40, "gravel": 40, "unpaved": 40, "ground": 40, "dirt": 40, "pebblestone": 40, "tartan": 40,
		"cobblestone": 30, "clay": 30, "earth": 30, "stone": 20, "rocky": 20, "sand": 20, "mud": 10,
	}
	smoothnessSpeeds = map[string]float64{
		"intermediate": 80, "bad": 40, "very_bad": 20, "horrible": 10, "very_horrible": 5,
	}
	tracktypeSpeeds = map[string]float64{"grade1": 60, "grade2": 40, "grade3": 30, "grade4": 25, "grade5": 20}
	// serviceSpeeds are for kinds of service roads without a limit.
	serviceSpeeds = map[string]float64{
		"alley": 12, "parking_aisle": 10, "driveway": 10, "drive-through": 8, "parking": 10,
	}
)

// speeds returns a car's free speed in km/h for both directions: the limit where there is one, else what the class
// suggests, neither faster than the surface allows.
func speeds(tags osm.Tags, h highway) (forward, backward uint8) {
	most := float64(maxSpeed)
	usual := float64(h.speed)
	var limit, limitForward, limitBackward, implied float64
	for i := range tags {
		value := tags[i].Value
		switch tags[i].Key {
		case "maxspeed":
			limit, _ = parseMaxspeed(value)
		case "maxspeed:forward":
			limitForward, _ = parseMaxspeed(value)
		case "maxspeed:backward":
			limitBackward, _ = parseMaxspeed(value)
		case "maxspeed:type", "source:maxspeed", "zone:maxspeed", "zone:traffic":
			if v, ok := parseMaxspeed(value); ok && (implied == 0 || v < implied) {
				implied = v
			}
		case "surface":
			most = capSpeed(most, surfaceSpeeds, value)
		case "smoothness":
			most = capSpeed(most, smoothnessSpeeds, value)
		case "tracktype":
			most = capSpeed(most, tracktypeSpeeds, value)
		case "service":
			if v, ok := serviceSpeeds[value]; ok && h.class == mapdata.Service {
				usual = v
			}
		}
	}
	pick := func(limits ...float64) uint8 {
		speed := usual
		for _, l := range limits {
			if l > 0 {
				speed = l
				break
			}
		}
		return uint8(math.Round(max(minSpeed, min(speed, most))))
	}
	return pick(limitForward, limit, implied), pick(limitBackward, limit, implied)
}

func capSpeed(most float64, table map[string]float64, value string) float64 {
	if v, ok := table[value]; ok {
		return min(most, v)
	}
	return most
}
