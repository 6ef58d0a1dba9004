package extract

import (
	"github.com/paulmach/osm"

	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// Barriers that let a mode pass if no access tag says otherwise. To cars all others are closed; to bicycles and feet
// all others are open.
var (
	openToCars = valueSet("cattle_grid", "border_control", "toll_booth", "sally_port", "gate", "lift_gate", "swing_gate",
		"sliding_gate", "hampshire_gate", "no", "entrance", "height_restrictor", "arch", "checkpoint", "sump_buster", "kerb",
		"speed_bump", "bump_gate")
	closedToBicycles = valueSet("wall", "fence", "yes", "hedge", "city_wall", "retaining_wall", "guard_rail", "stile",
		"turnstile", "full-height_turnstile", "kissing_gate", "debris", "log")
	closedToFeet = valueSet("wall", "fence", "yes", "hedge", "city_wall", "retaining_wall", "guard_rail")
)

// barrierOf returns the modes that a node stops. A node that is something else, a crossing or an entrance say, and has
// access tags tells who may use that, and not who passes it on the road.
func barrierOf(tags osm.Tags) (stopped mapdata.Modes) {
	kind := tags.Find("barrier")
	if kind == "" && hasMainKey(tags) {
		return 0
	}
	if kind != "" && !isVirtual(tags) {
		stopped = stoppedBy(kind, tags)
	}
	for _, a := range accessKeys {
		for i, key := range a.keys {
			value := tags.Find(key)
			if value == "" {
				continue
			}
			v := verdictOf(value, a.mode, i < a.own)
			switch {
			case v == forbidden && a.mode == mapdata.Bicycle && value == "dismount": // for a step or two
				v = allowed
			case v == forbidden && kind == "" && isPrivate(value): // a private something at the road
				v = allowed
			}
			if v == forbidden {
				stopped |= a.mode
			} else {
				stopped &^= a.mode
			}
			break
		}
	}
	return stopped
}

// isVirtual says whether a barrier is one to the senses alone: a fence that animals hear, or a line that is felt.
func isVirtual(tags osm.Tags) bool {
	sensory := tags.Find("sensory")
	return sensory != "" && sensory != "no"
}

// stoppedBy returns the modes that a kind of barrier stops by itself.
func stoppedBy(kind string, tags osm.Tags) (stopped mapdata.Modes) {
	if !openToCars[kind] && tags.Find("bollard") != "rising" || kind == "kerb" && tags.Find("kerb") == "raised" {
		stopped |= mapdata.Car
	}
	if closedToBicycles[kind] {
		stopped |= mapdata.Bicycle
	}
	if closedToFeet[kind] {
		stopped |= mapdata.Foot
	}
	return stopped
}
