package basemap_test

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/encoding/mvt"
	"github.com/paulmach/orb/geojson"
	"github.com/paulmach/orb/planar"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
	"github.com/mapsedge/caddy-maps/internal/testkit/tilestest"
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
	"github.com/mapsedge/caddy-maps/internal/tiles/mapfile"
	"github.com/mapsedge/caddy-maps/internal/tiles/schema"
)

// decode reads a tile as clients do.
func decode(t testing.TB, tile []byte) mvt.Layers {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(tile))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	layers, err := mvt.Unmarshal(raw)
	if err != nil {
		t.Fatal(err)
	}
	return layers
}

// TestEveryTile: all tiles of real extracts decode, have nothing that is not in the schema or beyond the buffer, and no
// invalid polygon. Those of low zooms are small.
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
				layers := decode(t, tile)
				if err := checkGround(layers); err != nil {
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

// checkGround returns an error unless land and ocean together are the whole tile with its buffer: what they do not
// cover would be neither, and what both cover would be missing here too, where areas that lie on each other vanish.
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
	whole := clip.Simple(tilestest.RandomRings(ground))
	if len(whole) != 1 || len(whole[0]) != 1 || clip.Area2(whole[0][0]) != 2*side*side {
		return fmt.Errorf("land and ocean are %d polygons, which are not the tile", len(whole))
	}
	return nil
}

// TestMemory: however little memory there is, the bytes are the same.
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

// town is a house that is a library with a courtyard, a street over the border of two cells, a wood that several cells
// have a part of, and a pond that only a high zoom shows.
const town = `<osm><node id="1" lat="0.0100" lon="0.0100"/><node id="2" lat="0.0100" lon="0.0110"/>
	<node id="3" lat="0.0110" lon="0.0110"/><node id="4" lat="0.0110" lon="0.0100"/>
	<node id="5" lat="0.0104" lon="0.0104"/><node id="6" lat="0.0104" lon="0.0106"/>
	<node id="7" lat="0.0106" lon="0.0106"/><node id="8" lat="0.0106" lon="0.0104"/>
	<node id="11" lat="0.0050" lon="0.0800"/><node id="12" lat="0.0050" lon="0.1000"/>
	<node id="21" lat="-0.2" lon="-0.2"/><node id="22" lat="-0.2" lon="0.2"/>
	<node id="23" lat="0.2" lon="0.2"/><node id="24" lat="0.2" lon="-0.2"/>
	<node id="31" lat="0.0300" lon="0.0300"/><node id="32" lat="0.0300" lon="0.0301"/>
	<node id="33" lat="0.0301" lon="0.0301"/>
	<way id="1"><nd ref="1"/><nd ref="2"/><nd ref="3"/><nd ref="4"/><nd ref="1"/></way>
	<way id="2"><nd ref="5"/><nd ref="6"/><nd ref="7"/><nd ref="8"/><nd ref="5"/></way>
	<relation id="1"><member type="way" ref="1" role="outer"/><member type="way" ref="2" role="inner"/>
		<tag k="type" v="multipolygon"/><tag k="building" v="yes"/><tag k="amenity" v="library"/>
		<tag k="name" v="Library"/><tag k="name:de" v="Haus"/></relation>
	<way id="3"><nd ref="11"/><nd ref="12"/><tag k="highway" v="residential"/><tag k="name" v="Long Street"/></way>
	<way id="4"><nd ref="21"/><nd ref="22"/><nd ref="23"/><nd ref="24"/><nd ref="21"/>
		<tag k="natural" v="wood"/><tag k="name" v="Wood"/></way>
	<way id="5"><nd ref="31"/><nd ref="32"/><nd ref="33"/><nd ref="31"/><tag k="natural" v="water"/></way>
</osm>`

