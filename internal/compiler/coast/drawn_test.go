package coast

import (
	"errors"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/paulmach/orb"
	paulmach "github.com/paulmach/osm"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit/tilestest"
	"github.com/mapsedge/caddy-maps/internal/tiles/clip"
	"github.com/mapsedge/caddy-maps/internal/tiles/mapfile"
)

type (
	line   = [][2]float64
	lines  = []line
	points = [][2]float64
)

// drawing is a coast, in cells from a cell's north-western corner: x to the east, y to the south.
type drawing struct {
	corner geo.Projected
	coast  lines
}

// Where there is land, and where there is ocean, all around.
var (
	kansas  = orb.Point{-103, 44}
	pacific = orb.Point{-150, -20}
)

// place is the corner of one of 30 squares of 16 by 16 cells about a point, which do not touch each other.
func place(about orb.Point, i int) geo.Projected {
	at := geo.Project(about)
	const size = geo.World >> 8
	return geo.Projected{X: (at.X/size + int32(i%6)*2) * size, Y: (at.Y/size + int32(i/6)*2) * size}
}

func (d *drawing) at(p [2]float64) geo.Projected {
	return geo.Projected{X: d.corner.X + int32(math.Round(p[0]*(1<<cellShift))),
		Y: d.corner.Y + int32(math.Round(p[1]*(1<<cellShift)))}
}

func (d *drawing) ways() (ways [][]osm.Coord) {
	for _, l := range d.coast {
		var coords []osm.Coord
		for _, p := range l {
			coords = append(coords, osm.CoordOf(d.at(p).Degrees()))
		}
		ways = append(ways, coords)
	}
	return ways
}

// cells are the numbers of some columns and rows of cells.
func (d *drawing) cells(x0, y0, x1, y1 int) (cells []uint32) {
	for x := x0; x <= x1; x++ {
		for y := y0; y <= y1; y++ {
			cells = append(cells, region.CoverageTile(d.at([2]float64{float64(x) + 0.5, float64(y) + 0.5}).Degrees()))
		}
	}
	return cells
}

func back(l line) line {
	l = slices.Clone(l)
	slices.Reverse(l)
	return l
}

// island is a square around a position, with land to the left.
func island(x, y, half float64) line {
	return line{{x - half, y - half}, {x - half, y + half}, {x + half, y + half}, {x + half, y - half},
		{x - half, y - half}}
}

func openDir(t testing.TB, memory int64) *scratch.Dir {
	t.Helper()
	dir, err := scratch.Open(t.TempDir(), "out.region", memory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dir.Close() })
	return dir
}

// finish makes the map of the coast that was read, and of some cells.
func finish(t testing.TB, c *Consumer, covered *osm.Tiles) *Map {
	t.Helper()
	m, err := c.Map(t.Context(), covered)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Free(); err != nil || c.dir.Size() != 0 {
			t.Errorf("%d bytes are still in use, %v", c.dir.Size(), err)
		}
	})
	return m
}

// newMap makes the map of coastlines, with ids in their order, and of some cells.
func newMap(t testing.TB, coast [][]osm.Coord, covered []uint32) *Map {
	t.Helper()
	c, cells := New(openDir(t, 1<<20)), new(osm.Tiles)
	for _, cell := range covered {
		cells.Add(cell)
	}
	b := c.NewBatch()
	coastline := tags.Of(paulmach.Tags{{Key: "natural", Value: "coastline"}})
	for i, line := range coast {
		b.Way(&osm.Way{ID: int64(i), Tags: coastline, Coords: line, Numbers: make([]uint64, len(line))})
	}
	if err := errors.Join(c.Take(b), c.Finish(t.Context())); err != nil {
		t.Fatal(err)
	}
	return finish(t, c, cells)
}

// in says what a tile says of a position, and fails unless it says one thing.
func in(t testing.TB, m *Map, z uint8, p geo.Projected) (land bool) {
	t.Helper()
	lands, oceans := checkTile(t, m,
		mapfile.Tile{Z: z, X: uint32(p.X) >> (geo.WorldBits - z), Y: uint32(p.Y) >> (geo.WorldBits - z)})
	return holds(t, lands, oceans, p)
}

// holds says whether a position is on land, and fails if it is both, or neither.
func holds(t testing.TB, land, ocean []clip.Polygon, p geo.Projected) bool {
	t.Helper()
	on := tilestest.RingHolds(tilestest.Rings(land), p)
	if on == tilestest.RingHolds(tilestest.Rings(ocean), p) {
		t.Errorf("%v is both, or neither: land %t", p, on)
	}
	return on
}

