package extract

import (
	"cmp"
	"context"
	"slices"

	"github.com/paulmach/orb"
	"golang.org/x/sync/errgroup"

	"github.com/mapsedge/caddy-maps/internal/compiler/progress"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// keyNumbers are the numbers of the keys that are asked for while features are put together.
type keyNumbers struct{ name, building, street, place, house, conscription, streetNumber uint32 }

func newKeyNumbers(texts *scratch.Texts) (k keyNumbers, err error) {
	for _, key := range []struct {
		number *uint32
		text   string
	}{
		{&k.name, "name"}, {&k.building, "building"}, {&k.street, "addr:street"}, {&k.place, "addr:place"},
		{&k.house, "addr:housenumber"}, {&k.conscription, "addr:conscriptionnumber"},
		{&k.streetNumber, "addr:streetnumber"},
	} {
		if *key.number, err = texts.Add(key.text); err != nil {
			return k, err
		}
	}
	return k, nil
}

// onStreet tells whether an address says where its house number belongs.
func (k *keyNumbers) onStreet(tags []TagNumbers) bool {
	return slices.ContainsFunc(tags, func(t TagNumbers) bool { return t.Key == k.street || t.Key == k.place })
}

// hasHouseNumber says whether an object has a house number, be it that of the land register or that of the street.
func (k *keyNumbers) hasHouseNumber(tags []TagNumbers) bool {
	return slices.ContainsFunc(tags, func(t TagNumbers) bool {
		return t.Key == k.house || t.Key == k.conscription || t.Key == k.streetNumber
	})
}

// valueOf returns the value of a key, 0 where there is none.
func valueOf(tags []TagNumbers, key uint32) uint32 {
	for _, t := range tags {
		if t.Key == key {
			return t.Value
		}
	}
	return 0
}

// with returns tags and one more. They are sorted by the texts of their keys.
func (c *collector) with(tags []TagNumbers, tag TagNumbers) []TagNumbers {
	key := c.names.text(tag.Key)
	i, _ := slices.BinarySearchFunc(tags, key, func(t TagNumbers, key string) int {
		return cmp.Compare(c.names.text(t.Key), key)
	})
	return slices.Insert(slices.Clone(tags), i, tag)
}

// onItsStreet returns the tags of an object with the street that a relation says it is on, if they name none.
func (c *collector) onItsStreet(kind mapdata.Kind, id int64, tags []TagNumbers) []TagNumbers {
	if street := c.streetOf(kind, id); street != 0 && !c.keys.onStreet(tags) {
		return c.with(tags, TagNumbers{c.keys.street, street})
	}
	return tags
}

// addFeature adds a feature, with the street that a relation says it is on.
func (c *collector) addFeature(data *Data, kind mapdata.Kind, id int64, tags []TagNumbers, g orb.Geometry,
	entrances []orb.Point) error {
	if c.keys.hasHouseNumber(tags) {
		data.Counts.Addresses++
	}
	data.Counts.Features++
	return data.Features.add(kind, id, c.onItsStreet(kind, id, tags), g, entrances)
}

// assembleFeatures fills Features. The nodes come first, then the ways, then the relations; but what relations of the
// old style make of their ways has to be known before.
func (c *collector) assembleFeatures(ctx context.Context, bar *progress.Bar, data *Data) error {
	bar.Start(stageFeatures, int64(c.nodeFeatures.len()+c.ways.len()+c.areas.len()))
	m, err := newDraughtsman(c, data)
	if err != nil {
		return err
	}
	outlines, drawn, err := c.assembleOutlines(ctx, m)
	if err != nil {
		return err
	}
	err = sideBySide(ctx, func(ctx context.Context) error {
		if err := c.addNodes(ctx, bar, data); err != nil {
			return err
		}
		return c.addWays(ctx, bar, data, outlines)
	}, func(ctx context.Context) error { return m.nodesAndWays(ctx, drawn) })
	if err != nil {
		return err
	}
	if err := freeAll(c.nodeFeatures, outlines, drawn, c.borders); err != nil {
		return err
	}
	err = c.assembleAreas(ctx, func(int) bool { return true }, func(a *area) error {
		bar.Add(1)
		if err := m.area(a); err != nil {
			return err
		}
		return c.addAssembled(data, a)
	})
	if err != nil {
		return err
	}
	bar.Finish()
	if err := freeAll(c.areas, c.memberWays, c.entrances, c.houses); err != nil {
		return err
	}
	return cmp.Or(trimAll(data.Features.bytes, data.Interpolations.bytes), m.finish())
}

// sideBySide does two things at a time. The first error of one ends the other.
func sideBySide(ctx context.Context, a, b func(context.Context) error) error {
	all, ctx := errgroup.WithContext(ctx)
	all.Go(func() error { return a(ctx) })
	all.Go(func() error { return b(ctx) })
	return all.Wait()
}

func (c *collector) addNodes(ctx context.Context, bar *progress.Bar, data *Data) error {
	var tags []TagNumbers
	number := uint64(0)
	return loop(ctx, bar, c.nodeFeatures.len(), func(i int) error {
		if c.nodeFeatures.flags(i)&nodeIsFeature == 0 {
			return nil
		}
		id := c.nodeFeatures.id(i)
		d := c.nodeFeatures.read(i)
		tags = d.tags(tags[:0])
		number, _ = c.locations.find(id, number) // it was added with the feature
		return c.addFeature(data, mapdata.KindNode, id, tags, c.locations.point(number), nil)
	})
}

func (c *collector) addWays(ctx context.Context, bar *progress.Bar, data *Data, outlines *outlines) error {
	var w way
	return loop(ctx, bar, c.ways.len(), func(i int) error {
		if c.ways.flags(i)&wayIsFeature == 0 {
			return nil
		}
		c.readWay(i, &w)
		g, ok := outlines.of(w.id)
		if !ok {
			g = c.shape(&w, &data.Counts)
		}
		if g == nil {
			return nil
		}
		var entrances entranceFinder
		if w.is(wayIsAreal) {
			entrances.look(c, w.nodes)
		}
		return c.addFeature(data, mapdata.KindWay, w.id, w.tags, g, entrances.points)
	})
}

// addAssembled adds a relation, if it became an area.
func (c *collector) addAssembled(data *Data, a *area) error {
	tags, polygons := a.relation.tags, a.polygons
	if a.relation.oldStyle {
		shared, outer, err := c.resolve(a, func(int64, orb.Geometry) error { return nil })
		if err != nil {
			return err
		}
		if tags, err = numberTags(nil, c.texts, shared); err != nil {
			return err
		}
		polygons = outer
	} else if !a.relation.feature {
		return nil
	} else if a.broken {
		data.Counts.BrokenAreas++
	}
	data.Counts.RepairedRings += int64(a.repaired)
	if len(polygons) == 0 {
		return nil
	}
	var entrances []orb.Point
	if valueOf(tags, c.keys.building) != 0 {
		entrances = a.entrances
	}
	return c.addFeature(data, mapdata.KindRelation, a.relation.id, tags, polygons, entrances)
}

// shape returns the geometry of a way: a polygon if it is closed and an area, else a line; nil if the extract has not
// enough of it.
func (c *collector) shape(w *way, counts *Counts) orb.Geometry {
	if w.is(wayIsAreal) && w.is(wayIsClosed) {
		if w.missing > 0 {
			// Without some of its corners an area is another one.
			counts.MissingNodes += int64(w.missing)
			counts.BrokenAreas++
			return nil
		}
		if ring := orb.Ring(c.pointsOf(w.known())); len(ring) > 3 && signedArea(ring) != 0 {
			return orb.Polygon{oriented(ring, true)}
		}
	}
	nodes := w.known()
	if w.missing > 0 {
		counts.MissingNodes += int64(w.missing)
		nodes = w.longestRun()
	}
	if len(nodes) < 2 {
		return nil
	}
	return orb.LineString(c.pointsOf(nodes))
}

func (c *collector) pointsOf(nodes []uint64) []orb.Point {
	points := make([]orb.Point, len(nodes))
	for i, n := range nodes {
		points[i] = c.locations.point(n)
	}
	return points
}

// longestRun returns the longest part of a way without missing nodes; the first of several.
func (w *way) longestRun() []uint64 {
	var longest, run []uint64
	for _, n := range w.nodes {
		switch {
		case n == noNode:
			run = nil
		case len(run) == 0 || run[len(run)-1] != n:
			run = append(run, n)
		}
		if len(run) > len(longest) {
			longest = slices.Clone(run)
		}
	}
	return longest
}
