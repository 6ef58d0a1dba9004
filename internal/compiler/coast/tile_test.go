package coast

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/testkit/tilestest"
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
	"github.com/mapsedge/caddy-maps/internal/tiles/mapfile"
)

// TestQuarters: what coasts that do not cross enclose is land in a tile, in its quarters, and in the tile merged of these.
func TestQuarters(t *testing.T) {
	square := mapfile.Tile{Z: 12, X: 1000, Y: 1500}
	s, size := square.Rect(), square.Size()
	rapid.Check(t, func(t *rapid.T) {
		coordinate := func(from int32) *rapid.Generator[int32] {
			return rapid.Custom(func(t *rapid.T) int32 {
				if rapid.Bool().Draw(t, "even") { // corners, and points that are on one line
					return from + size/8*rapid.Int32Range(-2, 10).Draw(t, "eighths")
				}
				return from + rapid.Int32Range(-size/4, size/4*5).Draw(t, "units")
			})
		}
		point := rapid.Custom(func(t *rapid.T) geo.Projected {
			return geo.Projected{X: coordinate(s.Min.X).Draw(t, "x"), Y: coordinate(s.Min.Y).Draw(t, "y")}
		})
		var rings []clip.Ring
		for _, r := range rapid.SliceOfN(rapid.SliceOfN(point, 3, 10), 1, 4).Draw(t, "rings") {
			rings = append(rings, r)
		}
		rings = tilestest.Rings(clip.Simple(rings))
		cut := func(at mapfile.Tile) *tile {
			var pieces []clip.Line
			for _, r := range rings {
				line := append(slices.Clone(r), r[0])
				slices.Reverse(line)
				split(line, at.Z, func(in mapfile.Tile, piece []geo.Projected) {
					if in == at {
						pieces = append(pieces, slices.Clone(piece))
					}
				})
			}
			return settle(at.Rect(), pieces)
		}
		whole := cut(square)
		middle := geo.Projected{X: s.Min.X + size/2, Y: s.Min.Y + size/2}
		if tilestest.NearRing(rings, middle, 4) {
			t.Skip("the middle is on the coast")
		}
		whole.land = tilestest.RingHolds(rings, middle) != tilestest.RingHolds(whole.Rings, middle)
		var quarters [4]*tile
		for i := range uint32(4) {
			q := cut(mapfile.Tile{Z: 13, X: 2000 + i&1, Y: 3000 + i>>1})
			middle := geo.Projected{X: q.Min.X + size/4, Y: q.Min.Y + size/4}
			if tilestest.NearRing(rings, middle, 4) {
				t.Skip("the middle of a quarter is on the coast")
			}
			q.land = tilestest.RingHolds(rings, middle) != tilestest.RingHolds(q.Rings, middle)
			quarters[i] = q
		}
		tiles := append([]*tile{whole, merge(s, &quarters)}, quarters[:]...)
		for _, p := range rapid.SliceOfN(point, 20, 20).Draw(t, "points") {
			if !s.Grow(-1).Contains(p) || p.X == middle.X ||
				p.Y == middle.Y || tilestest.NearRing(rings, p, 4) {
				continue
			}
			land, half := tilestest.RingHolds(rings, p), size/2
			for _, i := range []int32{0, 1, 2 + (p.Y-s.Min.Y)/half*2 + (p.X-s.Min.X)/half} {
				lands, oceans := tiles[i].polygons()
				if tilestest.RingHolds(tilestest.Rings(lands), p) != land ||
					tilestest.RingHolds(tilestest.Rings(oceans), p) == land {
					t.Fatalf("%v is land: %t, but not in %d", p, land, i)
				}
			}
		}
	})
}
