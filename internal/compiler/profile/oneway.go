package profile

import (
	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// direction returns 1 if it may only go along a way's direction, -1 if only against it, 0 if there is no such rule.
func (p *profile) direction(t *tags.Set, w *way) int {
	if w.area {
		return 0
	}
	for i, key := range p.oneway {
		if direction, ok := directionOf(t.Get(key)); ok {
			if p.against != nil && i > 0 && p.against(t, direction) {
				return 0
			}
			return direction
		}
	}
	isOneway := p.wheels && (w.class == mapdata.Motorway && !w.link || t.Is(tags.Junction, roundabouts...))
	switch {
	case isOneway && !(p.against != nil && p.against(t, 1)), !p.wheels && t.Is(tags.Conveying, "forward"):
		return 1
	case !p.wheels && t.Is(tags.Conveying, "backward"): // an escalator or a moving walkway
		return -1
	}
	return 0
}

// roundabouts are the values of junction=* with a direction.
var roundabouts = []string{"roundabout", "circular"}

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

// cyclewayKeys are the keys of cycleways, each with that of its direction.
var cyclewayKeys = [...]struct{ key, oneway tags.Key }{
	{tags.Cycleway, tags.CyclewayOneway}, {tags.CyclewayLeft, tags.CyclewayLeftOneway},
	{tags.CyclewayRight, tags.CyclewayRightOneway}, {tags.CyclewayBoth, tags.CyclewayBothOneway},
}

// cyclewaysOf says whether a road has lanes or tracks for bicycles beside it that are no ways of their own, and whether
// one of them leads against a one-way of a direction.
func cyclewaysOf(t *tags.Set, oneway int) (has, against bool) {
	for _, k := range cyclewayKeys {
		switch t.Get(k.key) {
		case "opposite", "opposite_lane", "opposite_track", "opposite_share_busway":
			has, against = true, true
		case "lane", "track", "share_busway", "shared_lane", "shared", "sharrow":
			direction, ok := directionOf(t.Get(k.oneway))
			has, against = true, against || ok && (direction == 0 || direction == -oneway)
		}
	}
	return has, against
}
