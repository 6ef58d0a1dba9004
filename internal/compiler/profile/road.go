package profile

import (
	"strconv"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// Road is a way as a road.
type Road struct {
	Name, Ref string // valid UTF-8
	Attributes
	// Takes is the duration of a ferry in seconds, or 0 if it is not tagged.
	Takes int32
}

// Attributes are the attributes of a road apart from its texts. Forward and Backward mean the way's own direction and
// the opposite one.
type Attributes struct {
	Class region.RoadClass
	// Forward and Backward are the modes that may travel the road.
	Forward, Backward region.Modes
	// DestinationForward and DestinationBackward are those of them with destination-only access: the road is no through
	// road for them (access=destination, customers, …).
	DestinationForward, DestinationBackward region.Modes
	// PrivateForward and PrivateBackward are those of the latter for which the road is private. A trace may be on it, but
	// no route should lead there.
	PrivateForward, PrivateBackward region.Modes
	// SpeedForward and SpeedBackward are a car's free speed in km/h, at least 5. BicycleSpeed and FootSpeed are for both
	// directions, at least 1.
	SpeedForward, SpeedBackward, BicycleSpeed, FootSpeed uint8
	Layer                                                int8
	Flags                                                roadgraph.Flags // those from Roundabout to Reversible
}

// RoadOf returns a way as a road, or the outline of a multipolygon that is a square, a platform or the like. It returns
// false if no mode may travel it.
func RoadOf(t *tags.Set) (r Road, ok bool) {
	w, ok := wayOf(t)
	if !ok {
		return r, false
	}
	r.Class = w.class
	if r.setAccess(t, &w); r.Forward|r.Backward == 0 {
		return r, false
	}
	r.Name, r.Ref = tags.Valid(t.Get(tags.Name)), tags.Valid(t.Get(tags.Ref))
	set := func(flag roadgraph.Flags, is bool) {
		if is {
			r.Flags |= flag
		}
	}
	set(roadgraph.Link, w.link)
	set(roadgraph.Ferry, w.class == region.Ferry)
	set(roadgraph.Roundabout, t.Is(tags.Junction, roundabouts...))
	set(roadgraph.Reversible, t.Is(tags.Oneway, "reversible", "alternating"))
	set(roadgraph.Toll, t.Is(tags.Toll, "yes"))
	set(roadgraph.Tunnel, t.Has(tags.Tunnel) && !t.Is(tags.Tunnel, "no"))
	set(roadgraph.Bridge, t.Has(tags.Bridge) && !t.Is(tags.Bridge, "no"))
	r.SpeedForward, r.SpeedBackward = car.speeds(t, &w)
	r.BicycleSpeed, _ = bicycle.speeds(t, &w)
	r.FootSpeed, _ = foot.speeds(t, &w)
	if t.Has(tags.Layer) {
		if n, err := strconv.ParseInt(t.Get(tags.Layer), 10, 8); err == nil {
			r.Layer = int8(n)
		}
	}
	if w.class == region.Ferry {
		r.Takes = int32(parseDuration(t.Get(tags.Duration)))
	}
	return r, true
}

// detailKeys are the keys whose values are kept as text.
var detailKeys = tags.Named(`
	turn:lanes turn:lanes:forward turn:lanes:backward destination destination:forward destination:backward
	destination:ref destination:ref:forward destination:ref:backward destination:street destination:street:forward
	destination:street:backward destination:lanes destination:lanes:forward destination:lanes:backward junction:ref
	exit_to toll surface smoothness maxheight maxweight maxwidth access:conditional motorcar:conditional
	motor_vehicle:conditional vehicle:conditional hgv:conditional bicycle:conditional foot:conditional
	oneway:conditional restriction:conditional restriction:vehicle:conditional restriction:motor_vehicle:conditional
	restriction:motorcar:conditional restriction:hgv:conditional restriction:bicycle:conditional
	restriction:foot:conditional`)

// Details yields the tags of a road or a restriction that are kept as text, in the order of the file: signs, surfaces,
// size and weight limits, and conditional access.
func Details(t *tags.Set, yield func(key tags.Key, value string)) {
	for key, tag := range t.All {
		if detailKeys.Has(key) {
			yield(key, tags.Valid(tag.Value))
		}
	}
}

// controls are the controls at nodes by values of highway.
var controls = map[string]roadgraph.ControlFlags{
	"traffic_signals": roadgraph.Signals, "stop": roadgraph.Stop, "give_way": roadgraph.GiveWay,
	"crossing": roadgraph.Crossing,
}

var controlDirections = map[string]roadgraph.ControlFlags{
	"forward": roadgraph.Along, "backward": roadgraph.Against, "both": roadgraph.Along | roadgraph.Against,
}

// ControlOf returns the control at a node, such as traffic signals, with its direction along the way if that is tagged.
// It returns 0 if there is none.
func ControlOf(t *tags.Set) roadgraph.ControlFlags {
	c := controls[t.Get(tags.Highway)]
	if c == roadgraph.Crossing && (t.Is(tags.Crossing, "traffic_signals") || t.Is(tags.CrossingSignals, "yes")) {
		c = roadgraph.Signals
	}
	if c == 0 || c == roadgraph.Crossing && t.Is(tags.Crossing, "no") {
		return 0
	}
	direction := t.Get(tags.Direction)
	if c == roadgraph.Signals && t.Has(tags.TrafficSignalsDirection) {
		direction = t.Get(tags.TrafficSignalsDirection)
	}
	return c | controlDirections[direction]
}
