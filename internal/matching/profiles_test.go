package matching_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// profileTown has a one-way street to the east with a path across a park at its eastern end, a track for bicycles
// beside a motorway, and nothing else.
func profileTown(t *testing.T) matching.Networks {
	t.Helper()
	town := &roadgraphtest.Town{}
	west, middle, east, park := town.Node(0, 0), town.Node(200, 0), town.Node(400, 0), town.Node(400, 300)
	town.OneWay("street", west, middle, east)
	path := town.Road("path", east, park)
	path.Forward, path.Backward = region.Foot, region.Foot
	track := town.Street("track", 0, -500, 400, -500)
	track.Forward, track.Backward = region.Bicycle, region.Bicycle
	motorway := town.Street("motorway", 0, -530, 400, -530)
	motorway.Forward, motorway.Backward, motorway.SpeedForward = region.Car, 0, 120
	networks, err := matching.OpenNetworks(roadgraphtest.Compile(t, &town.Data))
	if err != nil {
		t.Fatal(err)
	}
	return networks
}

func TestProfiles(t *testing.T) {
	networks := profileTown(t)
	m := matching.NewLocal(networks, matching.Options{})
	for _, tt := range []struct {
		name   string
		metres float64
		trace  []float64                     // x, y, x, y, …
		names  map[matching.Profile][]string // of the roads, one for each profile that has the drive
	}{
		{"along the one-way", 300, []float64{20, 0, 120, 0, 220, 0, 320, 0}, map[matching.Profile][]string{
			matching.Car: {"street"}, matching.Bicycle: {"street"}, matching.Foot: {"street"}}},
		{"against the one-way", 300, []float64{320, 0, 220, 0, 120, 0, 20, 0},
			map[matching.Profile][]string{matching.Foot: {"street"}}},
		{"into the park", 410, []float64{250, 0, 350, 0, 400, 60, 400, 160, 400, 260}, map[matching.Profile][]string{
			matching.Foot: {"street", "path"}}},
		{"between track and motorway", 300, []float64{20, -514, 120, -514, 220, -514, 320, -514}, map[matching.Profile][]string{
			matching.Car: {"motorway"}, matching.Bicycle: {"track"}}},
	} {
		for _, p := range matching.Profiles() {
			t.Run(fmt.Sprintf("%s by %v", tt.name, p), func(t *testing.T) {
				req := &matching.Request{Points: points(tt.trace...), Profile: p, Details: true}
				r, err := m.Match(context.Background(), req)
				want := tt.names[p]
				if err != nil && !errors.Is(err, matching.ErrNoRoute) {
					t.Fatal(err)
				}
				whole := err == nil && math.Abs(r.Distance-tt.metres) < 60 && len(unmatched(r)) == 0
				if whole != (want != nil) {
					t.Fatalf("the drive is %+v, %v, want one over %v", r, err, want)
				}
				if want == nil {
					return
				}
				drive, err := check(networks[p], req, r)
				if names := streets(networks[p], drive); err != nil || !slices.Equal(names, want) {
					t.Errorf("the drive is over %v, want %v: %v", names, want, err)
				}
			})
		}
	}
}

func TestMatcherWithoutANetwork(t *testing.T) {
	networks := profileTown(t)
	m := matching.New(networks[matching.Car], matching.Options{})
	for _, p := range append(matching.Profiles(), 3, 255) {
		if want := p == matching.Car; matching.Answers(m, p) != want {
			t.Errorf("profile %d is answered: %v, want %v", p, !want, want)
		}
		_, err := m.Match(context.Background(), &matching.Request{Points: points(20, 0, 120, 0), Profile: p})
		if p != matching.Car && !errors.Is(err, matching.ErrNoRoute) {
			t.Errorf("profile %d: %v", p, err)
		}
	}
}

func TestParseProfile(t *testing.T) {
	for _, p := range matching.Profiles() {
		if got, err := matching.ParseProfile(p.String()); got != p || err != nil {
			t.Errorf("%v is %v, %v", p, got, err)
		}
	}
	for _, name := range []string{"", "Car", "bike", "car ", "driving"} {
		if _, err := matching.ParseProfile(name); err == nil {
			t.Errorf("%q is a profile", name)
		}
	}
}

// TestFasterThanTheNetwork: riders downhill and runners are much faster than the network says, and their drives are no
// less certain. Only impossible speeds are.
func TestFasterThanTheNetwork(t *testing.T) {
	town := &roadgraphtest.Town{}
	town.Street("street", 0, 0, 5000, 0)
	networks, err := matching.OpenNetworks(roadgraphtest.Compile(t, &town.Data))
	if err != nil {
		t.Fatal(err)
	}
	m := matching.NewLocal(networks, matching.Options{})
	confidence := func(p matching.Profile, spacing, speed float64) float64 {
		list := clean().along(spacing, 100, 0, 4900, 0)
		for i := range list {
			list[i].Time, list[i].Accuracy = 1_700_000_000+float64(i)*spacing/(speed/3.6), 4
		}
		r, err := m.Match(context.Background(), &matching.Request{Points: list, Profile: p, Details: true})
		if err != nil {
			t.Fatalf("%v at %v km/h: %v", p, speed, err)
		}
		return r.Confidence
	}
	for _, tt := range []struct {
		profile matching.Profile
		spacing float64 // metres between two positions
		speed   float64 // km/h
		usual   bool
	}{
		{matching.Bicycle, 300, 18, true}, {matching.Bicycle, 300, 43, true}, {matching.Bicycle, 300, 120, false},
		{matching.Foot, 150, 5, true}, {matching.Foot, 150, 14, true}, {matching.Foot, 150, 60, false},
		{matching.Car, 300, 78, true}, {matching.Car, 300, 250, false},
	} {
		got, usual := confidence(tt.profile, tt.spacing, tt.speed), confidence(tt.profile, tt.spacing, 4)
		if (got > 0.97*usual) != tt.usual {
			t.Errorf("%v at %v km/h: the confidence is %v, at 4 km/h %v", tt.profile, tt.speed, got, usual)
		}
	}
}
