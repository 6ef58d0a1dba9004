package streets

import (
	"cmp"
	"math"

	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// Index finds what lies in some box: a packed R-tree of items in the order in which they were added, which should be
// one in which neighbours follow each other. It keeps no more than the boxes of each sixteen.
type Index[T any] struct {
	items  *scratch.Array[T]
	groups *scratch.Array[boxtree.Box]
	levels []boxtree.Box
	layout boxtree.Tree
	last   boxtree.Box // of the group that is not full yet
}

// NewIndex makes an empty index.
func NewIndex[T any](dir *scratch.Dir, name string) *Index[T] {
	return &Index[T]{items: scratch.NewArray[T](dir, name), groups: scratch.NewArray[boxtree.Box](dir, name+"-boxes"),
		last: boxtree.Empty}
}

// Add adds the next item.
func (x *Index[T]) Add(item T, b boxtree.Box) error {
	x.last.Extend(b)
	err := x.items.Append(item)
	if x.items.Len()%boxtree.Fanout == 0 {
		err = cmp.Or(err, x.groups.Append(x.last))
		x.last = boxtree.Empty
	}
	return err
}

// Seal ends the adding.
func (x *Index[T]) Seal() error {
	if x.items.Len()%boxtree.Fanout != 0 {
		if err := x.groups.Append(x.last); err != nil {
			return err
		}
	}
	n := x.groups.Len()
	x.layout = boxtree.New(uint32(n))
	if x.layout.Height > 0 {
		levels, err := x.groups.Extend(x.layout.Boxes())
		if err != nil {
			return err
		}
		boxtree.AppendLevels(levels[:0], x.groups.Slice()[:n])
	}
	x.levels = x.groups.Slice()[n:]
	return nil
}

// Each yields the items that may touch a box. Several goroutines may call it at a time.
func (x *Index[T]) Each(b *boxtree.Box, yield func(item *T)) {
	x.descend(b, x.layout.Height, 0, x.layout.Count[x.layout.Height], yield)
}

func (x *Index[T]) descend(b *boxtree.Box, level int, from, to uint32, yield func(item *T)) {
	boxes, items := x.groups.Slice(), x.items.Slice()
	if level > 0 {
		boxes = x.levels[x.layout.First[level]:]
	}
	for i := from; i < to; i++ {
		switch {
		case !boxes[i].Overlaps(b):
		case level == 0:
			for k := int(i) * boxtree.Fanout; k < min((int(i)+1)*boxtree.Fanout, len(items)); k++ {
				yield(&items[k])
			}
		default:
			first, last := x.layout.Children(level, i)
			x.descend(b, level-1, first, last, yield)
		}
	}
}

// Free removes the files.
func (x *Index[T]) Free() error { return cmp.Or(x.items.Free(), x.groups.Free()) }

// Around is a box with all around it that is within some metres, and a little more, up to the antimeridian and the
// poles.
func Around(b boxtree.Box, metres float64) boxtree.Box {
	const more = 2 // what rounding takes away
	north := metres/(geometry.EarthRadius*geometry.RadiansPerUnit)*1.001 + more
	farthest := max(math.Abs(float64(b.MinY)), math.Abs(float64(b.MaxY))) + north
	east := north / max(math.Cos(farthest*geometry.RadiansPerUnit), 0.01) * 1.01
	clamp := func(v, limit float64) int32 { return int32(min(max(v, -limit), limit)) }
	return boxtree.Box{MinX: clamp(float64(b.MinX)-east, geometry.HalfTurn),
		MinY: clamp(float64(b.MinY)-north, geometry.HalfTurn/2),
		MaxX: clamp(float64(b.MaxX)+east, geometry.HalfTurn),
		MaxY: clamp(float64(b.MaxY)+north, geometry.HalfTurn/2)}
}
