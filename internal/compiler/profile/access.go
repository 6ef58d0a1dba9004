package profile

import (
	"strings"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// rights are who may travel along a road in one direction.
type rights struct {
	open mapdata.Modes
	// destination are those among them who may only do so if their way begins or ends there, and private those among them
	// for whom it is private.
	destination, private mapdata.Modes
}

// access returns who may travel along a way in each direction. The kind of a way says to whom it is open by default; a
// mode's own key opens others. Of the access keys the most specific one that is present decides, in its form for one
// direction first. docs/matching.md has it in full. Conditional access is not considered.
func access(t *tags.Set, w *way) (forward, backward rights) {
	hovForward, hovBackward := isHOV(t, tags.HovLanesForward), isHOV(t, tags.HovLanesBackward)
	for _, p := range profiles {
		if w.area && p.motor || p.wheels && t.Is(tags.Smoothness, "impassable") || p.isTooBig(t) {
			continue
		}
		oneway := p.direction(t, w)
		usual := forbidden
		if p.opensByDefault(t, w) {
			usual = allowed
		}
		if v, forced := p.permits(t, p.forward, usual, w); oneway >= 0 || forced {
			forward.add(p, v, hovForward)
		}
		if v, forced := p.permits(t, p.backward, usual, w); oneway <= 0 || forced {
			backward.add(p, v, hovBackward)
		}
	}
	return forward, backward
}

func (r *rights) add(p *profile, v verdict, isHOV bool) {
	if v > forbidden {
		r.open |= p.mode
	}
	if v == destination || v == private || v > forbidden && isHOV && p.meanings["hov"] == destination {
		r.destination |= p.mode
	}
	if v == private {
		r.private |= p.mode
	}
}

// isHOV says whether a road, or all of its lanes in a direction, are for cars with passengers, which most cars are not.
func isHOV(t *tags.Set, directed tags.Key) bool {
	return t.Is(tags.Hov, "designated", "only") || areAllHOV(t.Get(tags.HovLanes)) || areAllHOV(t.Get(directed))
}

func areAllHOV(lanes string) bool {
	return lanes != "" && strings.ReplaceAll(lanes+"|", "designated|", "") == ""
}

// permits says whether a way may be used in a direction: forbidden, private, destination or allowed. forced means that
// a tag for this very direction says so, which is stronger than oneway.
func (p *profile) permits(t *tags.Set, directed []tags.Key, usual verdict, w *way) (v verdict, forced bool) {
	for i, key := range p.keys {
		if !t.HasAny(p.accessKeys) {
			break
		}
		value, isDirected := t.Get(directed[i]), true
		if value == "" {
			value, isDirected = t.Get(key), false
		}
		if value == "" {
			continue
		}
		own := i < p.own
		v := p.verdict(value, own)
		switch {
		case v == forbidden, w.works && !(own && v >= destination),
			oldRules && w.class == mapdata.Service && v <= destination && isPrivate(value):
			return forbidden, false
		case v == invited, v == allowed && own:
			return allowed, isDirected && own
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

// opensByDefault says whether a way may be used about which no access key says anything.
func (p *profile) opensByDefault(t *tags.Set, w *way) bool {
	switch {
	case !p.motor && t.Is(tags.Motorroad, "yes"):
		return false
	case p.byKind[w.number].open && !(p.motor && t.Is(tags.Service, "emergency_access")):
		return true
	}
	return p.beside != nil && p.beside(t, w.class)
}

// hasSidewalk says whether a road has a sidewalk that is not a way of its own.
func hasSidewalk(t *tags.Set) bool {
	return t.Is(tags.Sidewalk, "yes", "both", "left", "right") || t.Is(tags.SidewalkBoth, "yes") ||
		t.Is(tags.SidewalkLeft, "yes") || t.Is(tags.SidewalkRight, "yes")
}

// Stops returns the modes that a node stops. A node that is something else, a crossing or an entrance say, and has
// access tags tells who may use that, and not who passes it on the road.
func Stops(t *tags.Set) (stopped mapdata.Modes) {
	if !t.Has(tags.Barrier) && t.HasAny(tags.Main) {
		return 0
	}
	for _, p := range profiles {
		if p.isStopped(t) {
			stopped |= p.mode
		}
	}
	return stopped
}

func (p *profile) isStopped(t *tags.Set) bool {
	for i, key := range p.keys {
		if !t.Has(key) {
			continue
		}
		value := t.Get(key)
		return p.verdict(value, i < p.own) == forbidden &&
			value != "dismount" && // for a step or two
			!(isPrivate(value) && !t.Has(tags.Barrier)) // a private something at the road
	}
	// A barrier to the senses alone is open: a fence that animals hear, or a line that is felt.
	return t.Has(tags.Barrier) && (!t.Has(tags.Sensory) || t.Is(tags.Sensory, "no")) && p.isStoppedBy(t)
}

// isStoppedBy says whether a barrier stops it by itself.
func (p *profile) isStoppedBy(t *tags.Set) bool {
	kind := t.Get(tags.Barrier)
	if !p.motor {
		return p.letPass[kind]
	}
	return !p.letPass[kind] && !t.Is(tags.Bollard, "rising") || kind == "kerb" && t.Is(tags.Kerb, "raised") ||
		t.Is(tags.Locked, "yes") && !oldRules
}
