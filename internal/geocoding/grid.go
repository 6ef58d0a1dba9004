package geocoding

import (
	"cmp"
	"math/bits"
	"slices"
)

// grid finds what lies near a position while a region is compiled. Each box is listed in the squares that it touches of
// a grid that is as coarse as the box is large, so at most four times, whatever it covers.
type grid struct {
	entries []gridEntry // sorted by square, then item
	levels  uint64      // bit n: some square is 1<<n wide
}

type gridEntry struct {
	square uint64 // level<<56 | row<<28 | column
	item   uint32
}

// finestSquare is the logarithm of the width of the smallest squares, in 1e-7 degrees: 91 m.
const finestSquare = 13

func squareOf(level int, column, row int64) uint64 {
	return uint64(level)<<56 | uint64(row)<<28 | uint64(column)
}

// squares yields the squares of a level that a box touches.
func squares(b box, level int, yield func(uint64)) {
	minX, maxX := (int64(b.MinX)+halfTurn)>>level, (int64(b.MaxX)+halfTurn)>>level
	minY, maxY := (int64(b.MinY)+halfTurn/2)>>level, (int64(b.MaxY)+halfTurn/2)>>level
	for row := minY; row <= maxY; row++ {
		for column := minX; column <= maxX; column++ {
			yield(squareOf(level, column, row))
		}
	}
}

// add lists a box; seal must follow before anything is looked for.
func (g *grid) add(b box, item uint32) {
	width := uint64(max(int64(b.MaxX)-int64(b.MinX), int64(b.MaxY)-int64(b.MinY)))
	level := max(bits.Len64(width), finestSquare)
	g.levels |= 1 << level
	squares(b, level, func(square uint64) { g.entries = append(g.entries, gridEntry{square, item}) })
}

func (g *grid) seal() {
	slices.SortFunc(g.entries, func(a, b gridEntry) int {
		return cmp.Or(cmp.Compare(a.square, b.square), cmp.Compare(a.item, b.item))
	})
}

// near appends to a list the items that may touch a box, each once and in their order, and returns it with how many
// entries were looked at.
func (g *grid) near(list []uint32, b box) (items []uint32, steps int64) {
	from := len(list)
	for left := g.levels; left != 0; left &= left - 1 {
		squares(b, bits.TrailingZeros64(left), func(square uint64) {
			i, _ := slices.BinarySearchFunc(g.entries, square, func(e gridEntry, s uint64) int {
				return cmp.Compare(e.square, s)
			})
			for steps++; i < len(g.entries) && g.entries[i].square == square; i++ {
				list = append(list, g.entries[i].item)
			}
		})
	}
	found := list[from:]
	slices.Sort(found)
	steps += int64(len(found))
	return list[:from+len(slices.Compact(found))], steps
}

// widened is a box with some metres around it. It does not go around the antimeridian.
func (b box) widened(metres float64) box {
	north := metres / (earthRadius * radiansPerUnit)
	east := north / cosineAt(b)
	return box{clamp(float64(b.MinX)-east, halfTurn), clamp(float64(b.MinY)-north, halfTurn/2),
		clamp(float64(b.MaxX)+east, halfTurn), clamp(float64(b.MaxY)+north, halfTurn/2)}
}
