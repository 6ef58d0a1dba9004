package places_test

import (
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/testkit/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

// TestInsideAreas: a position in an area that the region knows is answered, be it as far from any node as in a sea, a
// desert or a lake; one outside is not.
func TestInsideAreas(t *testing.T) {
	const state = "ISO3166-1=MV, admin_level=2, boundary=administrative, name=Islands"
	for name, c := range map[string]struct {
		add  func(w *placestest.World)
		at   orb.Point
		name string
	}{
		"an island state": {func(w *placestest.World) {
			w.Multi(1, state, orb.Polygon{placestest.Square(0, 0, 900)})
			w.Node(2, placestest.At(10, 10), "name=Atoll, place=islet")
		}, placestest.At(500, -500), "Islands"},
		"a desert in a county": {func(w *placestest.World) {
			w.Multi(1, state, orb.Polygon{placestest.Square(0, 0, 2000)})
			w.Multi(2, "admin_level=6, boundary=administrative, name=Desert County", orb.Polygon{placestest.Square(300, 0, 600)})
		}, placestest.At(350, 50), "Desert County"},
		"a lake with a name of its own": {func(w *placestest.World) {
			w.Multi(1, state, orb.Polygon{placestest.Square(0, 0, 900)})
			w.Multi(2, "name=Great Lake, natural=water", orb.Polygon{placestest.Square(300, 0, 400)})
		}, placestest.At(300, 0), "Great Lake"},
		"a hole": {func(w *placestest.World) {
			w.Multi(1, state, orb.Polygon{placestest.Square(0, 0, 900), placestest.Reversed(placestest.Square(300, 0, 400))})
		}, placestest.At(300, 0), ""},
		"outside": {func(w *placestest.World) {
			w.Multi(1, state, orb.Polygon{placestest.Square(0, 0, 100)})
		}, placestest.At(500, 0), ""},
		"an area that is no answer": {func(w *placestest.World) {
			w.Multi(1, "name=Forest, natural=wood", orb.Polygon{placestest.Square(0, 0, 900), placestest.Square(300, 0, 400)})
		}, placestest.At(300, 0), ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := new(placestest.World)
			c.add(w)
			x := geocodingtest.Build(t, w)
			got := ""
			if places := geocodingtest.Ask(t, x, c.at, 1); len(places) > 0 {
				got = places[0].Name
			}
			if got != c.name || x.File.Covers(c.at) != (c.name != "") {
				t.Errorf("%q, covered: %v, want %q", got, x.File.Covers(c.at), c.name)
			}
		})
	}
}
