package extract

import (
	"math"

	"github.com/paulmach/osm"
)

// What a surface, its smoothness, a track's grade or a mountain path's difficulty leave of the speed of those who ride and of
// those who walk, in km/h.
var (
	ridingSpeeds = map[osm.Tag]float64{
		{Key: "surface", Value: "unpaved"}: 12, {Key: "surface", Value: "gravel"}: 10, {Key: "surface", Value: "fine_gravel"}: 14,
		{Key: "surface", Value: "pebblestone"}: 10, {Key: "surface", Value: "ground"}: 11, {Key: "surface", Value: "dirt"}: 11,
		{Key: "surface", Value: "earth"}: 11, {Key: "surface", Value: "grass"}: 8, {Key: "surface", Value: "grass_paver"}: 10,
		{Key: "surface", Value: "sand"}: 5, {Key: "surface", Value: "mud"}: 5, {Key: "surface", Value: "rock"}: 6,
		{Key: "surface", Value: "stone"}: 6, {Key: "surface", Value: "cobblestone"}: 9,
		{Key: "surface", Value: "unhewn_cobblestone"}: 7, {Key: "surface", Value: "sett"}: 11,
		{Key: "surface", Value: "compacted"}: 15, {Key: "surface", Value: "wood"}: 12,
		{Key: "smoothness", Value: "bad"}: 11, {Key: "smoothness", Value: "very_bad"}: 8, {Key: "smoothness", Value: "horrible"}: 5,
		{Key: "smoothness", Value: "very_horrible"}: 4,
		{Key: "tracktype", Value: "grade2"}:         14, {Key: "tracktype", Value: "grade3"}: 11, {Key: "tracktype", Value: "grade4"}: 9,
		{Key: "tracktype", Value: "grade5"}: 7,
		{Key: "sac_scale", Value: "hiking"}: 8, {Key: "sac_scale", Value: "mountain_hiking"}: 5,
	}
	walkingSpeeds = map[osm.Tag]float64{
		{Key: "surface", Value: "gravel"}: 4, {Key: "surface", Value: "pebblestone"}: 4, {Key: "surface", Value: "rock"}: 4,
		{Key: "surface", Value: "sand"}: 3, {Key: "surface", Value: "mud"}: 3,
		{Key: "smoothness", Value: "very_horrible"}: 4, {Key: "smoothness", Value: "impassable"}: 3,
		{Key: "sac_scale", Value: "mountain_hiking"}: 4, {Key: "sac_scale", Value: "demanding_mountain_hiking"}: 3,
		{Key: "sac_scale", Value: "alpine_hiking"}: 2, {Key: "sac_scale", Value: "demanding_alpine_hiking"}: 2,
		{Key: "sac_scale", Value: "difficult_alpine_hiking"}: 1,
		// The sidewalk is a way of its own, and walkers are on it rather than on the road.
		{Key: "sidewalk", Value: "separate"}: 4, {Key: "sidewalk:both", Value: "separate"}: 4,
	}
)

// slowSpeeds returns how fast people ride and walk along a road, in km/h. Limits do not concern them.
func slowSpeeds(tags osm.Tags, h highway) (bicycle, foot uint8) {
	ride, walk := float64(h.bicycle), float64(h.foot)
	if h.class != Ferry {
		for i := range tags {
			ride = capSpeed(ride, ridingSpeeds, tags[i])
			walk = capSpeed(walk, walkingSpeeds, tags[i])
		}
	}
	return uint8(math.Round(ride)), uint8(math.Round(walk))
}
