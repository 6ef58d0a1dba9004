package extract

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// outlines are the shapes that ways have as outlines of relations in the old style.
type outlines struct {
	shapes  *Features
	entries *scratch.Array[outline] // by way
	record  FeatureRecord
}

// outline is the shape of a way.
type outline struct {
	way int64
	// order is that of the relations: the last one tells.
	order int64
	// shape is the offset in shapes, or noShape.
	shape uint64
}

// noShape says that a way is no feature of its own: it is a part of an outline.
const noShape = math.MaxUint64

// assembleOutlines assembles the relations in the old style, for features and, where m is there, for the map.
func (c *collector) assembleOutlines(ctx context.Context, m *draughtsman) (features, drawn *outlines, err error) {
	features, drawn = c.newOutlines(), c.newOutlines()
	isOld := func(i int) bool { return c.areas.flags(i)&areaIsOldStyle != 0 }
	err = c.assembleAreas(ctx, isOld, func(a *area) error {
		if _, _, err := c.resolve(a, features.add); err != nil || m == nil {
			return err
		}
		return m.outline(a, drawn)
	})
	features.sort()
	drawn.sort()
	return features, drawn, err
}

func (c *collector) newOutlines() *outlines {
	return &outlines{shapes: NewFeatures(c.dir, c.texts), entries: scratch.NewArray[outline](c.dir, "outlines")}
}

// sort sorts the shapes by their ways.
func (o *outlines) sort() {
	entries := o.entries.Slice()
	slices.SortFunc(entries, func(a, b outline) int {
		return cmp.Or(cmp.Compare(a.way, b.way), cmp.Compare(b.order, a.order))
	})
	entries = slices.CompactFunc(entries, func(a, b outline) bool { return a.way == b.way })
	o.entries.Truncate(len(entries))
}

func (o *outlines) add(way int64, g orb.Geometry) error {
	e := outline{way: way, order: int64(o.entries.Len()), shape: noShape}
	if g != nil {
		e.shape = uint64(o.shapes.bytes.Len())
		if err := o.shapes.add(mapdata.KindWay, way, nil, g, nil); err != nil {
			return err
		}
	}
	return o.entries.Append(e)
}

// of returns the shape of a way, nil if it is no feature of its own; false if no relation tells.
func (o *outlines) of(way int64) (g orb.Geometry, ok bool) {
	entries := o.entries.Slice()
	i, ok := slices.BinarySearchFunc(entries, way, func(e outline, id int64) int { return cmp.Compare(e.way, id) })
	if !ok || entries[i].shape == noShape {
		return nil, ok
	}
	o.shapes.Read(entries[i].shape, &o.record)
	return o.record.Geometry.orb(), true
}

// Free removes the files.
func (o *outlines) Free() error { return freeAll(o.shapes, o.entries) }
