package extract

import (
	"math"
	"strconv"
	"strings"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// longestCrossing bounds what is believed of duration=*, in seconds: some ferries take two days.
const longestCrossing = 7 * 24 * 3600

// parseDuration reads how long a ferry or a shuttle train takes: 25, 00:25, 01:20:30, PT1H20M, P1DT2H. Numbers alone
// are minutes; so is the last of two. It returns seconds, 0 where there is no duration in it.
func parseDuration(value string) int {
	value = strings.ToUpper(firstValue(value))
	seconds, ok := 0.0, false
	if rest, iso := strings.CutPrefix(value, "P"); iso {
		seconds, ok = parsePeriod(rest)
	} else {
		seconds, ok = parseClock(value)
	}
	if !ok || !(seconds >= 1 && seconds <= longestCrossing) {
		return 0
	}
	return int(seconds)
}

// parseClock reads [[hours:]minutes[:seconds]].
func parseClock(value string) (seconds float64, ok bool) {
	parts := strings.Split(value, ":")
	if len(parts) > 3 {
		return 0, false
	}
	units := []float64{3600, 60, 1}
	if len(parts) == 1 {
		units = units[1:]
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(strings.TrimSpace(part), 10, 16)
		if err != nil {
			return 0, false
		}
		seconds += float64(n) * units[i]
	}
	return seconds, true
}

// parsePeriod reads what follows the P of a duration of ISO 8601, up to days.
func parsePeriod(value string) (seconds float64, ok bool) {
	day, clock, _ := strings.Cut(value, "T")
	if day != "" {
		n, err := strconv.ParseUint(strings.TrimSuffix(day, "D"), 10, 16)
		if err != nil || !strings.HasSuffix(day, "D") {
			return 0, false
		}
		seconds = float64(n) * 24 * 3600
	}
	for clock != "" {
		end := strings.IndexAny(clock, "HMS")
		if end < 0 {
			return 0, false
		}
		n, err := strconv.ParseUint(clock[:end], 10, 16)
		if err != nil {
			return 0, false
		}
		seconds += float64(n) * map[byte]float64{'H': 3600, 'M': 60, 'S': 1}[clock[end]]
		clock = clock[end+1:]
	}
	return seconds, true
}

// timeCrossing gives a road of which the tags tell how long it takes the speed that comes to. The duration is that of
// the whole way, so one of which the extract lacks a part keeps the usual speed.
func (w *way) timeCrossing(at func(node uint64) orb.Point) {
	if w.takes == 0 || w.missing > 0 {
		return
	}
	length := 0.0
	for i := range w.nodes[1:] {
		length += geo.DistanceHaversine(at(w.nodes[i]), at(w.nodes[i+1]))
	}
	speed := uint8(math.Round(min(max(length/float64(w.takes)*3.6, 1), maxSpeed)))
	w.road.SpeedForward, w.road.SpeedBackward, w.road.BicycleSpeed, w.road.FootSpeed = speed, speed, speed, speed
}
