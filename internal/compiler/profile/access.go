package profile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// setAccess sets the access of all modes to a way. The kind of a way is open to some modes by default, and a mode's own
// keys open it to others. The most specific access key that is present decides, in its form for one direction first.
// Conditional access is ignored.
func (a *Attributes) setAccess(t *tags.Set, w *way) {
	hovForward, hovBackward := isHOV(t, tags.HovLanesForward), isHOV(t, tags.HovLanesBackward)
	for _, p := range profiles {
		if w.area && p.motor || p.wheels && t.Is(tags.Smoothness, "impassable") || p.isTooBig(t) {
			continue
		}
		oneway, usual := p.direction(t, w), p.byDefault(t, w)
		if v, forced := p.permits(t, p.forward, usual, w); oneway >= 0 || forced {
			p.add(v, hovForward, &a.Forward, &a.DestinationForward, &a.PrivateForward)
		}
		if v, forced := p.permits(t, p.backward, usual, w); oneway <= 0 || forced {
			p.add(v, hovBackward, &a.Backward, &a.DestinationBackward, &a.PrivateBackward)
		}
	}
}

// add adds the mode to the sets that a verdict gives it.
func (p *profile) add(v verdict, isHOV bool, open, toDestination, ifPrivate *region.Modes) {
	if v > forbidden {
		*open |= p.mode
	}
	if v == destination || v == private || v > forbidden && isHOV && p.meanings["hov"] == destination {
		*toDestination |= p.mode
	}
	if v == private {
		*ifPrivate |= p.mode
	}
}

// isHOV reports whether a road, or all its lanes in a direction, are reserved for high-occupancy vehicles.
func isHOV(t *tags.Set, directed tags.Key) bool {
	lanes := cmp.Or(t.Get(directed), t.Get(tags.HovLanes))
	return t.Is(tags.Hov, "designated", "only") || lanes != "" && strings.ReplaceAll(lanes+"|", "designated|", "") == ""
}

// permits returns the verdict on a way in a direction: forbidden, private, destination or allowed. forced means that it
// comes from a tag for this direction, which overrides oneway.
func (p *profile) permits(t *tags.Set, directed []tags.Key, usual verdict, w *way) (v verdict, forced bool) {
	for i, key := range p.keys {
		if !t.HasAny(p.accessKeys) {
			break // most ways
		}
		value := cmp.Or(t.Get(directed[i]), t.Get(key))
		if value == "" {
			continue
		}
		own := i < p.own
		v := p.verdict(value, own)
		switch {
		case v == forbidden, w.works && !(own && v >= destination):
			return forbidden, false
		case v == invited, v == allowed && own:
			return allowed, own && t.Has(directed[i])
		case v == allowed && (p.byKind[w.number].opened || w.kind == unknown && !w.area):
			return allowed, false
		case (v == private || v == destination) && usual == allowed:
			return v, false
		}
		return usual, false
	}
	if w.works {
		return forbidden, false
	}
	return usual, false
}

// byDefault returns the verdict on a way without access keys: forbidden or allowed.
func (p *profile) byDefault(t *tags.Set, w *way) verdict {
	open := p.byKind[w.number].open && !(p.motor && t.Is(tags.Service, "emergency_access"))
	if !open && p.beside != nil && w.class <= p.besideUpTo {
		open, _ = p.beside(t, 0)
	}
	if !open || !p.motor && t.Is(tags.Motorroad, "yes") {
		return forbidden
	}
	return allowed
}

// Stops returns the modes that a node stops. The access tags of other objects, such as crossings and entrances, apply
// to these and not to the road.
func Stops(t *tags.Set) region.Modes {
	if !t.Has(tags.Barrier) && t.HasAny(tags.Main) {
		return 0
	}
	return modesOf(func(p *profile) bool { return p.isStopped(t) })
}

func (p *profile) isStopped(t *tags.Set) bool {
	for i, key := range p.keys {
		if value := t.Get(key); value != "" {
			return p.verdict(value, i < p.own) == forbidden &&
				value != "dismount" && // for a step or two
				!(isPrivate(value) && !t.Has(tags.Barrier)) // a private object at the road
		}
	}
	// Barriers that are only audible or visible, as for animals, are open.
	if !t.Has(tags.Barrier) || t.Has(tags.Sensory) && !t.Is(tags.Sensory, "no") {
		return false
	}
	kind := t.Get(tags.Barrier)
	if !p.motor {
		return p.letPass[kind]
	}
	return !p.letPass[kind] && !t.Is(tags.Bollard, "rising") || kind == "kerb" && t.Is(tags.Kerb, "raised") ||
		t.Is(tags.Locked, "yes")
}

// directions are the values of oneway: along the way, against it, or both. A reversible road counts as open in both
// directions, because the time of a trace is not known.
var directions = map[string]int{
	"yes": 1, "true": 1, "1": 1, "-1": -1, "reverse": -1,
	"no": 0, "false": 0, "0": 0, "reversible": 0, "alternating": 0,
}

// roundabouts are the values of junction=* with a direction.
var roundabouts = []string{"roundabout", "circular"}

// direction returns the only direction in which a way may be travelled, as in directions, or 0.
func (p *profile) direction(t *tags.Set, w *way) (oneway int) {
	switch {
	case w.area:
		return 0
	case p.wheels && (w.class == region.Motorway && !w.link || t.Is(tags.Junction, roundabouts...)),
		!p.wheels && t.Is(tags.Conveying, "forward"): // an escalator or a moving walkway
		oneway = 1
	case !p.wheels && t.Is(tags.Conveying, "backward"):
		oneway = -1
	}
	own := false
	for i, key := range slices.Backward(p.oneway) {
		if !t.Has(key) {
			continue // most ways
		}
		if direction, ok := directions[t.Get(key)]; ok {
			oneway, own = direction, i == 0
		}
	}
	if oneway != 0 && !own && p.beside != nil {
		if _, against := p.beside(t, oneway); against {
			return 0
		}
	}
	return oneway
}

// cyclewayKeys are the keys of cycle lanes and tracks, each with the key of its direction.
var cyclewayKeys = [...]struct{ key, oneway tags.Key }{
	{tags.Cycleway, tags.CyclewayOneway}, {tags.CyclewayLeft, tags.CyclewayLeftOneway},
	{tags.CyclewayRight, tags.CyclewayRightOneway}, {tags.CyclewayBoth, tags.CyclewayBothOneway},
}

// cyclewaysOf reports whether a road has cycle lanes or tracks that are not ways of their own, and whether one of them
// leads against a one-way.
func cyclewaysOf(t *tags.Set, oneway int) (has, against bool) {
	for _, k := range cyclewayKeys {
		switch t.Get(k.key) {
		case "opposite", "opposite_lane", "opposite_track", "opposite_share_busway":
			has, against = true, true
		case "lane", "track", "share_busway", "shared_lane", "shared", "sharrow":
			direction, ok := directions[t.Get(k.oneway)]
			has, against = true, against || ok && (direction == 0 || direction == -oneway)
		}
	}
	return has, against
}

// sidewalksOf reports whether a road has a sidewalk that is not a way of its own.
func sidewalksOf(t *tags.Set, _ int) (has, against bool) {
	return t.Is(tags.Sidewalk, "yes", "both", "left", "right") || t.Is(tags.SidewalkBoth, "yes") ||
		t.Is(tags.SidewalkLeft, "yes") || t.Is(tags.SidewalkRight, "yes"), false
}
