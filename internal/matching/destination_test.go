package matching_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	"github.com/mapsedge/caddy-maps/internal/trace"
)

// TestDestinationTraffic: from west to east leads a short cut of 300 m that is only for those who have a destination
// there, with a lane off its middle, and a way round the block that is 200 m longer. A street for all runs beside the
// lane.
func TestDestinationTraffic(t *testing.T) {
	short := func(town *roadgraphtest.Town, modes region.Modes) {
		west, east, mid := town.Node(0, 0), town.Node(300, 0), town.Node(150, 0)
		town.Road("west", town.Node(-300, 0), west)
		town.Road("short", west, mid, east)
		town.Road("east", east, town.Node(600, 0))
		town.Road("round", west, town.Node(0, 100), town.Node(300, 100), east)
		town.Road("lane", mid, town.Node(150, -300))
		town.Road("beside", town.Node(180, -20), town.Node(180, -300))
		for i := range town.Data.Roads {
			if r := &town.Data.Roads[i]; r.Name == "short" || r.Name == "lane" {
				r.DestinationForward, r.DestinationBackward = modes, modes
			}
		}
	}
	tests := map[string]struct {
		modes  region.Modes // to whom it is so
		points []trace.Point
		want   []string
	}{
		"nothing recorded on the way": {region.Car, points(-20, 2, 320, -2), []string{"west", "round", "east"}},
		"a longer step":               {region.Car, points(-250, 2, 550, -2), []string{"west", "round", "east"}},
		"back again":                  {region.Car, points(550, 2, -250, -2), []string{"east", "round", "west"}},
		"a short cut for all":         {0, points(-20, 2, 320, -2), []string{"west", "short", "east"}},
		"one for all in cars": {region.Bicycle | region.Foot, points(-20, 2, 320, -2),
			[]string{"west", "short", "east"}},
		"recorded on it": {region.Car, points(-250, 2, -100, -3, 75, 2, 225, -2, 400, 3, 550, -2),
			[]string{"west", "short", "east"}},
		"recorded on it, and dense": {region.Car, clean().along(20, -200, 2, 500, -2),
			[]string{"west", "short", "east"}},
		"recorded on it, and noisy": {region.Car, newNoise(3, 6).along(10, -200, 0, 500, 0),
			[]string{"west", "short", "east"}},
		"a destination there": {region.Car, points(-250, 2, -100, -3, 75, 2, 152, -100, 149, -250),
			[]string{"west", "short", "lane"}},
		"a destination there, and sparse": {region.Car, points(-250, 2, 150, -250), []string{"west", "short", "lane"}},
		"from there": {region.Car, points(151, -250, 149, -50, 250, 2, 400, 2, 550, 1),
			[]string{"lane", "short", "east"}},
		"all of it there": {region.Car, points(30, 2, 120, -2, 152, -50, 149, -200),
			[]string{"short", "lane"}},
		"there, nearer to another street": {region.Car, points(-250, 2, -100, -3, 75, 2, 156, -100, 157, -180, 155, -250),
			[]string{"west", "short", "lane"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var town roadgraphtest.Town
			short(&town, test.modes)
			g := town.Open(t)
			_, drive := match(t, g, test.points)
			var got []string
			for _, piece := range drive {
				got = append(got, g.Name(piece.arc>>1))
			}
			if diff := cmp.Diff(test.want, slices.Compact(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
