package extract

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mapsedge/caddy-maps/internal/mapdata"

	"github.com/paulmach/orb"
)

// assemble makes Data of what was gathered.
func (c *collector) assemble(ctx context.Context, bar *progress) (*Data, error) {
	data := &Data{Tiles: c.coverage.tiles(), Bounds: c.coverage.bounds(), Counts: c.counts, Cost: c.cost}
	data.Counts.Nodes, data.Counts.Ways = c.nodeCount.Load(), c.wayCount.Load()
	if err := c.cost.TakeMemory(costTile * int64(len(data.Tiles))); err != nil {
		return nil, err
	}
	c.assembleRoads(data)
	if err := c.assembleRestrictions(data); err != nil {
		return nil, err
	}
	areas, err := c.assembleAreas(ctx, bar)
	if err != nil {
		return nil, err
	}
	c.endEntrances()
	override := make(map[int64]orb.Geometry)
	relations := make([]Feature, 0, len(areas))
	for i := range c.areas {
		rel, built := &c.areas[i], &areas[i]
		tags, polygons := rel.tags, built.polygons
		if rel.oldStyle {
			tags, polygons = c.resolve(rel, built, override)
		}
		data.Counts.RepairedRings += int64(built.repaired)
		if built.broken && !rel.oldStyle {
			data.Counts.BrokenAreas++
		}
		if len(polygons) > 0 {
			f := Feature{Kind: mapdata.KindRelation, ID: rel.id, Tags: tags, Geometry: polygons}
			if tags.Get("building") != "" {
				f.Entrances = c.entrancesOf(c.outlineOf(rel)...)
			}
			relations = append(relations, f)
		}
	}

	c.nodeFeatures = newest(c.nodeFeatures, func(n *nodeRecord) (int64, int) { return n.id, n.version })
	data.Features = make([]Feature, 0, len(c.nodeFeatures)+len(c.ways)/2+len(relations))
	for i := range c.nodeFeatures {
		n := &c.nodeFeatures[i]
		data.Features = append(data.Features, Feature{Kind: mapdata.KindNode, ID: n.id, Tags: n.tags, Geometry: toPoint(n.lat, n.lon)})
	}
	for i := range c.ways {
		w := &c.ways[i]
		if !w.feature {
			continue
		}
		g, ok := override[w.id]
		if !ok {
			g = c.shape(w, &data.Counts)
		}
		if g != nil {
			f := Feature{Kind: mapdata.KindWay, ID: w.id, Tags: w.tags, Geometry: g}
			if w.areal {
				f.Entrances = c.entrancesOf(w)
			}
			data.Features = append(data.Features, f)
		}
	}
	data.Features = append(data.Features, relations...)
	streets := c.assembleStreets()
	for i := range data.Features {
		f := &data.Features[i]
		if f.Tags.hasHouseNumber() {
			data.Counts.Addresses++
		}
		if street := streets[member{f.Kind, f.ID}]; street != "" && !f.Tags.onStreet() {
			f.Tags = f.Tags.with(Tag{"addr:street", c.strings.intern(street)})
		}
	}
	data.Counts.Features = int64(len(data.Features))
	c.assembleInterpolations(data, streets)
	return data, ctx.Err()
}

// with returns the tags and one more.
func (t Tags) with(tag Tag) Tags {
	i, _ := slices.BinarySearchFunc(t, tag.Key, func(t Tag, key string) int { return strings.Compare(t.Key, key) })
	return slices.Insert(slices.Clone(t), i, tag)
}

// outlineOf returns the ways of an area.
func (c *collector) outlineOf(a *areaRelation) (ways []*wayRecord) {
	for _, m := range a.members {
		if w := c.find(m.way); w != nil {
			ways = append(ways, w)
		}
	}
	return ways
}

// assembleAreas puts all areas together, on all cores.
func (c *collector) assembleAreas(ctx context.Context, bar *progress) ([]area, error) {
	areas := make([]area, len(c.areas))
	bar.start(stageAreas, int64(len(areas)))
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(areas) {
					return
				}
				var err error
				if areas[i], err = c.assembleArea(&c.areas[i]); err != nil {
					fail(err)
				}
				bar.add(1)
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	bar.finish()
	return areas, nil
}

// shape returns the geometry of a way: a polygon if it is closed and an area, else a line; nil if the extract has not
// enough of it.
func (c *collector) shape(w *wayRecord, counts *Counts) orb.Geometry {
	nodes, missing := c.nodesOf(w)
	closed := c.refs[w.start] == c.refs[w.end-1]
	if w.areal && closed {
		if missing > 0 {
			// Without some of its corners an area is another one.
			counts.MissingNodes += int64(missing)
			counts.BrokenAreas++
			return nil
		}
		ring := make(orb.Ring, len(nodes))
		for i, node := range nodes {
			ring[i] = c.locations.point(node)
		}
		if len(ring) > 3 && signedArea(ring) != 0 {
			return orb.Polygon{oriented(ring, true)}
		}
	}
	if missing > 0 {
		counts.MissingNodes += int64(missing)
		nodes = c.longestRun(w)
	}
	if len(nodes) < 2 {
		return nil
	}
	line := make(orb.LineString, len(nodes))
	for i, node := range nodes {
		line[i] = c.locations.point(node)
	}
	return line
}

// longestRun returns the longest part of a way without missing nodes; the first of several.
func (c *collector) longestRun(w *wayRecord) []int32 {
	var longest, run []int32
	for _, ref := range c.refs[w.start:w.end] {
		i := int32(ref)
		switch {
		case !c.locations.known(i):
			run = nil
		case len(run) == 0 || run[len(run)-1] != i:
			run = append(run, i)
		}
		if len(run) > len(longest) {
			longest = slices.Clone(run)
		}
	}
	return longest
}
