package streets

import (
	"cmp"
	"math"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// Index finds items in a box. It is a packed R-tree of items in the order in which they were added, in which neighbours
// should be consecutive. It stores only the common box of each sixteen items.
type Index[T any] struct {
	items  *scratch.Array[T]
	boxes  *scratch.Array[geo.Box] // of groups of items, and then those of the levels over them
	layout geo.Tree                // of groups
}

// NewIndex makes an empty index.
func NewIndex[T any](dir *scratch.Dir, name string) *Index[T] {
	return &Index[T]{items: scratch.NewArray[T](dir, name), boxes: scratch.NewArray[geo.Box](dir, name+"-boxes")}
}

// Add adds the next item.
func (x *Index[T]) Add(item T, b geo.Box) error {
	if x.items.Len()%geo.TreeFanout == 0 {
		if err := x.boxes.Append(b); err != nil {
			return err
		}
	}
	x.boxes.Slice()[x.boxes.Len()-1].Extend(b)
	return x.items.Append(item)
}

// Seal ends the adding.
func (x *Index[T]) Seal() error {
	n := x.boxes.Len()
	x.layout = geo.NewTree(uint32(n))
	levels, err := x.boxes.Extend(x.layout.Boxes())
	if err == nil {
		geo.AppendTreeLevels(levels[:0], x.boxes.Slice()[:n])
	}
	return err
}

// Each yields the items that may touch a box. It is safe for concurrent use.
func (x *Index[T]) Each(b *geo.Box, yield func(item *T)) {
	x.descend(b, x.layout.Height, 0, x.layout.Count[x.layout.Height], yield)
}

func (x *Index[T]) descend(b *geo.Box, level int, from, to uint32, yield func(item *T)) {
	boxes, items := x.boxes.Slice(), x.items.Slice()
	if level > 0 {
		boxes = boxes[x.layout.Count[0]+x.layout.First[level]:]
	}
	for i := from; i < to; i++ {
		switch {
		case !boxes[i].Overlaps(b):
		case level == 0:
			for k := int(i) * geo.TreeFanout; k < min((int(i)+1)*geo.TreeFanout, len(items)); k++ {
				yield(&items[k])
			}
		default:
			first, last := x.layout.Children(level, i)
			x.descend(b, level-1, first, last, yield)
		}
	}
}

// Free removes the files.
func (x *Index[T]) Free() error { return cmp.Or(x.items.Free(), x.boxes.Free()) }

// Around returns a box enlarged by some metres, and a little more, up to the antimeridian and the poles.
func Around(b geo.Box, metres float64) geo.Box {
	const more = 2 // against rounding
	north := metres/(geometry.EarthRadius*geometry.RadiansPerUnit)*1.001 + more
	farthest := max(math.Abs(float64(b.MinY)), math.Abs(float64(b.MaxY))) + north
	east := north / max(math.Cos(farthest*geometry.RadiansPerUnit), 0.01) * 1.01
	clamp := func(v, limit float64) int32 { return int32(min(max(v, -limit), limit)) }
	return geo.Box{MinX: clamp(float64(b.MinX)-east, geometry.HalfTurn),
		MinY: clamp(float64(b.MinY)-north, geometry.HalfTurn/2),
		MaxX: clamp(float64(b.MaxX)+east, geometry.HalfTurn),
		MaxY: clamp(float64(b.MaxY)+north, geometry.HalfTurn/2)}
}
