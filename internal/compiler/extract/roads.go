package extract

import (
	"strconv"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/mapdata"

	"github.com/paulmach/osm"
)

// namedRoad is a road with its texts, which have no numbers yet.
type namedRoad struct {
	Road
	name, ref string
}

// clone returns a road whose texts are its own, and no part of a block's.
func (r namedRoad) clone() *namedRoad {
	r.name, r.ref = strings.Clone(r.name), strings.Clone(r.ref)
	return &r
}

// roadOf returns what a way of such tags is as a road, without its nodes; false if nobody may travel along it.
func roadOf(tags osm.Tags) (r namedRoad, ok bool) {
	h, ok := highwayOf(tags)
	if !ok {
		return r, false
	}
	forward, backward := access(tags, h)
	if forward.open|backward.open == 0 {
		return r, false
	}
	r.Road = Road{Class: h.class, Link: h.link, Ferry: h.class == mapdata.Ferry,
		Forward: forward.open, DestinationForward: forward.destination,
		Backward: backward.open, DestinationBackward: backward.destination}
	r.SpeedForward, r.SpeedBackward = speeds(tags, h)
	r.BicycleSpeed, r.FootSpeed = slowSpeeds(tags, h)
	for i := range tags {
		value := tags[i].Value
		switch tags[i].Key {
		case "name":
			r.name = value
		case "ref":
			r.ref = value
		case "junction":
			r.Roundabout = value == "roundabout" || value == "circular"
		case "tunnel":
			r.Tunnel = value != "no"
		case "bridge":
			r.Bridge = value != "no"
		case "toll":
			r.Toll = value == "yes"
		case "layer":
			if n, err := strconv.ParseInt(value, 10, 8); err == nil {
				r.Layer = int8(n)
			}
		}
	}
	return r, true
}
