package profile

import (
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/paulmach/osm"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
)

func TestRoads(t *testing.T) {
	const slowly = region.Bicycle | region.Foot
	for text, want := range map[string]Road{
		"highway=residential name=Main+Street ref=A+1 maxspeed=50 bridge=yes layer=1 toll=yes": {
			Name: "Main Street", Ref: "A 1", Attributes: Attributes{
				Class: region.Residential, Forward: everyone, Backward: everyone,
				SpeedForward: 50, SpeedBackward: 50, BicycleSpeed: 18, FootSpeed: 5,
				Flags: roadgraph.Bridge | roadgraph.Toll, Layer: 1}},
		"highway=tertiary junction=roundabout name=Circle": {Name: "Circle", Attributes: Attributes{
			Class: region.Tertiary, Forward: everyone, Backward: region.Foot,
			SpeedForward: 50, SpeedBackward: 50, BicycleSpeed: 18, FootSpeed: 5, Flags: roadgraph.Roundabout}},
		"highway=path tunnel=yes layer=-1": {Attributes: Attributes{
			Class: region.Footway, Forward: slowly, Backward: slowly,
			SpeedForward: 10, SpeedBackward: 10, BicycleSpeed: 14, FootSpeed: 5, Flags: roadgraph.Tunnel, Layer: -1}},
		"highway=motorway_link oneway=yes": {Attributes: Attributes{
			Class: region.Motorway, Forward: region.Car,
			SpeedForward: 55, SpeedBackward: 55, BicycleSpeed: 18, FootSpeed: 5, Flags: roadgraph.Link}},
		"route=ferry name=Ferry bridge=no layer=high duration=5": {Name: "Ferry", Takes: 300, Attributes: Attributes{
			Class: region.Ferry, Forward: everyone, Backward: everyone,
			SpeedForward: 10, SpeedBackward: 10, BicycleSpeed: 10, FootSpeed: 10, Flags: roadgraph.Ferry}},
		"highway=service access=private tunnel=no layer=500 toll=no": {Attributes: Attributes{
			Class: region.Service, Forward: region.Car, Backward: region.Car,
			DestinationForward: region.Car, DestinationBackward: region.Car,
			PrivateForward: region.Car, PrivateBackward: region.Car,
			SpeedForward: 18, SpeedBackward: 18, BicycleSpeed: 16, FootSpeed: 5}},
		"highway=service access=customers foot=yes oneway=yes": {Attributes: Attributes{
			Class: region.Service, Forward: everyone, Backward: region.Foot,
			DestinationForward: region.Car | region.Bicycle,
			SpeedForward:       18, SpeedBackward: 18, BicycleSpeed: 16, FootSpeed: 5}},
	} {
		r, ok := RoadOf(tagsOf(text))
		if diff := cmp.Diff(want, r); !ok || diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	r, _ := RoadOf(tags.Of(osm.Tags{{Key: "highway", Value: "road"}, {Key: "name", Value: "a\xff"}, {Key: "ref", Value: "\xff"}}))
	if !utf8.ValidString(r.Name) || !utf8.ValidString(r.Ref) || r.Name == "" {
		t.Errorf("%q, %q", r.Name, r.Ref)
	}
}

// TestNothingAllocated: a way costs no memory that has to be collected.
func TestNothingAllocated(t *testing.T) {
	for _, text := range []string{"building=yes", "highway=primary maxspeed=50 surface=asphalt oneway=yes lanes=2",
		"highway=service access=private;customers service=driveway", "leisure=park"} {
		set := tagsOf(text)
		if n := testing.AllocsPerRun(100, func() { RoadOf(set); Stops(set); IsOutOfUse(set); ControlOf(set) }); n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

func TestDetails(t *testing.T) {
	set := tags.Of(osm.Tags{
		{Key: "highway", Value: "primary"}, {Key: "turn:lanes:forward", Value: "left|through"}, {Key: "name", Value: "A"},
		{Key: "destination", Value: "Rome\xff"}, {Key: "motor_vehicle:conditional", Value: "no @ (22:00-06:00)"},
		{Key: "surface", Value: "asphalt"}, {Key: "maxspeed:conditional", Value: "30 @ wet"},
		{Key: "restriction:motorcar:conditional", Value: "no_u_turn @ wet"}, {Key: "junction:ref", Value: "12"},
	})
	var got []string
	Details(set, func(key tags.Key, value string) { got = append(got, key.String()+"="+value) })
	want := []string{"turn:lanes:forward=left|through", "destination=Rome\uFFFD",
		"motor_vehicle:conditional=no @ (22:00-06:00)", "surface=asphalt", "restriction:motorcar:conditional=no_u_turn @ wet",
		"junction:ref=12"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestControls(t *testing.T) {
	const both = roadgraph.Along | roadgraph.Against
	for text, want := range map[string]roadgraph.ControlFlags{
		"highway=traffic_signals":                                                roadgraph.Signals,
		"highway=traffic_signals traffic_signals:direction=forward":              roadgraph.Signals | roadgraph.Along,
		"highway=traffic_signals direction=backward":                             roadgraph.Signals | roadgraph.Against,
		"highway=traffic_signals traffic_signals:direction=both direction=north": roadgraph.Signals | both,
		"highway=stop":                                          roadgraph.Stop,
		"highway=stop direction=backward":                       roadgraph.Stop | roadgraph.Against,
		"highway=stop direction=90":                             roadgraph.Stop,
		"highway=give_way direction=both":                       roadgraph.GiveWay | both,
		"highway=crossing":                                      roadgraph.Crossing,
		"highway=crossing crossing=zebra":                       roadgraph.Crossing,
		"highway=crossing crossing=traffic_signals":             roadgraph.Signals,
		"highway=crossing crossing:signals=yes crossing=marked": roadgraph.Signals,
		"highway=crossing crossing=no":                          0,
		"highway=street_lamp direction=forward":                 0,
		"crossing=zebra":                                        0,
	} {
		if got := ControlOf(tagsOf(text)); got != want {
			t.Errorf("%s: %08b, want %08b", text, got, want)
		}
	}
}
