package basemap_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/mvt"
	"github.com/paulmach/orb/geojson"
	"github.com/paulmach/orb/planar"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
	"github.com/mapsedge/caddy-maps/internal/testkit/tilestest"
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
	"github.com/mapsedge/caddy-maps/internal/tiles/mapfile"
	"github.com/mapsedge/caddy-maps/internal/tiles/schema"
)

// TestEveryTile: all tiles of real extracts decode. Their features are in the schema and within the buffer, and their
// polygons are valid. Tiles of low zooms are small.
func TestEveryTile(t *testing.T) {
	testkit.Whole(t)
	for name, least := range map[string]int{testkit.Delaware: 3000, testkit.Andorra: 200} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, m := testregion.OpenMap(t, testregion.BuildMap(t, testkit.Extract(t, name), 512<<20))
			seen := map[string]int{}
			n := 0
			err := m.Tiles(14, func(z uint8, x, y uint32) bool {
				n++
				tile, err := m.Tile(nil, z, x, y)
				if err != nil || len(tile) == 0 {
					t.Errorf("%d/%d/%d: %d bytes, %v", z, x, y, len(tile), err)
					return false
				}
				if z < 10 && len(tile) > 200_000 {
					t.Errorf("%d/%d/%d has %d bytes", z, x, y, len(tile))
				}
				layers, err := mvt.UnmarshalGzipped(tile)
				if err := errors.Join(err, checkGround(layers)); err != nil {
					t.Errorf("%d/%d/%d: %v", z, x, y, err)
				}
				for _, l := range layers {
					seen[l.Name] += len(l.Features)
					if err := checkLayer(l); err != nil {
						t.Errorf("%d/%d/%d %s: %v", z, x, y, l.Name, err)
					}
				}
				return !t.Failed()
			})
			if err != nil || n < least {
				t.Errorf("%d tiles, %v", n, err)
			}
			for l := range schema.Pois + 1 {
				if seen[l.String()] == 0 {
					t.Errorf("no tile has the layer %v", l)
				}
			}
			t.Logf("%d tiles: %v", n, seen)
		})
	}
}

// checkLayer returns what is wrong with a layer.
func checkLayer(l *mvt.Layer) error {
	if len(l.Features) == 0 || l.Version != 2 || l.Extent != mapfile.Extent {
		return fmt.Errorf("%d features, version %d, extent %d", len(l.Features), l.Version, l.Extent)
	}
	var kinds []string
	for n := range schema.Pois + 1 {
		if n.String() == l.Name {
			kinds = schema.Kinds(n)
		}
	}
	lines := map[string]bool{}
	last := math.Inf(1)
	for _, f := range l.Features {
		switch area := planar.Area(f.Geometry); f.Geometry.(type) {
		case orb.Polygon, orb.MultiPolygon:
			if area > last {
				return fmt.Errorf("an area of %v lies on one of %v", area, last)
			}
			last = area
		case orb.LineString, orb.MultiLineString:
			if drawn := fmt.Sprint(f.Properties); lines[drawn] {
				return fmt.Errorf("two features are %v", drawn)
			} else {
				lines[drawn] = true
			}
		}
		if kind, _ := f.Properties["kind"].(string); !slices.Contains(kinds, kind) {
			return fmt.Errorf("kind %q is not of the schema", kind)
		}
		if err := checkGeometry(f); err != nil {
			return fmt.Errorf("%v: %w", f.Properties, err)
		}
	}
	return nil
}

// buffered is a tile with its buffer.
var buffered = orb.Bound{Min: orb.Point{-mapfile.Buffer, -mapfile.Buffer},
	Max: orb.Point{mapfile.Extent + mapfile.Buffer, mapfile.Extent + mapfile.Buffer}}

func checkGeometry(f *geojson.Feature) error {
	if b := f.Geometry.Bound(); !buffered.Contains(b.Min) || !buffered.Contains(b.Max) {
		return fmt.Errorf("goes from %v to %v", b.Min, b.Max)
	}
	lines, _ := f.Geometry.(orb.MultiLineString)
	if l, ok := f.Geometry.(orb.LineString); ok {
		lines = append(lines, l)
	}
	for _, l := range lines {
		if n := len(l); n < 2 || n != len(slices.Compact(l)) {
			return fmt.Errorf("a line of %d positions, not all of which differ", n)
		}
	}
	return tilestest.CheckRings(polygonsOf(f.Geometry))
}

// polygonsOf returns the polygons of a geometry.
func polygonsOf(g orb.Geometry) (polygons []clip.Polygon) {
	all, _ := g.(orb.MultiPolygon)
	if p, ok := g.(orb.Polygon); ok {
		all = append(all, p)
	}
	for _, p := range all {
		var polygon clip.Polygon
		for _, ring := range p {
			var out clip.Ring
			for _, at := range ring[:len(ring)-1] {
				out = append(out, geo.Projected{X: int32(at[0]), Y: int32(at[1])})
			}
			polygon = append(polygon, out)
		}
		polygons = append(polygons, polygon)
	}
	return polygons
}

// checkGround returns an error unless land and ocean together are the whole tile with its buffer. A part that both cover
// would be missing as well: areas that overlap cancel each other.
func checkGround(layers mvt.Layers) error {
	var ground []clip.Polygon
	for _, l := range layers {
		for _, f := range l.Features {
			if kind := f.Properties["kind"]; kind == "earth" || kind == "ocean" {
				ground = append(ground, polygonsOf(f.Geometry)...)
			}
		}
	}
	const side = mapfile.Extent + 2*mapfile.Buffer
	whole := clip.Simple(tilestest.Rings(ground))
	if len(whole) != 1 || len(whole[0]) != 1 || clip.Area2(whole[0][0]) != 2*side*side {
		return fmt.Errorf("land and ocean are %d polygons, which are not the tile", len(whole))
	}
	return nil
}

