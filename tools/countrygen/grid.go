package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/paulmach/orb"
)

// The format; see internal/geo/country/grid.go, which reads it.
const (
	magic = "CTRYGRD1"

	cellShift = 14
	columns   = 256
	rows      = 128

	unitsPerDegree = (columns << cellShift) / 360.0

	tagBranch = 1 << 30
	tagLeaf   = 2 << 30
)

const (
	// maxVertices is how many vertices a leaf may have: its lookup reads them all. Smaller leaves are quicker, but every
	// cut adds vertices.
	maxVertices = 56
	// minShift is where splitting ends: 2^6 units, 600 metres.
	minShift = 6
)

// builder collects the nodes and leaves of a grid.
type builder struct {
	nodes  []uint32
	leaves []byte
	stats  stats
}

type stats struct{ leaves, vertices, largest, implied int }

func (s stats) String() string {
	return fmt.Sprintf("%d border cells, %d vertices, at most %d in a cell; %d cells imply a country", s.leaves,
		s.vertices, s.largest, s.implied)
}

// buildGrid compiles territories, sorted by code, into the grid.
func buildGrid(territories []territory) ([]byte, stats) {
	var outlines []outline
	for i, t := range territories {
		outlines = append(outlines, toOutline(i+1, t))
	}
	b := &builder{nodes: make([]uint32, columns*rows)}
	for row := range rows {
		strip := within(outlines, orb.Bound{
			Min: orb.Point{0, float64(row << cellShift)},
			Max: orb.Point{columns << cellShift, float64((row + 1) << cellShift)},
		})
		for column := range columns {
			b.build(row*columns+column, strip, column<<cellShift, row<<cellShift, cellShift)
		}
	}
	data := []byte(magic)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(b.nodes)))
	data = binary.LittleEndian.AppendUint32(data, uint32(len(b.leaves)))
	for _, n := range b.nodes {
		data = binary.LittleEndian.AppendUint32(data, n)
	}
	data = append(data, b.leaves...)
	for _, t := range territories {
		data = append(data, t.code...)
	}
	return data, b.stats
}

// build fills a node with the cell of a south-west corner and a width of 2^shift units.
func (b *builder) build(node int, outlines []outline, west, south, shift int) {
	size := 1 << shift
	outlines = within(outlines, orb.Bound{
		Min: orb.Point{float64(west), float64(south)},
		Max: orb.Point{float64(west + size), float64(south + size)},
	})
	areas := quantise(outlines, west, south)
	otherwise := implied(&areas, size)
	if len(areas) == 0 {
		b.nodes[node] = uint32(otherwise)
		return
	}
	vertices := 0
	for _, a := range areas {
		vertices += a.vertices()
	}
	if vertices > maxVertices && shift > minShift {
		first := len(b.nodes)
		b.nodes = append(b.nodes, 0, 0, 0, 0)
		b.nodes[node] = tagBranch | uint32(first)
		half := size / 2
		for child := range 4 {
			b.build(first+child, outlines, west+child&1*half, south+child>>1*half, shift-1)
		}
		return
	}
	b.nodes[node] = tagLeaf | uint32(len(b.leaves))
	b.leaves = appendLeaf(b.leaves, otherwise, areas)
	b.stats.leaves++
	b.stats.vertices += vertices
	b.stats.largest = max(b.stats.largest, vertices)
	if otherwise != 0 {
		b.stats.implied++
	}
}

// implied takes one country out of areas that fill their cell, the one with the most vertices, and returns its
// number: it is what lies in none of the others. That halves the borders on land, and closes the slivers that
// rounding opens between neighbours. Areas count as filling the cell when all that is missing is as narrow as
// rounding can make it. Where there is sea it returns 0.
func implied(areas *[]area, size int) int {
	if len(*areas) == 0 {
		return 0
	}
	sum, vertices, most := 0, 0, 0
	for i := range *areas {
		a := &(*areas)[i]
		if a.over && len(*areas) > 1 {
			return 0
		}
		sum += a.twice
		vertices += a.vertices()
		if a.vertices() >= (*areas)[most].vertices() {
			most = i
		}
	}
	missing := 2*size*size - sum
	if math.Abs(float64(missing)) > float64(min(2*vertices, size)) {
		return 0
	}
	number := (*areas)[most].number
	*areas = slices.Delete(*areas, most, most+1)
	return number
}

// appendLeaf encodes the areas of a cell.
func appendLeaf(data []byte, otherwise int, areas []area) []byte {
	data = binary.AppendUvarint(data, uint64(otherwise))
	data = binary.AppendUvarint(data, uint64(len(areas)))
	for _, a := range areas {
		data = binary.AppendUvarint(data, uint64(a.number))
		data = binary.AppendUvarint(data, uint64(len(a.rings)))
		for _, ring := range a.rings {
			data = binary.AppendUvarint(data, uint64(len(ring)))
			data = binary.AppendUvarint(data, uint64(ring[0].x))
			data = binary.AppendUvarint(data, uint64(ring[0].y))
			for i := 1; i < len(ring); i++ {
				data = binary.AppendVarint(data, int64(ring[i].x-ring[i-1].x))
				data = binary.AppendVarint(data, int64(ring[i].y-ring[i-1].y))
			}
		}
	}
	return data
}