// checkTile returns a tile, which land and ocean fill and do not leave.
func checkTile(t testing.TB, m *Map, at mapfile.Tile) (land, ocean []clip.Polygon) {
	t.Helper()
	land, ocean = m.Tile(at)
	box := at.Rect()
	sum := int64(0)
	for _, p := range slices.Concat(land, ocean) {
		for i, r := range p {
			a := clip.Area2(r)
			if sum += a; i == 0 != (a > 0) {
				t.Errorf("%v: ring %d of a polygon has the area %d", at, i, a)
			}
			for _, p := range r {
				if !box.Contains(p) {
					t.Fatalf("%v: %v is outside", at, p)
				}
			}
		}
	}
	// Where coasts meet between positions of the grid, they are moved there.
	if want := 2 * int64(at.Size()) * int64(at.Size()); max(sum-want, want-sum) > want/1e6 {
		t.Errorf("%v: land and ocean have %d of %d", at, sum, want)
	}
	return land, ocean
}

func TestDrawn(t *testing.T) {
	shore := line{{2.5, 6}, {2.5, 3.1}, {2.4, 2.2}, {2.5, -1}} // north, with land in the west
	loop := line{{2.5, 9}, {2.5, 4.5}, {2.8, 4.4}, {2.3, 4.7}, {2.5, 4.3}, {2.5, -1}}
	bay := line{{0.5, 8}, {0.5, 1.5}, {4.5, 1.5}, {4.5, 8}}
	tests := map[string]struct {
		about       orb.Point
		coast       lines
		size        int // columns and rows that are covered
		land, ocean points
	}{
		"no coast in the ocean": {pacific, nil, 3, nil, points{{1.5, 1.5}, {0.1, 2.9}, {5, 5}, {-1, 1}}},
		"no coast on land":      {kansas, nil, 3, points{{1.5, 1.5}, {0.1, 2.9}, {5, 5}, {-1, 1}}, nil},
		"a shore, in Kansas": {kansas, lines{shore}, 5,
			points{{0.5, 0.5}, {2.3, 4.5}}, points{{2.7, 0.5}, {4.5, 4.5}}},
		"the same twice": {kansas, lines{shore, shore, island(4.5, 2.5, 0.2), island(4.5, 2.5, 0.2)}, 6,
			points{{0.5, 0.5}, {2.3, 4.5}, {4.5, 2.5}}, points{{2.7, 0.5}, {4.5, 4.5}}},
		"the same, in two ways, the first of them last": {pacific, lines{shore[1:], shore[:2]}, 5,
			points{{0.5, 0.5}, {2.3, 4.5}}, points{{2.7, 0.5}, {4.5, 4.5}}},
		"the other way": {kansas, lines{back(shore)}, 5,
			points{{2.7, 0.5}, {4.5, 4.5}}, points{{0.5, 0.5}, {2.3, 4.5}}},
		"along the border of cells": {kansas, lines{{{2, 6}, {2, -1}}}, 5,
			points{{0.5, 0.5}, {1.9, 4.5}}, points{{2.1, 0.5}, {4.5, 4.5}}},
		"from corner to corner": {kansas, lines{{{0, 5}, {5, 0}}}, 5,
			points{{0.5, 0.5}, {2.4, 2.4}, {1.2, 3.5}}, points{{4.5, 4.5}, {2.6, 2.6}, {1.5, 3.8}}},
		"an island in one cell": {kansas, lines{island(1.5, 1.5, 0.3)}, 3,
			points{{1.5, 1.5}}, points{{1.5, 1.1}, {0.5, 0.5}, {2.9, 2.9}}},
		"an island in several cells": {kansas, lines{island(3.5, 3.5, 2.2)}, 7,
			points{{3.5, 3.5}, {1.4, 5.6}}, points{{1.2, 5.6}, {0.5, 0.5}, {3.5, 6.5}}},
		"an island in a lake on an island": {
			kansas, lines{island(1.5, 1.5, 0.1), back(island(1.5, 1.5, 0.2)), island(1.5, 1.5, 0.4)}, 3,
			points{{1.5, 1.5}, {1.5, 1.2}}, points{{1.5, 1.35}, {1.5, 1.05}, {0.5, 0.5}}},
		"a lagoon": {pacific, lines{back(island(3.5, 3.5, 2.2))}, 7,
			points{{1.2, 5.6}, {0.5, 0.5}}, points{{3.5, 3.5}, {1.4, 5.6}}},
		"a bay in several cells": {kansas, lines{bay}, 7,
			points{{2.5, 1.2}, {0.2, 6.5}, {6.5, 6.5}}, points{{2.5, 1.8}, {2.5, 6.5}, {4.2, 6.5}}},
		"a town": {kansas, lines{{{0.2, 1.4}, {0.6, 0.7}, {1.3, 0.4}}}, 1,
			points{{0.5, 0.5}, {0.1, 0.1}}, points{{0.7, 0.8}, {0.9, 0.9}}},
		"loose ends": {kansas, lines{{{0.6, 2.6}, {1.2, 1.8}, {2.2, 1.2}, {2.4, 1.2}}}, 3,
			points{{0.5, 0.5}, {2.9, 1.1}, {0.2, 2.9}}, points{{2.5, 2.5}, {2.9, 1.3}, {0.8, 2.9}}},
		"a gap": {kansas, lines{{{2.5, 6}, {2.5, 2.6}}, {{2.6, 2.4}, {2.6, -1}}}, 5,
			points{{0.5, 0.5}, {2.4, 2.5}, {2.55, 2.2}, {2.55, 1.9}}, points{{2.65, 2.5}, {4.5, 0.5}, {2.55, 2.8}}},
		"an islet the wrong way round": {kansas, lines{shore, back(island(4.5, 2.5, 0.2))}, 6,
			points{{4.5, 2.5}, {0.5, 2.5}}, points{{4.5, 2.1}, {5.9, 2.5}, {3.2, 5.8}}},
		"two in a cell with coast": {kansas, lines{shore, back(island(2.7, 2.7, 0.1)), island(2.8, 2.3, 0.1)}, 6,
			points{{2.7, 2.7}, {2.8, 2.3}}, points{{2.95, 2.5}, {5.5, 0.5}}},
		"an island of several cells the wrong way round": {pacific, lines{shore, back(island(8.5, 2.5, 0.8))}, 16,
			points{{1.5, 2.5}, {2.4, 0.5}}, points{{4.5, 2.5}, {8.5, 6.5}, {15.5, 15.5}}},
		"a coast that crosses itself": {kansas, lines{loop}, 8,
			points{{0.5, 0.5}, {2.2, 7.5}, {2.2, 2.5}}, points{{6.5, 0.5}, {2.8, 7.5}, {2.8, 2.5}}},
		"two coasts that cross": {pacific, lines{shore, {{0.5, 2.5}, {4.6, 2.5}}}, 6,
			points{{1.5, 5.5}, {2.2, 3.5}}, points{{5.5, 5.5}, {2.8, 5.5}, {5.5, 0.5}}},
		"a line around the world": {kansas, lines{shore, {{500, 2.5}, {-500, 2.5}}}, 5,
			points{{0.5, 0.5}, {2.3, 4.5}}, points{{2.7, 0.5}, {4.5, 4.5}}},
	}
	var all []*drawing
	var coast [][]osm.Coord
	var covered []uint32
	names := slices.Sorted(maps.Keys(tests))
	for i, name := range names {
		test := tests[name]
		d := &drawing{place(test.about, i), test.coast}
		all, coast = append(all, d), append(coast, d.ways()...)
		covered = append(covered, d.cells(0, 0, test.size-1, test.size-1)...)
	}
	m := newMap(t, coast, covered)
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			for _, z := range []uint8{12, 11, 9, 6} {
				for _, p := range tests[name].land {
					if !in(t, m, z, all[i].at(p)) {
						t.Errorf("%v is ocean at zoom %d", p, z)
					}
				}
				for _, p := range tests[name].ocean {
					if in(t, m, z, all[i].at(p)) {
						t.Errorf("%v is land at zoom %d", p, z)
					}
				}
			}
		})
	}
}

