package geocoding

import (
	"fmt"
	"testing"
	"time"

	"github.com/paulmach/orb"
)

// TestEvidence asks for the address of what has the id 1.
func TestEvidence(t *testing.T) {
	const cafe = "amenity=cafe, name=Bean"
	for name, c := range map[string]struct {
		draw func(w *world)
		want string // house number, street and postcode
	}{
		"a driveway to a path far away": {func(w *world) {
			w.area(1, eight, square(0, 0, 0.05))
			w.way(2, line(-2, 1, 2, 1), "highway=path, name=Trail")
			w.driveway(line(0, 1, 0, 0.1), 2, line(-2, 1, 0, 1, 2, 1))
		}, "8, , "},
		"neighbours on a street beyond the first look": {func(w *world) {
			w.node(1, kansas, "addr:housenumber=8")
			w.way(2, line(-2, 0.5, 2, 0.5), north)
			w.way(3, line(-2, -0.55, 2, -0.55), south)
			w.node(11, at(0.02, 0), "addr:housenumber=6, addr:street=South Road")
		}, "8, South Road, "},
		"neighbours against a service road in the first look": {func(w *world) {
			w.node(1, kansas, "addr:housenumber=8")
			w.way(2, line(-2, 0.405, 2, 0.405), "highway=service, name=Mall Lane")
			w.way(3, line(-2, -0.72, 2, -0.72), south)
			w.node(11, at(0.02, 0), "addr:housenumber=6, addr:street=South Road")
		}, "8, South Road, "},
		"services at a motorway are no street": {func(w *world) {
			w.node(1, kansas, cafe)
			w.area(2, "highway=services, name=Maryland House", square(0, 0, 0.5))
		}, ", , "},
		"services have a street": {func(w *world) {
			w.area(1, "addr:housenumber=7, addr:street=Elm Street, highway=services, name=Maryland House", square(0, 0, 0.5))
		}, "7, Elm Street, "},
		"a motorway is its own street": {func(w *world) {
			w.way(1, line(-1, 0, 1, 0), "highway=motorway, name=Freeway")
		}, ", Freeway, "},
		"several postcodes of a street": {func(w *world) {
			w.node(1, kansas, "addr:housenumber=8")
			w.way(2, line(-1, 0.1, 1, 0.1), "highway=residential, name=Elm Street, postal_code=67401;67402")
		}, "8, Elm Street, "},
		"several postcodes of a boundary": {func(w *world) {
			w.node(1, kansas, "addr:housenumber=8")
			w.area(3, "admin_level=8, boundary=administrative, name=Salina, postal_code=67401;67402", square(0, 0, 0.1))
			w.way(2, line(-1, 0.05, 1, 0.05), "highway=residential, name=Elm Street, postal_code=67401")
		}, "8, Elm Street, 67401"},
		"in a building with its number at the door": {func(w *world) {
			w.node(1, kansas, cafe)
			w.area(2, "building=yes, name=House", square(0, 0, 0.2))
			w.node(4, at(0.2, 0), "addr:housenumber=5, addr:street=Elm Street")
			w.way(30, line(-2, 0.3, 2, 0.3), north)
		}, "5, Elm Street, "},
	} {
		t.Run(name, func(t *testing.T) {
			var w world
			c.draw(&w)
			a := placeOf(t, w.build(t), w.Features[0].Kind, 1).Address
			if got := a.HouseNumber + ", " + a.Street + ", " + a.Postcode; got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// TestGridOfTheWorld: a box with 10^11 squares takes no longer than there are entries.
func TestGridOfTheWorld(t *testing.T) {
	var g grid
	for i := range int32(1000) {
		g.add(box{i * 1e6, i * 1e5, i * 1e6, i * 1e5}, uint32(i))
	}
	g.seal()
	start := time.Now()
	items, steps := g.near(nil, box{-halfTurn / 8, -halfTurn / 8, halfTurn, halfTurn / 2})
	if len(items) != 1000 || steps > 4000 {
		t.Errorf("%d items in %d steps and %v, want 1000 in 4000", len(items), steps, time.Since(start))
	}
}

// TestStreetWork: an outline is compared with streets for as long as there may be work, and no street is looked for in
// a list of all others.
func TestStreetWork(t *testing.T) {
	var w world
	var ring orb.Ring
	for i := range 1000 {
		ring = append(ring, at(float64(i)*1e-3, float64(i%2)*1e-3))
	}
	w.area(1, eight, append(ring, at(1, 1), at(0, 1), ring[0]))
	for i := range 1000 {
		w.way(int64(2+i), line(0, -0.1, 1, -0.1), fmt.Sprintf("highway=residential, name=S%d", i))
	}
	b := newBuilder()
	for i := range w.Features {
		f := &w.Features[i]
		b.add(newRef(f.Kind, f.ID), f.Tags, classify(f), f)
	}
	v := newDeriver(b, &w.Data)
	o := newOutline(&b.entries[0].geometry, nil)
	if list := v.streets.near(o, firstLook, v.work); len(list) != 1000 {
		t.Errorf("%d streets, want 1000", len(list))
	}
	done := int64(0)
	list := v.streets.near(o, firstLook, func(n int64) bool { done += n; return done < 100_000 })
	if len(list) > 0 || done > 120_000 {
		t.Errorf("%d streets after %d steps", len(list), done)
	}
}
