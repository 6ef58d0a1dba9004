package profile

import (
	"strings"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Turn is a turn restriction, without its members.
type Turn struct {
	// Only is set for a mandatory turn, and unset for a forbidden one.
	Only bool
	// ManyFrom and ManyTo say that there may be several from or to members, as of no_entry and no_exit.
	ManyFrom, ManyTo bool
	Modes            region.Modes // to which it applies
	// Understood is false if the value is not known, if it applies to no mode, and if it applies only at certain times,
	// because the time of a trace is not known. Conditional restrictions are among the Details.
	Understood bool
}

// turnKeys are the keys of restrictions. A restriction applies to the modes with the rest of the key among their access
// keys, and to walkers only if it names them.
var turnKeys = tags.List(`restriction restriction:vehicle restriction:motor_vehicle restriction:motorcar
	restriction:hgv restriction:bicycle restriction:foot`)

// isTurn reports whether a value forbids or prescribes a turn. The members say which one, so the rest of the value does
// not matter. Values that end in _on_red apply only at a red light.
func isTurn(value string) bool {
	return (strings.HasPrefix(value, "no_") || strings.HasPrefix(value, "only_")) && !strings.HasSuffix(value, "_on_red")
}

// turnKind returns the first value of a tag that forbids or prescribes a turn, or else the first unknown one.
func turnKind(value string) (kind string) {
	for one := range strings.SplitSeq(value, ";") {
		one = strings.TrimSpace(one)
		if kind == "" && !strings.HasSuffix(one, "_on_red") || !isTurn(kind) && isTurn(one) {
			kind = one
		}
	}
	return kind
}

// timeKeys are the older keys for the hours of a restriction.
var timeKeys = tags.Named("day_on day_off hour_on hour_off")

// TurnOf returns the turn restriction of a relation, or false if it applies to no mode.
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
