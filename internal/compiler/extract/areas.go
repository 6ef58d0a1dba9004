package extract

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/inorder"
	"github.com/mapsedge/caddy-maps/internal/mapdata"

	"github.com/paulmach/orb"
	"github.com/paulmach/osm"
)

// areaRelation is a multipolygon or boundary relation that is a feature, or on the map, or whose ways may be: in the
// old style, the tags are on the outer ways, and the relation has none of its own.
type areaRelation struct {
	id      int64
	tags    []TagNumbers
	feature bool
	classes []uint32 // what the map shows of it
	// oldStyle says that the tags do not tell what the area is: its ways may.
	oldStyle bool
	members  []areaMember
}

type areaMember struct {
	way   int64
	inner bool
}

// What an area is, as flags of its record. The bits above them are the admin_level of a boundary.
const (
	areaIsOldStyle recordFlags = 1 << iota
	areaIsFeature
	areaIsDrawn
	areaLevel
)

// isArea says whether a relation is one that has an area.
func (r *foundRelation) isArea() bool {
	kind := r.tags.Find("type")
	return kind == "multipolygon" || kind == "boundary"
}

// addArea notes a relation whose area is needed. Its record has the tags, and the ways with their roles.
func (c *collector) addArea(r *foundRelation, members []member, b *batch) error {
	flags := c.borderLevel(r.tags) * areaLevel
	if isFeature(r.tags) {
		flags |= areaIsFeature
	} else if !hasMainKey(r.tags) {
		flags |= areaIsOldStyle
	}
	if !r.classes.empty() {
		flags |= areaIsDrawn
	}
	if flags == 0 {
		return nil // an area without a name, which the map does not show
	}
	isWay := func(m *member) bool { return m.kind == mapdata.KindWay }
	n := 0
	for i := range members {
		if isWay(&members[i]) {
			n++
		}
	}
	if n == 0 {
		return nil
	}
	tags := appendKept(nil, r.tags)
	row, err := appendTags(c.areas.begin(r.version), c.texts, tags)
	if err != nil {
		return err
	}
	if flags&areaIsDrawn != 0 {
		if row, err = c.appendDrawn(row, b, r.classes); err != nil {
			return err
		}
	}
	row = binary.AppendUvarint(row, uint64(n))
	last := int64(0)
	for i := range members {
		m := &members[i]
		if !isWay(m) {
			continue
		}
		role := byte(0)
		if m.role == "inner" {
			role = 1
		}
		row = append(binary.AppendVarint(row, m.id-last), role)
		last = m.id
		if err := c.memberWays.Append(m.id); err != nil {
			return err
		}
	}
	if err := c.areas.end(r.id, flags, row); err != nil {
		return err
	}
	return c.cost.TakeMemory(costArea + tags.cost() + costMember*int64(n))
}

// readArea reads the i-th area.
func (c *collector) readArea(i int) *areaRelation {
	d := c.areas.read(i)
	flags := c.areas.flags(i)
	a := &areaRelation{id: c.areas.id(i), oldStyle: flags&areaIsOldStyle != 0, feature: flags&areaIsFeature != 0,
		tags: d.tags(nil)}
	if flags&areaIsDrawn != 0 {
		a.classes = d.numbers(nil)
	}
	a.members = make([]areaMember, d.uvarint())
	last := int64(0)
	for k := range a.members {
		last += d.varint()
		a.members[k] = areaMember{way: last, inner: d.byte() == 1}
	}
	return a
}

// area is what became of an areaRelation.
type area struct {
	relation *areaRelation
	polygons orb.MultiPolygon
	// outer is for each polygon the ways of its outer ring, without those whose role is inner. It may be empty.
	outer     [][]int64
	repaired  int
	broken    bool        // some of it could not be closed
	entrances []orb.Point // of a building, or of what may be one
}

