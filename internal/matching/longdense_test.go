package matching_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/roadgraph"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// TestTenThousandPointsInADenseTown: as many points as a request may have by default, with the noise of a city, among
// streets 40 m apart, are within the limits of a request.
func TestTenThousandPointsInADenseTown(t *testing.T) {
	testkit.Whole(t)
	const n, block = 60, 40.0
	town := &roadgraphtest.Town{}
	for i := range n {
		for k := range n {
			town.Node(float64(i)*block, float64(k)*block)
		}
	}
	for i := range uint32(n) {
		for k := range uint32(n) {
			if i+1 < n {
				town.Road(fmt.Sprint("east ", k), i*n+k, (i+1)*n+k)
			}
			if k+1 < n {
				town.Road(fmt.Sprint("north ", i), i*n+k, i*n+k+1)
			}
		}
	}
	g, err := roadgraph.Open(roadgraphtest.Compile(t, &town.Data))
	if err != nil {
		t.Fatal(err)
	}
	var xy []float64
	for row := range n {
		west, east := 0.0, (n-1)*block
		if row%2 == 1 {
			west, east = east, west
		}
		xy = append(xy, west, float64(row)*block, east, float64(row)*block)
	}
	list := newNoise(1, 10).along(14, xy...)[:matching.DefaultMaxPoints]
	r, _ := matchRequest(t, g, &matching.Request{Points: list, Details: true})
	if want := 14.0 * float64(len(list)); math.Abs(r.Distance-want) > want/50 {
		t.Errorf("the drive is %.0f m long, want %.0f", r.Distance, want)
	}
}
