package profile

import (
	"cmp"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// The range of speeds of limited modes, in km/h.
const minSpeed, maxSpeed = 5, 200

// speeds returns the free speed in km/h for both directions: the tagged limit if there is one that applies, else that
// of the kind of way. Neither is faster than surface and the like allow.
func (p *profile) speeds(t *tags.Set, w *way) (forward, backward uint8) {
	usual, least, most := p.byKind[w.number].speed, 1., float64(maxSpeed)
	if w.class == region.Service {
		usual = cmp.Or(p.services[t.Get(tags.Service)], usual)
	}
	for _, c := range p.caps {
		if !t.Has(c.key) {
			continue // most ways
		}
		if v, ok := c.speeds[t.Get(c.key)]; ok && (w.class != region.Ferry || p.limited) {
			most = min(most, v)
		}
	}
	there, back := usual, usual
	if p.limited {
		least = minSpeed
		usual = limitOf(t, usual, tags.MaxspeedType, tags.SourceMaxspeed, tags.ZoneMaxspeed, tags.ZoneTraffic)
		usual = limitOf(t, usual, tags.Maxspeed)
		there, back = limitOf(t, usual, tags.MaxspeedForward), limitOf(t, usual, tags.MaxspeedBackward)
	}
	return uint8(math.Round(max(least, min(there, most)))), uint8(math.Round(max(least, min(back, most))))
}

// limitOf returns the lowest speed limit of some keys, or usual if there is none.
func limitOf(t *tags.Set, usual float64, keys ...tags.Key) float64 {
	lowest := math.Inf(1)
	for _, key := range keys {
		if t.Has(key) {
			lowest = min(lowest, parseMaxspeed(t.Get(key)))
		}
	}
	if math.IsInf(lowest, 1) {
		return usual
	}
	return lowest
}

const kmPerMile = 1.609344

// speedUnits are the units of speed limits in km/h.
var speedUnits = map[string]float64{"": 1, "km/h": 1, "kmh": 1, "kph": 1, "mph": kmPerMile, "knots": 1.852, "kn": 1.852}

// implicitLimits are speed limits given as words, many as country:kind. An entry with the country overrides that of the
// kind.
var implicitLimits = map[string]float64{
	"none": 130, "unlimited": 130, "walk": 7, "foot": 7, "walking": 7,
	"urban": 50, "rural": 90, "trunk": 100, "motorway": 130, "expressway": 100, "living_street": 15,
	"pedestrian_zone": 7, "bicycle_road": 30, "school": 30, "zone": 30, "nsl_restricted": 30 * kmPerMile,
	"nsl_single": 60 * kmPerMile, "nsl_dual": 70 * kmPerMile,
	"at:rural": 100, "de:rural": 100, "be:motorway": 120, "ch:motorway": 120, "ch:rural": 80, "dk:rural": 80,
	"es:motorway": 120, "fi:motorway": 120, "fi:rural": 80, "fr:rural": 80, "gb:motorway": 70 * kmPerMile,
	"hu:trunk": 110, "ie:motorway": 120, "it:trunk": 110, "nl:rural": 80, "no:motorway": 110, "no:rural": 80,
	"pl:motorway": 140, "pl:trunk": 120, "pt:motorway": 120, "ro:trunk": 100, "ru:urban": 60, "ru:motorway": 110,
	"se:rural": 70, "se:motorway": 110, "ua:motorway": 130, "uk:motorway": 70 * kmPerMile, "us:rural": 55 * kmPerMile,
	"us:urban": 25 * kmPerMile,
}

// parseMaxspeed reads a value of maxspeed in km/h: 50, 30 mph, 10 knots, walk, none, RO:urban, DE:zone30. It returns
// infinity if there is no single limit in it.
func parseMaxspeed(value string) float64 {
	v := strings.ToLower(firstValue(value))
	kind := v[strings.IndexByte(v, ':')+1:]
	if limit := cmp.Or(implicitLimits[v], implicitLimits[kind]); limit > 0 {
		return limit
	}
	// Zones carry their limit: zone:30, zone30, 30.
	v = strings.TrimPrefix(strings.TrimPrefix(kind, "zone"), ":")
	unit := strings.TrimLeft(v, "0123456789.")
	kmh, err := strconv.ParseFloat(v[:len(v)-len(unit)], 64)
	kmh *= speedUnits[strings.TrimSpace(unit)]
	if err != nil || kmh <= 0 || kmh >= 500 {
		return math.Inf(1)
	}
	return kmh
}

// size is a size that a way must have: more than tooSmall metres. The first of the keys with a valid value counts.
type size struct {
	keys     []tags.Key
	tooSmall float64
}

// isTooBig reports whether the mode does not fit through a way.
func (p *profile) isTooBig(t *tags.Set) bool {
	for _, s := range p.sizes {
		for _, key := range s.keys {
			if m, ok := metres(t.Get(key)); ok {
				if m <= s.tooSmall {
					return true
				}
				break
			}
		}
	}
	return false
}

// lengths matches lengths in metres (2, 2.5 m) or in feet and inches (7 ft, 6', 6'2").
var lengths = regexp.MustCompile(`^([\d.]+) *(m|ft|'(?: *([\d.]+)")?)?$`)

// metres reads a length.
func metres(text string) (float64, bool) {
	if text == "" {
		return 0, false // most ways
	}
	parts := lengths.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return 0, false
	}
	number, err := strconv.ParseFloat(parts[1], 64)
	if unit := parts[2]; unit != "" && unit != "m" {
		inches, _ := strconv.ParseFloat(parts[3], 64) // 0 if there are none
		number = number*0.3048 + inches*0.0254
	}
	return number, err == nil
}

// durations matches P1DT2H, PT1H20M, 01:20:30, 00:25, and a number of minutes.
var durations = regexp.MustCompile(
	`(?i)^(?:p(?:(\d{1,9})d)?(?:t(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?)?` +
		`|(?:(\d{1,9}):)?(\d{1,9})(?::(\d{1,9}))?)$`)

// longestCrossing is the greatest plausible duration, in seconds. Some ferries take two days.
const longestCrossing = 7 * 24 * 3600

// parseDuration reads the duration of a ferry or a shuttle train in seconds. It returns 0 for an invalid one.
func parseDuration(value string) (seconds int) {
	units := [...]int{0, 24 * 3600, 3600, 60, 1, 3600, 60, 1} // of the submatches; the whole match counts 0
	for i, digits := range durations.FindStringSubmatch(firstValue(value)) {
		n, _ := strconv.Atoi(digits) // 0 if there are none
		seconds += n * units[i]
	}
	if seconds > longestCrossing {
		return 0
	}
	return seconds
}
