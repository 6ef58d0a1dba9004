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
	steps = g.each(b, func(item uint32) { list = append(list, item) })
	found := list[from:]
	slices.Sort(found)
	steps += int64(len(found))
	return list[:from+len(slices.Compact(found))], steps
}

// each yields the items that may touch a box, in no order, and one as often as it is listed: points once. It goes from
// entry to entry, so that it takes no longer where a box has more squares than there are entries.
func (g *grid) each(b box, yield func(item uint32)) (steps int64) {
	minX, maxX := int64(b.MinX)+halfTurn, int64(b.MaxX)+halfTurn
	minY, maxY := int64(b.MinY)+halfTurn/2, int64(b.MaxY)+halfTurn/2
	for left := g.levels; left != 0; left &= left - 1 {
		level := bits.TrailingZeros64(left)
		first, last := uint64(minX>>level), uint64(maxX>>level)
		square, end := squareOf(level, minX>>level, minY>>level), squareOf(level, maxX>>level, maxY>>level)
		for i := g.seek(0, square); i < len(g.entries) && g.entries[i].square <= end; {
			e := &g.entries[i]
			steps++
			switch row, column := e.square>>28<<28, e.square&(1<<28-1); {
			case column < first:
				i = g.seek(i+1, row|first)
			case column > last:
				i = g.seek(i+1, (row+1<<28)|first)
			default:
				yield(e.item)
				i++
			}
		}
	}
	return steps
}

// seek returns the first entry, not before one, of a square or what comes after it.
func (g *grid) seek(from int, square uint64) int {
	i, _ := slices.BinarySearchFunc(g.entries[from:], square, func(e gridEntry, s uint64) int {
		return cmp.Compare(e.square, s)
	})
	return from + i
}

// widened is a box with some metres around it. It does not go around the antimeridian.
func (b box) widened(metres float64) box {
	north := metres / (earthRadius * radiansPerUnit)
	east := north / cosineAt(b)
	return box{clamp(float64(b.MinX)-east, halfTurn), clamp(float64(b.MinY)-north, halfTurn/2),
		clamp(float64(b.MaxX)+east, halfTurn), clamp(float64(b.MaxY)+north, halfTurn/2)}
}