// assembleArea puts a relation's ways together. It reads c only, so that areas can be assembled side by side.
func (c *collector) assembleArea(i int) (*area, error) {
	a := c.readArea(i)
	result := &area{relation: a}
	j := joiner{at: c.locations.point, cost: c.cost}
	building := a.oldStyle || a.feature && valueOf(a.tags, c.keys.building) != 0
	var entrances entranceFinder
	var w way
	listed := make(map[int64]bool, len(a.members))
	for _, m := range a.members {
		if listed[m.way] {
			j.repaired++
			continue
		}
		listed[m.way] = true
		if !c.findWay(m.way, &w) {
			j.partial = true
			continue
		}
		// One way may be part of many areas.
		if err := c.cost.TakeMemory(costAreaNode * int64(len(w.nodes))); err != nil {
			return nil, err
		}
		if building {
			entrances.look(c, w.nodes)
		}
		nodes := w.known()
		if w.missing > 0 || len(nodes) < 2 {
			j.partial = true
			continue
		}
		j.pieces = append(j.pieces, piece{way: m.way, nodes: nodes, inner: m.inner})
	}
	j.join()
	result.broken, result.entrances = j.broken, entrances.points
	rings, err := j.nest()
	if err != nil {
		return nil, err
	}
	result.build(&j, rings)
	result.repaired = j.repaired
	return result, nil
}

// build makes polygons of rings that have been nested.
func (a *area) build(j *joiner, rings []ring) {
	polygonOf := make([]int, len(rings)) // of outer rings
	for i := range rings {
		r := &rings[i]
		switch {
		case r.depth%2 == 1:
			if p := polygonOf[r.parent]; p >= 0 {
				a.polygons[p] = append(a.polygons[p], oriented(r.points, false))
			}
		case r.depth == 0 && r.inner:
			// A hole in nothing: its outer ring is missing.
			polygonOf[i] = -1
			a.broken = true
		default:
			polygonOf[i] = len(a.polygons)
			a.polygons = append(a.polygons, orb.Polygon{oriented(r.points, true)})
			var ways []int64
			for _, p := range r.chain.pieces {
				// A hole that shares a part of the outer ring makes a dent in it.
				if !j.pieces[p].inner {
					ways = append(ways, j.pieces[p].way)
				}
			}
			slices.Sort(ways)
			a.outer = append(a.outer, slices.Compact(ways))
		}
	}
}

// assembleAreas puts the areas together that are wanted, on all cores, and yields them by id.
func (c *collector) assembleAreas(ctx context.Context, want func(i int) bool, yield func(*area) error) error {
	return inorder.Run(ctx, func(give func(i int) bool) {
		for i := range c.areas.len() {
			if want(i) && !give(i) {
				return
			}
		}
	}, c.assembleArea, yield)
}

// resolve returns the tags and the polygons of a relation in the old style, whose outer ways carry the tags or some of
// them. What is a feature by the tags of one way alone is that way's: override is told the relation's outline with its
// holes for it. For ways that are no features of their own, since they are a part of the outline, it is told nil.
func (c *collector) resolve(a *area, override func(way int64, g orb.Geometry) error) (Tags, orb.MultiPolygon, error) {
	var tags Tags
	var polygons orb.MultiPolygon
	var w way
	for i, ways := range a.outer {
		if len(ways) == 0 {
			continue
		}
		if c.findWay(ways[0], &w); len(ways) == 1 && w.is(wayIsFeature) && w.is(wayIsAreal) {
			if err := override(ways[0], a.polygons[i]); err != nil {
				return nil, nil, err
			}
			continue
		}
		shared := c.outlineTags(a, ways)
		if !isFeature(shared.osm()) || tags != nil && !slices.Equal(tags, shared) {
			continue
		}
		tags = shared
		polygons = append(polygons, a.polygons[i])
		for _, id := range ways {
			if err := override(id, nil); err != nil {
				return nil, nil, err
			}
		}
	}
	return tags, polygons, nil
}

// outlineTags returns the tags of an area in the old style: those that all of the ways have, and those of the relation.
func (c *collector) outlineTags(a *area, ways []int64) Tags {
	tags := c.sharedTags(ways)
	for _, t := range c.names.tags(nil, a.relation.tags) {
		if tags.Get(t.Key) == "" {
			tags = tags.with(t)
		}
	}
	return tags
}

// sharedTags returns the tags that all of the ways have, if those are of areas.
func (c *collector) sharedTags(ways []int64) Tags {
	var shared []TagNumbers
	var w way
	for i, id := range ways {
		if c.findWay(id, &w); !w.is(wayIsAreal) {
			return nil
		}
		if i == 0 {
			shared = slices.Clone(w.tags)
			continue
		}
		shared = slices.DeleteFunc(shared, func(t TagNumbers) bool { return !slices.Contains(w.tags, t) })
	}
	return c.names.tags(nil, shared)
}

func (t Tags) osm() osm.Tags {
	tags := make(osm.Tags, len(t))
	for i := range t {
		tags[i] = osm.Tag(t[i])
	}
	return tags
}
