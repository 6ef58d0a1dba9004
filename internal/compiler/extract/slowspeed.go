package extract

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/mapdata"

	"github.com/paulmach/osm"
)

// What a surface, its smoothness, a track's grade or a mountain path's difficulty leave of the speed of those who ride
// and of those who walk, in km/h.
var (
	ridingSpeeds = map[string]map[string]float64{
		"surface": {
			"compacted": 15, "fine_gravel": 14, "unpaved": 12, "wood": 12, "ground": 11, "dirt": 11, "earth": 11, "sett": 11,
			"gravel": 10, "pebblestone": 10, "grass_paver": 10, "cobblestone": 9, "grass": 8, "unhewn_cobblestone": 7,
			"rock": 6, "stone": 6, "sand": 5, "mud": 5,
		},
		"smoothness": {"bad": 11, "very_bad": 8, "horrible": 5, "very_horrible": 4},
		"tracktype":  {"grade2": 14, "grade3": 11, "grade4": 9, "grade5": 7},
		"sac_scale": {
			"hiking": 8, "mountain_hiking": 5, "demanding_mountain_hiking": 4, "alpine_hiking": 3,
			"demanding_alpine_hiking": 3, "difficult_alpine_hiking": 3,
		},
	}
	walkingSpeeds = map[string]map[string]float64{
		"surface":    {"gravel": 4, "pebblestone": 4, "rock": 4, "sand": 3, "mud": 3},
		"smoothness": {"very_horrible": 4, "impassable": 3},
		"sac_scale": {
			"mountain_hiking": 4, "demanding_mountain_hiking": 3, "alpine_hiking": 2, "demanding_alpine_hiking": 2,
			"difficult_alpine_hiking": 1,
		},
		// The sidewalk is a way of its own, and walkers are on it rather than on the road.
		"sidewalk": {"separate": 4}, "sidewalk:both": {"separate": 4},
	}
)

// slowSpeeds returns how fast people ride and walk along a road, in km/h. Limits do not concern them.
func slowSpeeds(tags osm.Tags, h highway) (bicycle, foot uint8) {
	ride, walk := float64(h.bicycle), float64(h.foot)
	if h.class != mapdata.Ferry {
		for i := range tags {
			ride = capSpeed(ride, ridingSpeeds[tags[i].Key], tags[i].Value)
			walk = capSpeed(walk, walkingSpeeds[tags[i].Key], tags[i].Value)
		}
	}
	return uint8(math.Round(ride)), uint8(math.Round(walk))
}
