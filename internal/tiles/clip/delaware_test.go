package clip_test

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/osm"
	"github.com/paulmach/osm/osmpbf"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/tilestest"
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
)

// delaware returns the closed ways of Delaware, as mapped.
var delaware = sync.OnceValues(func() ([]clip.Ring, error) {
	path, err := testkit.FindExtract(testkit.Delaware)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	scanner := osmpbf.New(context.Background(), f, 2)
	defer scanner.Close()
	scanner.SkipRelations = true
	nodes := map[osm.NodeID]geo.Projected{}
	var rings []clip.Ring
	for scanner.Scan() {
		switch o := scanner.Object().(type) {
		case *osm.Node:
			nodes[o.ID] = geo.Project(orb.Point{o.Lon, o.Lat})
		case *osm.Way:
			if len(o.Nodes) < 4 || o.Nodes[0].ID != o.Nodes[len(o.Nodes)-1].ID {
				continue
			}
			var ring clip.Ring
			for _, n := range o.Nodes[1:] {
				ring = append(ring, nodes[n.ID])
			}
			rings = append(rings, ring)
		}
	}
	return rings, scanner.Err()
})

func delawareRings(t testing.TB) []clip.Ring {
	rings, err := delaware()
	if err != nil {
		t.Fatal(err)
	}
	some := testkit.Some(len(rings))
	every := len(rings) / some
	picked := make([]clip.Ring, 0, some)
	for i := 0; i < len(rings); i += every {
		picked = append(picked, rings[i])
	}
	return picked
}

// onGrid rounds a ring to the grid of the tiles of a zoom.
func onGrid(dst, r clip.Ring, zoom int) clip.Ring {
	shift := 16 - zoom
	half := int32(1) << shift >> 1
	for _, p := range r {
		dst = append(dst, geo.Projected{X: (p.X + half) >> shift, Y: (p.Y + half) >> shift})
	}
	return dst
}

func TestDelawareIsValidOnEveryGrid(t *testing.T) {
	rings := delawareRings(t)
	for _, zoom := range []int{16, 12, 9} {
		polygons := 0
		for _, ring := range rings {
			got := clip.Simple([]clip.Ring{clip.SimplifyRing(onGrid(nil, ring, zoom), 1)})
			if err := tilestest.CheckRings(got); err != nil {
				t.Fatalf("zoom %d: %v", zoom, err)
			}
			polygons += len(got)
		}
		t.Logf("zoom %d: %d polygons of %d ways", zoom, polygons, len(rings))
		if zoom == 16 && polygons < len(rings)*9/10 {
			t.Errorf("%d polygons of %d ways", polygons, len(rings))
		}
	}
}

// What is cut along the borders of tiles has the area of the whole.
func TestDelawareInTiles(t *testing.T) {
	const bits = 14
	for _, ring := range delawareRings(t) {
		whole := clip.Simple([]clip.Ring{ring})
		var cut int64
		b := clip.Bounds(ring)
		for x := b.Min.X >> bits; x <= b.Max.X>>bits; x++ {
			for y := b.Min.Y >> bits; y <= b.Max.Y>>bits; y++ {
				tile := clip.Rect{Min: geo.Projected{X: x << bits, Y: y << bits}}
				tile.Max = geo.Projected{X: tile.Min.X + 1<<bits, Y: tile.Min.Y + 1<<bits}
				var parts []clip.Polygon
				for _, p := range whole {
					parts = append(parts, clip.Simple(clip.ClipRings(nil, p, tile))...)
				}
				if err := tilestest.CheckRings(parts); err != nil {
					t.Fatal(err)
				}
				cut += area2(parts)
			}
		}
		// Each position on a border is rounded by half a unit at most, and with it an edge.
		length := int64(0)
		for i, p := range ring {
			q := ring[(i+1)%len(ring)]
			length += int64(max(p.X-q.X, q.X-p.X) + max(p.Y-q.Y, q.Y-p.Y))
		}
		if off := cut - area2(whole); max(off, -off) > length {
			t.Errorf("an area of %d is %d in tiles: %v", area2(whole), cut, ring)
		}
	}
}

func area2(polygons []clip.Polygon) (sum int64) {
	for _, r := range tilestest.Rings(polygons) {
		sum += clip.Area2(r)
	}
	return sum
}
