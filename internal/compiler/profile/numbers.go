package profile

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

const kmPerMile = 1.609344

// speedUnits are the units of speed limits in km/h.
var speedUnits = map[string]float64{
	"": 1, "km/h": 1, "kmh": 1, "kph": 1, "mph": kmPerMile, "knots": 1.852, "kn": 1.852,
}

// implicitLimits are what kinds of roads allow where a limit is given as country:kind; an entry with the country
// overrides that for the kind alone.
var implicitLimits = map[string]float64{
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

// parseMaxspeed reads a value of maxspeed: 50, 30 mph, 10 knots, walk, none, RO:urban, DE:zone30. False if there is no
// single limit in it.
func parseMaxspeed(value string) (kmh float64, ok bool) {
	v := strings.ToLower(firstValue(value))
	switch v {
	case "none", "unlimited":
		return 130, true
	case "walk", "foot", "walking":
		return 7, true
	}
	if v == "" || v[0] >= '0' && v[0] <= '9' {
		return parseNumericSpeed(v)
	}
	_, kind, _ := strings.Cut(v, ":")
	if kind == "" {
		kind = v
	}
	for _, name := range [...]string{v, kind} {
		if limit, ok := implicitLimits[name]; ok {
			return limit, true
		}
	}
	// Zones carry their limit: zone:30, zone30, 30.
	return parseNumericSpeed(strings.TrimPrefix(strings.TrimPrefix(kind, "zone"), ":"))
}

// parseNumericSpeed reads a number with its unit.
func parseNumericSpeed(v string) (kmh float64, ok bool) {
	unit := strings.TrimLeft(v, "0123456789.")
	digits := v[:len(v)-len(unit)]
	if digits == "" || digits[0] == '.' {
		return 0, false
	}
	number, err := strconv.ParseFloat(digits, 64)
	number *= speedUnits[strings.TrimSpace(unit)]
	return number, err == nil && number > 0 && number < 500
}

// metres reads a length as OpenStreetMap writes it: a number of metres with or without the unit, or of feet and inches
// (6'2").
func metres(text string) (float64, bool) {
	const foot, inch = 0.3048, 0.0254
	text = strings.TrimSpace(text)
	unit, more := 1.0, 0.0
	if feet, inches, ok := strings.Cut(text, "'"); ok {
		inches = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(inches), `"`))
		i, err := strconv.ParseFloat(cmp.Or(inches, "0"), 64)
		if err != nil {
			return 0, false
		}
		text, unit, more = feet, foot, i*inch
	} else if number, ok := strings.CutSuffix(text, "ft"); ok {
		text, unit = number, foot
	} else {
		text = strings.TrimSuffix(text, "m")
	}
	if text == "" {
		return 0, false
	}
	number, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	size := number*unit + more
	return size, err == nil && size == size
}

// longestCrossing bounds what is believed of duration=*: some ferries take two days.
const longestCrossing = 7 * 24 * time.Hour

// parseDuration reads how long a ferry or a shuttle train takes: 25, 00:25, 01:20:30, PT1H20M, P1DT2H. Numbers alone
// are minutes; so is the last of two. It returns seconds, 0 where there is no duration in it.
func parseDuration(value string) int {
	value = strings.ToLower(strings.ReplaceAll(firstValue(value), " ", ""))
	if strings.ContainsAny(value, ".+-") {
		return 0
	}
	days := uint64(0)
	clock, isISO := strings.CutPrefix(value, "p")
	if isISO {
		day := ""
		if day, clock, _ = strings.Cut(clock, "t"); day != "" {
			var err error
			if days, err = strconv.ParseUint(strings.TrimSuffix(day, "d"), 10, 8); err != nil || !strings.HasSuffix(day, "d") {
				return 0
			}
		}
	} else {
		switch parts := strings.Split(clock, ":"); len(parts) {
		case 1:
			clock += "m"
		case 2:
			clock = parts[0] + "h" + parts[1] + "m"
		case 3:
			clock = parts[0] + "h" + parts[1] + "m" + parts[2] + "s"
		}
	}
	d, err := time.ParseDuration(cmp.Or(clock, "0"))
	if d += time.Duration(days) * 24 * time.Hour; err != nil || d > longestCrossing {
		return 0
	}
	return int(d / time.Second)
}
