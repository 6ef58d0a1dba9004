package coast

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/tilestest"
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
)

// TestDelaware compares random positions near the coast with which side of the nearest part of it they are on.
func TestDelaware(t *testing.T) {
	testkit.Whole(t)
	t.Parallel()
	c, all := New(openDir(t, 1<<28)), new(osmtest.Recorder)
	e := osmtest.Read(t, []string{testkit.Extract(t, testkit.Delaware)}, c, all)
	m := finish(t, c, e.Tiles)
	type segment struct{ ax, ay, dx, dy, length2 float64 }
	var segments []segment
	for _, w := range all.Ways {
		if w.Tags.Find("natural") != "coastline" {
			continue
		}
		for i := range w.Coords[1:] {
			a, b := geo.Project(w.Coords[i].Point()), geo.Project(w.Coords[i+1].Point())
			if dx, dy := float64(b.X-a.X), float64(b.Y-a.Y); dx != 0 || dy != 0 {
				segments = append(segments, segment{float64(a.X), float64(a.Y), dx, dy, dx*dx + dy*dy})
			}
		}
	}
	// side is which side of the coast a position is on, and how far away the coast is. Of two segments that meet at the
	// nearest point, the one counts that the position is farther to the side of.
	side := func(p geo.Projected) (land bool, distance float64) {
		const far = 1 << 30
		nearest, most := float64(far)*far, 0.0
		for _, s := range segments {
			px, py := float64(p.X)-s.ax, float64(p.Y)-s.ay
			if math.Abs(px) > 2<<cellShift || math.Abs(py) > 2<<cellShift {
				continue // too far away to count
			}
			along := max(0, min((px*s.dx+py*s.dy)/s.length2, 1))
			ex, ey := px-along*s.dx, py-along*s.dy
			across := s.dx*py - s.dy*px
			if d, sideways := ex*ex+ey*ey, across*across/s.length2; d < nearest || d == nearest && sideways > most {
				nearest, most, land = d, sideways, across < 0
			}
		}
		return land, nearest
	}
	random := rand.New(rand.NewPCG(1, 2))
	from, to := geo.Project(orb.Point{-75.65, 39.8}), geo.Project(orb.Point{-75.02, 38.46})
	type areas struct{ land, ocean []clip.Polygon }
	tiles := map[uint32]areas{}
	lands, oceans, wrong := 0, 0, 0
	for lands+oceans < testkit.Some(10_000) {
		p := geo.Projected{X: from.X + random.Int32N(to.X-from.X), Y: from.Y + random.Int32N(to.Y-from.Y)}
		cell := region.CoverageTile(p.Degrees())
		if !e.Tiles.Has(cell) {
			continue
		}
		tile, found := tiles[cell]
		if !found {
			tile.land, tile.ocean = checkTile(t, m, cellTile(cell))
			tiles[cell] = tile
			if err := errors.Join(tilestest.CheckRings(tile.land), tilestest.CheckRings(tile.ocean)); err != nil {
				t.Error(err)
			}
		}
		land, distance2 := side(p)
		if distance2 < 4 || distance2 > 1<<(2*cellShift-2) {
			continue
		}
		if land {
			lands++
		} else {
			oceans++
		}
		if holds(t, tile.land, tile.ocean, p) != land {
			if wrong++; wrong <= 10 {
				t.Logf("%v is land: %t", p.Degrees(), land)
			}
		}
	}
	if wrong > 0 || lands < testkit.Some(2000) || oceans < testkit.Some(2000) {
		t.Errorf("%d of %d positions on land and %d in the ocean are wrong", wrong, lands, oceans)
	}
	for _, place := range []struct {
		name     string
		lon, lat float64
		land     bool
	}{
		{"Dover", -75.5268, 39.1582, true},
		{"Cape Henlopen's point", -75.0905, 38.7890, true},
		{"the sea off Cape Henlopen", -75.05, 38.79, false},
		{"Lewes", -75.1394, 38.7746, true},
		{"the breakwater's harbour", -75.105, 38.80, false},
		{"Rehoboth Beach", -75.08, 38.7209, true},
		{"the sea off Rehoboth Beach", -75.06, 38.7209, false},
		{"the middle of Delaware Bay", -75.2, 39.05, false},
		{"Wilmington", -75.5398, 39.7391, true},
		{"Georgetown", -75.3855, 38.6901, true},
		{"Cape May, beyond the extract's border", -74.92, 38.95, true},
		{"Philadelphia", -75.1636, 39.9523, true},
		{"the Atlantic", -70, 38, false},
		{"Kansas", -98, 38.5, true},
	} {
		for z := range uint8(cellZoom + 1) {
			p := geo.Project(orb.Point{place.lon, place.lat})
			if z < 9 && place.name != "Kansas" && place.name != "the Atlantic" {
				continue // too small
			}
			if in(t, m, z, p) != place.land {
				t.Errorf("%s is land: %t, at zoom %d", place.name, !place.land, z)
			}
		}
	}
}
