package profile

import (
	"strconv"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

// Road is what a way is to those who travel along it.
type Road struct {
	Name, Ref string // valid UTF-8
	Attributes
	// Takes is how many seconds all of a ferry takes, 0 where the tags do not tell.
	Takes int32
}

// Attributes are what roads have in common, whatever their names. Forward and Backward mean the way's own direction and
// the opposite one.
type Attributes struct {
	Class region.RoadClass
	// Forward and Backward are who may travel the road.
	Forward, Backward region.Modes
	// DestinationForward and DestinationBackward are those of them who may only where their way begins or ends there:
	// the road is no through road for them (access=destination, customers, …).
	DestinationForward, DestinationBackward region.Modes
	// PrivateForward and PrivateBackward are those of the latter for whom the road is private. A trace may lie on it,
	// but no route should lead there.
	PrivateForward, PrivateBackward region.Modes
	// SpeedForward and SpeedBackward are a car's free speed in km/h, at least 5; BicycleSpeed and FootSpeed how fast
	// people ride and walk there in both directions, at least 1.
	SpeedForward, SpeedBackward, BicycleSpeed, FootSpeed uint8
	Layer                                                int8
	Flags                                                roadgraph.Flags // those from Roundabout to Ferry
}

// RoadOf returns what a way is as a road, or the outline of a multipolygon with highway=*: a square, a platform, …
// False if nobody may travel along it.
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

// detailKeys are the keys of which the values are kept as text.
var detailKeys = tags.Named(`
	turn:lanes turn:lanes:forward turn:lanes:backward destination destination:forward destination:backward
	destination:ref destination:ref:forward destination:ref:backward destination:street destination:street:forward
	destination:street:backward destination:lanes destination:lanes:forward destination:lanes:backward junction:ref
	exit_to toll surface smoothness maxheight maxweight maxwidth access:conditional motorcar:conditional
	motor_vehicle:conditional vehicle:conditional hgv:conditional bicycle:conditional foot:conditional
	oneway:conditional restriction:conditional restriction:vehicle:conditional restriction:motor_vehicle:conditional
	restriction:motorcar:conditional restriction:hgv:conditional restriction:bicycle:conditional
	restriction:foot:conditional`)

// Details yields the tags of a road or a restriction that are kept as text, in the order of the file: what signs say,
// what fits through, and conditional access.
func Details(t *tags.Set, yield func(key tags.Key, value string)) {
	for key, tag := range t.All {
		if detailKeys.Has(key) {
			yield(key, tags.Valid(tag.Value))
		}
	}
}

// controls are what makes traffic at a node slow down or stop, by the value of highway=*.
var controls = map[string]roadgraph.ControlFlags{
	"traffic_signals": roadgraph.Signals, "stop": roadgraph.Stop, "give_way": roadgraph.GiveWay,
	"crossing": roadgraph.Crossing,
}

var controlDirections = map[string]roadgraph.ControlFlags{
	"forward": roadgraph.Along, "backward": roadgraph.Against, "both": roadgraph.Along | roadgraph.Against,
}

// ControlOf returns what makes traffic at a node slow down or stop, with the directions along the way in which it does
// where the tags tell; 0 if there is nothing.
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
