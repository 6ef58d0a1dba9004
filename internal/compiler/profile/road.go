package profile

import (
	"strconv"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// Road is what a way is to those who travel along it.
type Road struct {
	Class     mapdata.RoadClass
	Name, Ref string // valid UTF-8
	// Forward and Backward say who may travel along the way's own direction and against it.
	Forward, Backward mapdata.Modes
	// DestinationForward and DestinationBackward are those among them who may only if their way begins or ends there:
	// the road is no through road for them (access=destination, customers, …).
	DestinationForward, DestinationBackward mapdata.Modes
	// PrivateForward and PrivateBackward are those among the latter for whom the road is private. A trace may lie on it,
	// but no route should lead there.
	PrivateForward, PrivateBackward mapdata.Modes
	// SpeedForward and SpeedBackward are a car's free speed in km/h, from maxspeed or from the kind of road; at least 5.
	SpeedForward, SpeedBackward uint8
	// BicycleSpeed and FootSpeed are how fast people ride and walk there in both directions, in km/h; at least 1.
	BicycleSpeed, FootSpeed                       uint8
	Link, Roundabout, Tunnel, Bridge, Toll, Ferry bool
	Layer                                         int8
	// Takes is how many seconds all of a ferry takes, 0 where the tags do not tell.
	Takes int32
}

// RoadOf returns what a way is as a road; false if nobody may travel along it.
func RoadOf(t *tags.Set) (Road, bool) { return roadOf(t, false) }

// AreaRoadOf returns what the outline of a multipolygon relation with highway=* is as a road: a square, a platform, …
// False if the relation is no such thing.
func AreaRoadOf(t *tags.Set) (Road, bool) {
	if !t.Has(tags.Highway) || !t.Is(tags.Type, "multipolygon") {
		return Road{}, false
	}
	return roadOf(t, true)
}

func roadOf(t *tags.Set, isArea bool) (r Road, ok bool) {
	w, ok := wayOf(t, isArea)
	if !ok {
		return r, false
	}
	forward, backward := access(t, &w)
	if forward.open|backward.open == 0 {
		return r, false
	}
	r = Road{
		Class: w.class, Link: w.link, Ferry: w.class == mapdata.Ferry,
		Name: tags.Valid(t.Get(tags.Name)), Ref: tags.Valid(t.Get(tags.Ref)),
		Forward: forward.open, DestinationForward: forward.destination, PrivateForward: forward.private,
		Backward: backward.open, DestinationBackward: backward.destination, PrivateBackward: backward.private,
		Roundabout: t.Is(tags.Junction, roundabouts...), Toll: t.Is(tags.Toll, "yes"),
		Tunnel: t.Has(tags.Tunnel) && !t.Is(tags.Tunnel, "no"), Bridge: t.Has(tags.Bridge) && !t.Is(tags.Bridge, "no"),
	}
	if oldRules { // which did not tell private roads from others
		r.PrivateForward, r.PrivateBackward = 0, 0
	}
	r.SpeedForward, r.SpeedBackward = car.speeds(t, &w)
	r.BicycleSpeed, _ = bicycle.speeds(t, &w)
	r.FootSpeed, _ = foot.speeds(t, &w)
	if t.Has(tags.Layer) {
		if n, err := strconv.ParseInt(t.Get(tags.Layer), 10, 8); err == nil {
			r.Layer = int8(n)
		}
	}
	if r.Ferry {
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
	if !t.HasAny(detailKeys) {
		return
	}
	for key, tag := range t.All {
		if detailKeys.Has(key) {
			yield(key, tags.Valid(tag.Value))
		}
	}
}

// Control is what makes traffic at a node slow down or stop, with the directions along the way in which it does.
type Control uint8

// The kinds of controls.
const (
	TrafficSignals Control = iota + 1
	Stop
	GiveWay
	Crossing
)

// The directions of controls. Neither is set where the tags do not tell.
const (
	controlsForward Control = 1 << (6 + iota)
	controlsBackward
)

// Kind returns the control without its directions.
func (c Control) Kind() Control { return c &^ (controlsForward | controlsBackward) }

// Forward says whether it is for those who come along the way's direction.
func (c Control) Forward() bool { return c&controlsForward != 0 }

// Backward says whether it is for those who come against the way's direction.
func (c Control) Backward() bool { return c&controlsBackward != 0 }

var (
	controls = map[string]Control{
		"traffic_signals": TrafficSignals, "stop": Stop, "give_way": GiveWay, "crossing": Crossing,
	}
	controlDirections = map[string]Control{
		"forward": controlsForward, "backward": controlsBackward, "both": controlsForward | controlsBackward,
	}
)

// ControlOf returns the control of a node; false if it has none.
func ControlOf(t *tags.Set) (Control, bool) {
	c := controls[t.Get(tags.Highway)]
	if c == Crossing && (t.Is(tags.Crossing, "traffic_signals") || t.Is(tags.CrossingSignals, "yes")) {
		c = TrafficSignals
	}
	if c == 0 || c == Crossing && t.Is(tags.Crossing, "no") {
		return 0, false
	}
	direction := t.Get(tags.Direction)
	if c == TrafficSignals && t.Has(tags.TrafficSignalsDirection) {
		direction = t.Get(tags.TrafficSignalsDirection)
	}
	return c | controlDirections[direction], true
}
