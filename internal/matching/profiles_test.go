package matching_test

import (
	"context"
	"errors"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// TestProfileNames: profiles have names, and a matcher answers only for those that it has networks of.
func TestProfileNames(t *testing.T) {
	var town roadgraphtest.Town
	town.Street("street", 0, 0, 400, 0)
	m := matching.New(town.Open(t), matching.Options{})
	for _, p := range matching.Profiles() {
		if got, err := matching.ParseProfile(p.String()); got != p || err != nil {
			t.Errorf("%v is %v, %v", p, got, err)
		}
		_, err := m.Match(context.Background(), &matching.Request{Points: points(20, 0, 120, 0), Profile: p})
		if car := p == matching.Car; matching.Answers(m, p) != car || (err == nil) != car || err != nil && !errors.Is(err, matching.ErrNoRoute) {
			t.Errorf("profile %v: %v", p, err)
		}
	}
	for _, name := range []string{"", "Car", "bike"} {
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
