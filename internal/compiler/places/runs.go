package places

import (
	"math"

	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// boxIndex finds what lies in some box: a packed R-tree of things in the order in which they were added, which should
// be one in which neighbours follow each other. Of the things it keeps no more than the boxes of each sixteen.
type boxIndex struct {
	groups *scratch.Array[boxtree.Box]
	levels []boxtree.Box
	layout boxtree.Tree
	last   boxtree.Box // of the group that is not full yet
	n      int
}

func newBoxIndex(dir *scratch.Dir, name string) *boxIndex {
	return &boxIndex{groups: scratch.NewArray[boxtree.Box](dir, name), last: boxtree.Empty}
}

// add adds the next thing.
func (x *boxIndex) add(b boxtree.Box) error {
	x.last.Extend(b)
	if x.n++; x.n%boxtree.Fanout != 0 {
		return nil
	}
	err := x.groups.Append(x.last)
	x.last = boxtree.Empty
	return err
}

// seal ends the adding.
func (x *boxIndex) seal() error {
	if x.n%boxtree.Fanout != 0 {
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
		x.levels = x.groups.Slice()[n:]
	}
	return nil
}

// each yields the runs of things that may touch a box: from one up to another. It returns how many boxes were looked
// at.
func (x *boxIndex) each(b *boxtree.Box, yield func(from, to int)) (steps int64) {
	return x.descend(b, x.layout.Height, 0, x.layout.Count[x.layout.Height], yield)
}

func (x *boxIndex) descend(b *boxtree.Box, level int, from, to uint32, yield func(from, to int)) (steps int64) {
	boxes := x.groups.Slice()
	if level > 0 {
		boxes = x.levels[x.layout.First[level]:]
	}
	for i := from; i < to; i++ {
		steps++
		switch c := &boxes[i]; {
		case c.MinX > b.MaxX || c.MaxX < b.MinX || c.MinY > b.MaxY || c.MaxY < b.MinY:
		case level == 0:
			yield(int(i)*boxtree.Fanout, min((int(i)+1)*boxtree.Fanout, x.n))
		default:
			first, last := x.layout.Children(level, i)
			steps += x.descend(b, level-1, first, last, yield)
		}
	}
	return steps
}

func (x *boxIndex) free() error { return x.groups.Free() }

// widened is a box with some metres around it, and a little more. It does not go around the antimeridian.
func widened(b boxtree.Box, metres float64) boxtree.Box {
	const more = 2 // what rounding takes away
	north := metres/(geometry.EarthRadius*geometry.RadiansPerUnit) + more
	east := metres/(geometry.EarthRadius*geometry.RadiansPerUnit)/cosineAt(b) + more
	return grown(b, east, north)
}

// surely is a box with all around it that is within some metres, however large it is.
func surely(b boxtree.Box, metres float64) boxtree.Box {
	north := (metres + 1) / (geometry.EarthRadius * geometry.RadiansPerUnit) * 1.001
	farthest := max(math.Abs(float64(b.MinY)), math.Abs(float64(b.MaxY))) + north
	east := north / max(math.Cos(farthest*geometry.RadiansPerUnit), 0.01) * 1.01
	return grown(b, east, north)
}

// grown is a box with some units around it, up to the antimeridian and the poles.
func grown(b boxtree.Box, east, north float64) boxtree.Box {
	return boxtree.Box{MinX: clamp(float64(b.MinX)-east, geometry.HalfTurn),
		MinY: clamp(float64(b.MinY)-north, geometry.HalfTurn/2),
		MaxX: clamp(float64(b.MaxX)+east, geometry.HalfTurn),
		MaxY: clamp(float64(b.MaxY)+north, geometry.HalfTurn/2)}
}
