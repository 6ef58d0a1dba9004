package profile

import (
	"testing"

	"github.com/mapsedge/caddy-maps/internal/region"
)

func TestTurns(t *testing.T) {
	const vehicles = region.Car | region.Bicycle
	no := func(modes region.Modes) Turn { return Turn{Modes: modes, Understood: true} }
	only := func(modes region.Modes) Turn { return Turn{Modes: modes, Understood: true, Only: true} }
	for want, all := range map[Turn][]string{ // without restriction=
		no(vehicles): {"no_left_turn", "no_u_turn", "no_weird_zigzags", "no_left_turn;no_u_turn", "maybe;no_weird_zigzags",
			"no_left_turn_on_red;no_left_turn", "no_left_turn except=psv", "no_left_turn except=access", "no_left_turn restriction:bicycle=no_right_turn",
			"no_left_turn restriction:conditional=no_u_turn", "x restriction:vehicle=no_left_turn"},
		only(vehicles):     {"only_straight_on", "only_u_turn", "only_weird_zigzags"},
		no(everyone):       {"no_left_turn restriction:foot=no_left_turn"},
		no(region.Bicycle): {" restriction:bicycle=no_left_turn"},
		no(region.Foot):    {" restriction:foot=no_left_turn"},
		no(region.Car): {" restriction:motorcar=no_left_turn", " restriction:motor_vehicle=no_left_turn", "no_left_turn except=bicycle",
			"no_left_turn except=psv;bicycle", "maybe restriction:motorcar=no_left_turn", "no_left_turn_on_red restriction:motorcar=no_left_turn"},
		{Modes: vehicles, Understood: true, ManyFrom: true}: {"no_entry"},
		{Modes: vehicles, Understood: true, ManyTo: true}:   {"no_exit"},
		// At certain times, or not known.
		{Modes: vehicles}: {"maybe", "no_left_turn hour_on=07:00 hour_off=09:00", "no_left_turn day_on=Monday"},
		// For no one here.
		{}: {"", " restriction:hgv=no_left_turn", " restriction:bus=no_left_turn", "no_left_turn except=motorcar;+bicycle", "no_left_turn except=vehicle",
			" restriction:conditional=no_left_turn+@+(Mo-Fr)", " restriction:bicycle:conditional=no_left_turn+@+wet",
			" restriction:hgv:conditional=no_left_turn+@+wet", "no_left_turn_on_red", "no_right_turn_on_red", "only_right_turn_on_red",
			" restriction:motorcar=no_straight_on_on_red"},
	} {
		for _, tags := range all {
			turn, ok := TurnOf(tagsOf("type=restriction restriction=" + tags))
			if is := want != (Turn{}); ok != is || ok && turn != want {
				t.Errorf("%s: %+v, %v; want %+v", tags, turn, ok, want)
			}
		}
	}
	if turn, ok := TurnOf(tagsOf("type=route restriction=no_left_turn")); ok {
		t.Errorf("a route: %+v", turn)
	}
}
