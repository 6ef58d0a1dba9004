package profile

import (
	"testing"

	"github.com/mapsedge/caddy-maps/internal/region"
)

func TestTurns(t *testing.T) {
	const vehicles = region.Car | region.Bicycle
	no := func(modes region.Modes) Turn { return Turn{Modes: modes, Understood: true} }
	only := func(modes region.Modes) Turn { return Turn{Modes: modes, Understood: true, Only: true} }
	tests := []struct {
		tags string
		want Turn // the zero value: none
	}{
		{"restriction=no_left_turn", no(vehicles)},
		{"restriction=only_straight_on", only(vehicles)},
		{"restriction=no_u_turn", no(vehicles)},
		{"restriction=only_u_turn", only(vehicles)},
		{"restriction=no_entry", Turn{Modes: vehicles, Understood: true, ManyFrom: true}},
		{"restriction=no_exit", Turn{Modes: vehicles, Understood: true, ManyTo: true}},
		{"restriction:motorcar=no_left_turn", no(region.Car)},
		{"restriction:motor_vehicle=no_left_turn", no(region.Car)},
		{"restriction:vehicle=no_left_turn", no(vehicles)},
		{"restriction:bicycle=no_left_turn", no(region.Bicycle)},
		{"restriction:foot=no_left_turn", no(region.Foot)},
		{"restriction:hgv=no_left_turn", Turn{}},
		{"restriction:bus=no_left_turn", Turn{}},
		{"restriction=no_left_turn except=bicycle", no(region.Car)},
		{"restriction=no_left_turn except=psv;bicycle", no(region.Car)},
		{"restriction=no_left_turn except=psv", no(vehicles)},
		{"restriction=no_left_turn except=access", no(vehicles)},
		{"restriction=no_left_turn except=motorcar;+bicycle", Turn{}},
		{"restriction=no_left_turn except=vehicle", Turn{}},
		{"restriction=no_left_turn restriction:foot=no_left_turn", no(everyone)},
		{"restriction=no_left_turn restriction:bicycle=no_right_turn", no(vehicles)},
		{"restriction=no_left_turn;no_u_turn", no(vehicles)},

		// At certain times.
		{"restriction:conditional=no_left_turn+@+(Mo-Fr)", Turn{}},
		{"restriction:bicycle:conditional=no_left_turn+@+wet", Turn{}},
		{"restriction:hgv:conditional=no_left_turn+@+wet", Turn{}},
		{"restriction=no_left_turn restriction:conditional=no_u_turn",
			Turn{Modes: vehicles, Understood: true}},
		{"restriction=no_left_turn hour_on=07:00 hour_off=09:00", Turn{Modes: vehicles}},
		{"restriction=no_left_turn day_on=Monday", Turn{Modes: vehicles}},

		// At red lights, and what is not known.
		{"restriction=no_left_turn_on_red", Turn{}},
		{"restriction=no_right_turn_on_red", Turn{}},
		{"restriction=only_right_turn_on_red", Turn{}},
		{"restriction:motorcar=no_straight_on_on_red", Turn{}},
		{"restriction=no_left_turn_on_red;no_left_turn", no(vehicles)},
		{"restriction=no_left_turn_on_red restriction:motorcar=no_left_turn", no(region.Car)},
		{"restriction=no_weird_zigzags", no(vehicles)},
		{"restriction=only_weird_zigzags", only(vehicles)},
		{"restriction=maybe restriction:motorcar=no_left_turn", no(region.Car)},
		{"restriction=maybe;no_weird_zigzags", no(vehicles)},
		{"restriction=maybe", Turn{Modes: vehicles}},
		{"", Turn{}},
	}
	for _, test := range tests {
		turn, ok := TurnOf(tagsOf("type=restriction " + test.tags))
		if want := test.want != (Turn{}); ok != want || ok && turn != test.want {
			t.Errorf("%s: %+v, %v; want %+v", test.tags, turn, ok, test.want)
		}
	}
	if turn, ok := TurnOf(tagsOf("type=route restriction=no_left_turn")); ok {
		t.Errorf("a route: %+v", turn)
	}
}
