package extract

import (
	"strconv"
	"strings"

	"github.com/paulmach/osm"
)

// What a usual car needs, in metres.
const (
	carWidth  = 1.9
	carHeight = 2.0
)

var (
	widthKeys  = []string{"maxwidth:physical", "maxwidth", "width", "est_width"}
	heightKeys = []string{"maxheight:physical", "maxheight"}
)

// tooSmall reports whether a way is too narrow or too low for a car, by the first key of each kind that has a size.
func tooSmall(tags osm.Tags) bool {
	return sizeOf(tags, widthKeys, carWidth) <= carWidth || sizeOf(tags, heightKeys, carHeight) < carHeight
}

func sizeOf(tags osm.Tags, keys []string, fits float64) float64 {
	for _, key := range keys {
		if size, ok := metres(tags.Find(key)); ok {
			return size
		}
	}
	return fits + 1
}

// metres reads a length as OpenStreetMap writes it: a number of metres with or without the unit, or of feet and inches
// (6'2").
func metres(text string) (float64, bool) {
	const foot, inch = 0.3048, 0.0254
	if text = strings.TrimSpace(text); text == "" {
		return 0, false
	}
	if feet, inches, ok := strings.Cut(text, "'"); ok {
		f, err := strconv.ParseFloat(strings.TrimSpace(feet), 64)
		inches = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(inches), `"`))
		if err != nil || inches == "" {
			return f * foot, err == nil
		}
		i, err := strconv.ParseFloat(inches, 64)
		return f*foot + i*inch, err == nil
	}
	unit := 1.0
	if number, ok := strings.CutSuffix(text, "ft"); ok {
		text, unit = strings.TrimSpace(number), foot
	} else if number, ok := strings.CutSuffix(text, "m"); ok {
		text = strings.TrimSpace(number)
	}
	number, err := strconv.ParseFloat(text, 64)
	return number * unit, err == nil && number == number
}
