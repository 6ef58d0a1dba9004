package extract

import (
	"github.com/paulmach/osm"

	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// onewayKeys are the keys that say in which direction each mode may travel, the most specific first. Walkers go as they
// like, except where a key says that it means them.
var onewayKeys = map[mapdata.Modes][]string{
	mapdata.Car:     {"oneway:motorcar", "oneway:motor_vehicle", "oneway:vehicle", "oneway"},
	mapdata.Bicycle: {"oneway:bicycle", "oneway:vehicle", "oneway"},
	mapdata.Foot:    {"oneway:foot"},
}

// onewayOf returns 1 if a mode may only go along a way's direction, -1 if only against it, 0 if there is no such rule.
func onewayOf(tags osm.Tags, mode mapdata.Modes, h highway) int {
	if h.area {
		return 0
	}
	for _, key := range onewayKeys[mode] {
		if direction, ok := directionOf(tags.Find(key)); ok {
			if mode == mapdata.Bicycle && key != "oneway:bicycle" && cyclewaysOf(tags).against(direction) {
				return 0
			}
			return direction
		}
	}
	if mode == mapdata.Foot {
		return conveying(tags)
	}
	if j := tags.Find("junction"); j == "roundabout" || j == "circular" || h.class == mapdata.Motorway && !h.link {
		if mode == mapdata.Bicycle && cyclewaysOf(tags).against(1) {
			return 0
		}
		return 1
	}
	return 0
}

// directionOf reads a value of oneway=*. A reversible road is open in either direction at some time of the day, and
// nobody knows when a trace was made.
func directionOf(value string) (direction int, ok bool) {
	switch value {
	case "yes", "true", "1":
		return 1, true
	case "-1", "reverse":
		return -1, true
	case "no", "false", "0", "reversible", "alternating":
		return 0, true
	}
	return 0, false
}

// conveying returns the direction of an escalator or a moving walkway.
func conveying(tags osm.Tags) int {
	switch tags.Find("conveying") {
	case "forward":
		return 1
	case "backward":
		return -1
	}
	return 0
}

// cycleways are the lanes and tracks for bicycles that a road has beside it and that are no ways of their own.
type cycleways struct {
	any               bool
	opposite          bool // one leads against the one-way that the road is
	forward, backward bool // one is said to lead along the way, or against it
}

// against says whether bicycles may ride against a one-way.
func (c cycleways) against(oneway int) bool {
	return c.opposite || oneway > 0 && c.backward || oneway < 0 && c.forward
}

func cyclewaysOf(tags osm.Tags) (c cycleways) {
	for _, key := range [...]string{"cycleway", "cycleway:left", "cycleway:right", "cycleway:both"} {
		switch tags.Find(key) {
		case "opposite", "opposite_lane", "opposite_track", "opposite_share_busway":
			c.any, c.opposite = true, true
		case "lane", "track", "share_busway", "shared_lane", "shared", "sharrow":
			c.any = true
		default:
			continue
		}
		if direction, ok := directionOf(tags.Find(key + ":oneway")); ok {
			c.forward = c.forward || direction >= 0
			c.backward = c.backward || direction <= 0
		}
	}
	return c
}
