package profile

import (
	"strings"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Turn is a restriction relation, apart from its members.
type Turn struct {
	// Only is set for the turn that must be made, unset for one that must not.
	Only bool
	// ManyFrom and ManyTo say that there may be several from or to members, each of which is meant: no_entry and no_exit.
	ManyFrom, ManyTo bool
	Modes            region.Modes // to whom it applies
	// Understood is false where the value is not known, where it applies to nobody, and where it holds at certain times
	// only: nobody knows when a trace was made. What holds at certain times by a tag of its own is among the Details.
	Understood bool
}

// turnKeys are the keys that hold a restriction. It applies to those who have the rest of the key among their access
// keys. Walkers heed those alone that name them.
var turnKeys = tags.List(`restriction restriction:vehicle restriction:motor_vehicle restriction:motorcar
	restriction:hgv restriction:bicycle restriction:foot`)

// isTurn says whether a value forbids or prescribes a turn. The geometry says which one, so that the rest of the value
// need not be known. What ends in _on_red is about a light, and says nothing when it is green.
func isTurn(value string) bool {
	return (strings.HasPrefix(value, "no_") || strings.HasPrefix(value, "only_")) && !strings.HasSuffix(value, "_on_red")
}

// turnKind returns the first of the values of a tag that forbids or prescribes a turn, else the first that might mean
// to.
func turnKind(value string) (kind string) {
	for one := range strings.SplitSeq(value, ";") {
		one = strings.TrimSpace(one)
		if kind == "" && !strings.HasSuffix(one, "_on_red") || !isTurn(kind) && isTurn(one) {
			kind = one
		}
	}
	return kind
}

// timeKeys are the older keys for the hours of a restriction, which change what its value means.
var timeKeys = tags.Named("day_on day_off hour_on hour_off")

// TurnOf returns what a restriction relation says; false if it concerns nobody.
func TurnOf(t *tags.Set) (turn Turn, ok bool) {
	if !t.Is(tags.Type, "restriction") {
		return turn, false
	}
	var kind string
	for _, key := range turnKeys {
		value := turnKind(t.Get(key))
		if isTurn(value) && !isTurn(kind) {
			kind, turn.Modes = value, 0 // instead of one that is not understood
		}
		if value != "" && (kind == "" || value == kind) {
			kind = value
			_, who, _ := strings.Cut(key.String(), ":")
			turn.Modes |= modesOf(func(p *profile) bool { return p.heeds(who) || who == "" && p.wheels })
		}
	}
	for value := range strings.SplitSeq(t.Get(tags.Except), ";") {
		turn.Modes &^= modesOf(func(p *profile) bool { return p.heeds(strings.TrimSpace(value)) })
	}
	turn.Only = strings.HasPrefix(kind, "only_")
	turn.ManyFrom, turn.ManyTo = kind == "no_entry", kind == "no_exit"
	turn.Understood = turn.Modes != 0 && isTurn(kind) && !t.HasAny(timeKeys)
	return turn, turn.Modes != 0
}