// TestNoCoast: extracts without any coast are all land, wherever they are. Around is what the outlines say.
func TestNoCoast(t *testing.T) {
	d := &drawing{corner: place(pacific, 0)}
	m := newMap(t, nil, d.cells(0, 0, 2, 2))
	for p, land := range map[[2]float64]bool{{1.5, 1.5}: true, {0.1, 2.9}: true, {5, 5}: false, {-1, 1}: false} {
		for _, z := range []uint8{12, 11, 9, 6} {
			if in(t, m, z, d.at(p)) != land {
				t.Errorf("%v is land: %t, at zoom %d", p, !land, z)
			}
		}
	}
	for name, place := range map[string]struct {
		at   orb.Point
		land bool
	}{"Réunion": {orb.Point{55.53, -21.12}, true}, "the sea about it": {orb.Point{55.9, -21.0}, false}} {
		for z := range uint8(cellZoom + 1) { // in 8/167/143 it lies in the middle
			if z > 4 && in(t, m, z, geo.Project(place.at)) != place.land {
				t.Errorf("%s is land: %t, at zoom %d", name, !place.land, z)
			}
		}
	}
}

// TestOutlines: a cell about the outlines' coast that has none of its own is what its neighbours say in the middle of
// an extract, and what the outlines say at its edge. The extract is ocean, and lies on Oahu.
func TestOutlines(t *testing.T) {
	oahu := geo.Project(orb.Point{-158, 21.48})
	d := &drawing{geo.Projected{X: (oahu.X>>cellShift - 6) << cellShift, Y: (oahu.Y>>cellShift - 6) << cellShift},
		lines{{{0.5, 20}, {0.5, -1}}}}
	whole := d.cells(0, 0, 13, 13)
	sparse := slices.DeleteFunc(slices.Clone(whole), func(cell uint32) bool { return (cell+cell>>cellZoom)%2 == 0 })
	for name, test := range map[string]struct {
		covered []uint32
		land    bool
	}{"whole": {whole, false}, "sparse": {sparse, true}} {
		m := newMap(t, d.ways(), test.covered)
		for place, p := range map[string]orb.Point{"Kailua": {-157.75, 21.39}, "Haleiwa": {-158.09, 21.58}} {
			if in(t, m, cellZoom, geo.Project(p)) != test.land {
				t.Errorf("%s: %s is land: %t", name, place, !test.land)
			}
		}
	}
}