// TestMemory: the bytes do not depend on the memory.
func TestMemory(t *testing.T) {
	testkit.Whole(t)
	var files [2][]byte
	for i, memory := range []int64{1 << 20, 1 << 30} {
		content, err := os.ReadFile(testregion.BuildMap(t, testkit.Extract(t, testkit.Delaware), memory))
		if err != nil {
			t.Fatal(err)
		}
		files[i] = content
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Errorf("%d and %d bytes that differ", len(files[0]), len(files[1]))
	}
}

// TestTown: what is drawn is in the tiles of its place, as what it is, with its name, from its zoom on. The town has a
// library with a courtyard, a street over the border of two cells, a wood in several cells, and a pond that only a high
// zoom shows.
func TestTown(t *testing.T) {
	t.Parallel()
	const town osmtest.Sketch = `
		n101 0.0100 0.0100 / n102 0.0110 0.0100 / n103 0.0110 0.0110 / n104 0.0100 0.0110
		n105 0.0104 0.0104 / n106 0.0106 0.0104 / n107 0.0106 0.0106 / n108 0.0104 0.0106
		w1 101 102 103 104 101 / w2 105 106 107 108 105
		r1 w1:outer w2:inner type=multipolygon building=yes amenity=library name=Library name:de=Haus
		n111 0.08 0.005 / n112 0.1 0.005 / w3 111 112 highway=residential name=Street
		n121 -0.2 -0.2 / n122 0.2 -0.2 / n123 0.2 0.2 / n124 -0.2 0.2 / w4 121 122 123 124 121 natural=wood name=Wood
		n131 0.03 0.03 / n132 0.0301 0.03 / n133 0.0301 0.0301 / w5 131 132 133 131 natural=water`
	_, m := testregion.OpenMap(t, testregion.BuildMap(t, town.File(t), 64<<20))
	for _, c := range []struct {
		lon, lat float64
		z        uint8
		feature  string // layer, kind, name and shape
		want     bool
	}{
		{0.0105, 0.0105, 16, "buildings building  Polygon", true},
		{0.0105, 0.0105, 12, "buildings building  Polygon", false},
		{0.0105, 0.0105, 16, "pois library Library Point", true},
		{0.0850, 0.0050, 14, "roads minor_road Street LineString", true},
		{0.0990, 0.0050, 14, "roads minor_road Street LineString", true},
		{-0.1, 0.1, 9, "landuse wood  Polygon", true},
		{-0.1, 0.1, 13, "landuse wood  Polygon", true}, // where the wood has no nodes
		{0.03, 0.03, 14, "water water  Polygon", true},
		{0.03, 0.03, 13, "water water  Polygon", false},
		{0.03, 0.03, 13, "earth earth  Polygon", true},
	} {
		p := geo.Project(orb.Point{c.lon, c.lat})
		at := mapfile.TileAt(c.z, p)
		tile, failed := m.Tile(nil, c.z, at.X, at.Y)
		layers, err := mvt.UnmarshalGzipped(tile)
		if err := errors.Join(failed, err); err != nil {
			t.Fatal(err)
		}
		found := false
		for _, l := range layers {
			for _, f := range l.Features {
				name, _ := f.Properties["name"].(string)
				if fmt.Sprint(l.Name, " ", f.Properties["kind"], " ", name, " ", f.Geometry.GeoJSONType()) != c.feature {
					continue
				}
				found = true
				switch l.Name {
				case "pois": // in the house, and not in its courtyard
					label := f.Geometry.(orb.Point)
					x, y := at.Origin().X+int32(label[0])-p.X, at.Origin().Y+int32(label[1])-p.Y // a step is a unit
					yard := int32(geo.World / 360 / 10_000)
					if far := max(x, -x, y, -y); far <= yard || far >= 5*yard || f.Properties["name:de"] != "Haus" {
						t.Errorf("%d, %d units from the middle, and the courtyard has %d; %v", x, y, yard, f.Properties)
					}
				case "earth":
					if f.Geometry.Bound() != buffered {
						t.Errorf("land ends at %v", f.Geometry.Bound())
					}
				case "buildings":
					if len(f.Geometry.(orb.Polygon)) != 2 {
						t.Error("the house has no courtyard")
					}
				}
			}
		}
		if found != c.want {
			t.Errorf("at zoom %d: %s is there: %v", c.z, c.feature, found)
		}
	}
}

// TestTooLarge: an area as large as the world is left out and counted. It would be in all sixteen million cells.
func TestTooLarge(t *testing.T) {
	testkit.Whole(t)
	world := `<node id="1" lat="-80" lon="-179"/><node id="2" lat="-80" lon="179"/><node id="3" lat="80" lon="179"/>
		<node id="4" lat="80" lon="-179"/><way id="1"><nd ref="1"/><nd ref="2"/><nd ref="3"/><nd ref="4"/><nd ref="1"/>
		<tag k="natural" v="wood"/></way>`
	path, skipped := testregion.BuildMapCounting(t, osmtest.File(t, world), 64<<20)
	_, m := testregion.OpenMap(t, path)
	if tile, err := m.Tile(nil, 0, 0, 0); err != nil || len(tile) == 0 || skipped != 1 {
		t.Errorf("%d are left out; a tile of %d bytes, %v", skipped, len(tile), err)
	}
}
