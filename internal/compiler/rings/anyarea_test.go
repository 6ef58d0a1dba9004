package rings_test

import (
	"math"
	"slices"
	"testing"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/planar"
	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/compiler/rings"
	"github.com/mapsedge/caddy-maps/internal/testkit/osmtest"
)

// TestAnyArea cuts the outline of a random set of cells into random ways with random directions. The area that is made of
// them has the same cells. The outlines touch themselves and each other in corners.
func TestAnyArea(t *testing.T) {
	const size = 7
	rapid.Check(t, func(t *rapid.T) {
		var in [size + 2][size + 2]bool // with an empty margin
		cells := 0
		for y := 1; y <= size; y++ {
			for x := 1; x <= size; x++ {
				in[y][x] = rapid.Bool().Draw(t, "cell")
				if in[y][x] {
					cells++
				}
			}
		}
		node := func(x, y int) uint64 { return uint64(10*y + x) } // lower left corner of a cell
		// The segments between a cell that is in and one that is not.
		var segments [][2]uint64
		for y := 1; y <= size+1; y++ {
			for x := 1; x <= size+1; x++ {
				if in[y][x] != in[y-1][x] {
					segments = append(segments, [2]uint64{node(x, y), node(x+1, y)})
				}
				if in[y][x] != in[y][x-1] {
					segments = append(segments, [2]uint64{node(x, y), node(x, y+1)})
				}
			}
		}
		segments = rapid.Permutation(segments).Draw(t, "order")
		var pieces []rings.Piece
		for len(segments) > 0 {
			nodes := []uint64{segments[0][0], segments[0][1]}
			segments = segments[1:]
			for range rapid.IntRange(0, 12).Draw(t, "length") {
				end := nodes[len(nodes)-1]
				i := slices.IndexFunc(segments, func(e [2]uint64) bool { return e[0] == end || e[1] == end })
				// A way does not go on once it is closed.
				if i < 0 || nodes[0] == end {
					break
				}
				nodes = append(nodes, segments[i][0]+segments[i][1]-end)
				segments = slices.Delete(segments, i, i+1)
			}
			if rapid.Bool().Draw(t, "reversed") {
				slices.Reverse(nodes)
			}
			pieces = append(pieces, rings.Piece{Way: int64(len(pieces) + 1), Nodes: nodes})
		}
		area := rings.Assemble(pieces, at, false)
		mp := osmtest.Multi(area.Polygons)
		if area.Broken || area.Repaired > 0 || len(area.Outer) != len(mp) {
			t.Errorf("%+v", area)
		}
		osmtest.CheckRings(t, mp)
		if math.Abs(planar.Area(mp)-float64(cells)*cell) > cell/1000 {
			t.Fatalf("%.3f cells, want %d: %v", planar.Area(mp)/cell, cells, mp)
		}
		for y := 1; y <= size; y++ {
			for x := 1; x <= size; x++ {
				middle := orb.Point{(float64(x) + 0.5) / 100, (float64(y) + 0.5) / 100}
				if got := planar.MultiPolygonContains(mp, middle); got != in[y][x] {
					t.Fatalf("cell %d, %d: %v, want %v: %v", x, y, got, in[y][x], mp)
				}
			}
		}
	})
}

// cell is the area of one cell of the grid in square degrees.
const cell = 1e-4

// at places node 10*y+x at (x, y) in hundredths of a degree.
func at(node uint64) rings.Coord {
	return rings.Coord{Lon: int32(node%10) * 1e5, Lat: int32(node/10) * 1e5}
}
