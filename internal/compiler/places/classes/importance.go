package classes

import (
	"math"
	"strconv"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// The importance of places without further tags, from 0 to 1. The numbers have no source: they put large things first.
var placeImportance = map[string]float64{
	"continent": .95, "country": .9, "state": .75, "region": .65, "province": .65, "archipelago": .6, "county": .55,
	"district": .5, "municipality": .5, "city": .6, "town": .5, "island": .45, "village": .4, "borough": .42,
	"suburb": .38, "hamlet": .3, "quarter": .3, "neighbourhood": .26, "islet": .25, "isolated_dwelling": .2, "farm": .2,
	"locality": .22, "square": .25,
}

// streetImportance is that of streets, by highway.
var streetImportance = map[string]float64{
	"motorway": .24, "trunk": .24, "primary": .24, "secondary": .22, "tertiary": .21, "residential": .2,
	"unclassified": .2, "living_street": .2, "pedestrian": .21, "road": .2,
}

const (
	leastImportance  = .1
	roadImportance   = .15 // of paths and service roads
	stopImportance   = .05 // of bus stops, which are named after other things
	wikidataBonus    = .12
	capitalBonus     = .1
	populationWeight = .05 // for each power of ten above a thousand people
	areaWeight       = .02 // for each power of ten of square metres above a hectare
)

// importance returns how likely the current object is wanted: 0 to 255 for 0 to 1.
func (l *Reader) importance(c *Class, g *geometry.Geometry) uint8 {
	value := leastImportance
	place := placeImportance[string(l.value(keyPlace))]
	switch {
	case c.Area.Own.Code != "":
		value = placeImportance["country"]
	case place > 0:
		value = place
	case c.Area.Admin && c.Area.Level > 0:
		value = .8 - .05*float64(c.Area.Level)
	case l.has(keyHighway) && g.Shape == geometry.Point:
		value = stopImportance
	case c.Road != placefile.NoStreet || l.has(keyHighway):
		if value = streetImportance[string(l.value(keyHighway))]; value == 0 {
			value = roadImportance
		}
	}
	people := strings.ReplaceAll(string(l.value(keyPopulation)), ",", "")
	if n, err := strconv.ParseFloat(people, 64); err == nil && n > 1e3 {
		value += populationWeight * math.Log10(n/1e3)
	}
	if l.has(keyWikidata) {
		value += wikidataBonus
	}
	if capital := string(l.value(keyCapital)); capital != "" && capital != "no" {
		value += capitalBonus
	}
	if g.Shape == geometry.Area && place == 0 {
		value += areaWeight * max(0, math.Log10(g.Extent()/1e4))
	}
	return uint8(math.Round(255 * min(value, 1)))
}