// TestTown: what is drawn is in the tiles of its place, as what it is, with its names, from its zoom on.
func TestTown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "town.osm")
	if err := os.WriteFile(path, []byte(town), 0o600); err != nil {
		t.Fatal(err)
	}
	_, m := testregion.OpenMap(t, testregion.BuildMap(t, path, 64<<20))
	for name, test := range map[string]struct {
		lon, lat    float64
		z           uint8
		layer, kind string
		name        string // "" for none
		shape       string // "" where it is not there
	}{
		"house":    {lon: 0.0105, lat: 0.0105, z: 16, layer: "buildings", kind: "building", shape: "Polygon"},
		"no house": {lon: 0.0105, lat: 0.0105, z: 12, layer: "buildings", kind: "building"},
		"library":  {lon: 0.0105, lat: 0.0105, z: 16, layer: "pois", kind: "library", name: "Library", shape: "Point"},
		"street": {lon: 0.0850, lat: 0.0050, z: 14, layer: "roads", kind: "minor_road", name: "Long Street",
			shape: "LineString"},
		"street's other end": {lon: 0.0990, lat: 0.0050, z: 14, layer: "roads", kind: "minor_road", name: "Long Street",
			shape: "LineString"},
		"wood":               {lon: -0.1, lat: 0.1, z: 9, layer: "landuse", kind: "wood", shape: "Polygon"},
		"wood without nodes": {lon: -0.1, lat: 0.1, z: 13, layer: "landuse", kind: "wood", shape: "Polygon"},
		"pond":               {lon: 0.03, lat: 0.03, z: 14, layer: "water", kind: "water", shape: "Polygon"},
		"no pond":            {lon: 0.03, lat: 0.03, z: 13, layer: "water", kind: "water"},
		"land":               {lon: 0.03, lat: 0.03, z: 13, layer: "earth", kind: "earth", shape: "Polygon"},
	} {
		t.Run(name, func(t *testing.T) {
			p := geo.Project(orb.Point{test.lon, test.lat})
			tile, err := m.Tile(nil, test.z, uint32(p.X>>(geo.WorldBits-test.z)), uint32(p.Y>>(geo.WorldBits-test.z)))
			if err != nil {
				t.Fatal(err)
			}
			var found *geojson.Feature
			for _, l := range decode(t, tile) {
				for _, f := range l.Features {
					if l.Name == test.layer && f.Properties["kind"] == test.kind {
						found = f
					}
				}
			}
			if found == nil {
				if test.shape != "" {
					t.Error("it is not there")
				}
				return
			}
			if got, _ := found.Properties["name"].(string); got != test.name ||
				found.Geometry.GeoJSONType() != test.shape {
				t.Errorf("%s %v", found.Geometry.GeoJSONType(), found.Properties)
			}
			if test.kind == "library" {
				checkLabel(t, found, p, test.z)
			}
			if test.layer == "earth" && found.Geometry.Bound() != buffered {
				t.Errorf("it goes no further than %v", found.Geometry.Bound())
			}
			if test.layer == "buildings" && len(found.Geometry.(orb.Polygon)) != 2 {
				t.Error("the house has no courtyard")
			}
		})
	}
}

// checkLabel makes sure that the library's label is in the house, and not in its courtyard.
func checkLabel(t *testing.T, f *geojson.Feature, middle geo.Projected, z uint8) {
	t.Helper()
	if f.Properties["name:de"] != "Haus" {
		t.Errorf("%v", f.Properties)
	}
	at := f.Geometry.(orb.Point)
	tile := mapfile.Tile{Z: z, X: uint32(middle.X >> (geo.WorldBits - z)), Y: uint32(middle.Y >> (geo.WorldBits - z))}
	x, y := tile.Origin().X+int32(at[0]), tile.Origin().Y+int32(at[1]) // a step is a unit
	dx, dy := max(x-middle.X, middle.X-x), max(y-middle.Y, middle.Y-y)
	yard := int32(geo.World / 360 / 10_000)
	if far := max(dx, dy); far <= yard || far >= 5*yard {
		t.Errorf("%d, %d units from the middle, and the courtyard has %d", dx, dy, yard)
	}
}
