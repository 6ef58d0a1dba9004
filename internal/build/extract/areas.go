package extract

import (
	"slices"

	"github.com/paulmach/orb"
	"github.com/paulmach/osm"
)

// areaRelation is a multipolygon or boundary relation that is a feature, or whose ways may be: in the old style, the tags
// are on the outer ways, and the relation has none of its own.
type areaRelation struct {
	id      int64
	version int
	tags    Tags
	// oldStyle says that the tags do not tell what the area is: its ways may.
	oldStyle bool
	members  []areaMember
}

type areaMember struct {
	way   int64
	inner bool
}

// addArea notes a relation whose area is needed.
func (c *collector) addArea(r *osm.Relation) error {
	a := areaRelation{id: int64(r.ID), version: r.Version, oldStyle: !hasMainKey(r.Tags) && !isFeature(r.Tags)}
	if !a.oldStyle && !isFeature(r.Tags) {
		return nil // an area without a name
	}
	a.tags = c.strings.keep(r.Tags)
	for _, m := range r.Members {
		if m.Type == osm.TypeWay {
			a.members = append(a.members, areaMember{way: m.Ref, inner: m.Role == "inner"})
		}
	}
	if len(a.members) == 0 {
		return nil
	}
	c.areas = append(c.areas, a)
	return c.cost.TakeMemory(costArea + a.tags.cost() + costMember*int64(len(a.members)))
}

// area is what became of an areaRelation.
type area struct {
	polygons orb.MultiPolygon
	// outer is for each polygon the ways of its outer ring, without those whose role is inner. It may be empty.
	outer    [][]int64
	repaired int
	broken   bool // some of it could not be closed
}

// assembleArea puts a relation's ways together. It reads c only, so that areas can be assembled side by side.
func (c *collector) assembleArea(a *areaRelation) (area, error) {
	j := joiner{at: c.locations.point, cost: c.cost}
	listed := make(map[int64]bool, len(a.members))
	for _, m := range a.members {
		if listed[m.way] {
			j.repaired++
			continue
		}
		listed[m.way] = true
		w := c.find(m.way)
		if w == nil {
			j.partial = true
			continue
		}
		// One way may be part of many areas.
		if err := c.cost.TakeMemory(costAreaNode * int64(w.end-w.start)); err != nil {
			return area{}, err
		}
		nodes, missing := c.nodesOf(w)
		if missing > 0 || len(nodes) < 2 {
			j.partial = true
			continue
		}
		j.pieces = append(j.pieces, piece{way: m.way, nodes: nodes, inner: m.inner})
	}
	j.join()
	result := area{broken: j.broken}
	rings, err := j.nest()
	if err != nil {
		return area{}, err
	}
	polygonOf := make([]int, len(rings)) // of outer rings
	for i := range rings {
		r := &rings[i]
		switch {
		case r.depth%2 == 1:
			p := polygonOf[r.parent]
			if p >= 0 {
				result.polygons[p] = append(result.polygons[p], oriented(r.points, false))
			}
		case r.depth == 0 && r.inner:
			// A hole in nothing: its outer ring is missing.
			polygonOf[i] = -1
			result.broken = true
		default:
			polygonOf[i] = len(result.polygons)
			result.polygons = append(result.polygons, orb.Polygon{oriented(r.points, true)})
			var ways []int64
			for _, p := range r.chain.pieces {
				// A hole that shares a part of the outer ring makes a dent in it.
				if !j.pieces[p].inner {
					ways = append(ways, j.pieces[p].way)
				}
			}
			slices.Sort(ways)
			result.outer = append(result.outer, slices.Compact(ways))
		}
	}
	result.repaired = j.repaired
	return result, nil
}

// resolve returns the tags and the polygons of a relation in the old style, whose outer ways carry the tags or some of them.
// What is a feature by the tags of one way alone is that way's: override gives it the relation's outline with its holes.
func (c *collector) resolve(a *areaRelation, built *area, override map[int64]orb.Geometry) (Tags, orb.MultiPolygon) {
	var tags Tags
	var polygons orb.MultiPolygon
	for i, ways := range built.outer {
		if len(ways) == 0 {
			continue
		}
		shared := c.sharedTags(ways)
		if w := c.find(ways[0]); len(ways) == 1 && w.feature && w.areal {
			override[w.id] = built.polygons[i]
			continue
		}
		for _, t := range a.tags {
			if shared.Get(t.Key) == "" {
				shared = shared.with(t)
			}
		}
		if !isFeature(shared.osm()) || tags != nil && !slices.Equal(tags, shared) {
			continue
		}
		tags = shared
		polygons = append(polygons, built.polygons[i])
		for _, id := range ways {
			override[id] = nil // no feature of its own: it is a part of the outline
		}
	}
	return tags, polygons
}

// sharedTags returns the tags that all of the ways have, if those are of areas.
func (c *collector) sharedTags(ways []int64) Tags {
	var shared Tags
	for i, id := range ways {
		w := c.find(id)
		if !w.areal {
			return nil
		}
		if i == 0 {
			shared = slices.Clone(w.tags)
			continue
		}
		shared = slices.DeleteFunc(shared, func(t Tag) bool { return !slices.Contains(w.tags, t) })
	}
	return shared
}

func (t Tags) osm() osm.Tags {
	tags := make(osm.Tags, len(t))
	for i := range t {
		tags[i] = osm.Tag(t[i])
	}
	return tags
}
