package osm

import (
	"cmp"
	"context"
	"slices"

	posm "github.com/paulmach/osm"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
)

// An old-style multipolygon, which OpenStreetMap abolished in 2017, has its tags on its outer ways. A relation without
// main tags may be one. Its outer ways that are areas are held back until all such relations have been assembled. Then
// they are handed over with their claims.

// claim is the meaning that a relation gives to an outer way.
type claim struct {
	outline *tags.Set // of the area, if other ways bound it too
	// If it is the only way around a polygon:
	polygon  Polygon
	shared   *tags.Set // the tags of way and relation
	relation int64
}

// assembleOldStyle hands over the old-style areas that several ways bound, and the ways that were held back. The last
// of several claims to a way counts.
func (r *reader) assembleOldStyle(ctx context.Context) error {
	claims := make(map[int64]claim)
	b := r.newBatch()
	for i := range r.areas.oldStyle.Len() {
		b.resolve(i, claims)
		if err := cmp.Or(ctx.Err(), r.take(b)); err != nil {
			return err
		}
	}
	outlines := r.areas.outlines.Slice()
	return r.inBatches(ctx, len(outlines), func(b *batch, i int) {
		w, _ := b.member(outlines[i])
		if w.claim = claims[w.ID]; w.IsArea {
			w.Outline = w.claim.outline
			b.deliver(&w)
		}
	})
}

// resolve finds the tags of the polygons of a relation, and hands over those that several ways bound.
func (b *batch) resolve(relation int, claims map[int64]claim) {
	area, made := b.assembleArea(b.r.areas.oldStyle, relation)
	var list []*Area
	counted := false
	for i, ways := range made.Outer {
		shared := b.sharedTags(area.Tags, ways)
		if shared == nil {
			continue
		}
		if !counted {
			counted = true
			b.count(made)
		}
		if len(ways) == 1 {
			claims[ways[0]] = claim{polygon: made.Polygons[i], shared: shared, relation: area.ID}
			continue
		}
		for _, way := range ways {
			claims[way] = claim{outline: shared}
		}
		same := slices.IndexFunc(list, func(o *Area) bool { return slices.Equal(o.Tags.OSM(), shared.OSM()) })
		if same < 0 {
			same = len(list)
			list = append(list, &Area{Kind: area.Kind, ID: area.ID, Tags: shared, Noted: area.Noted, OldStyle: true})
		}
		list[same].Polygons = append(list[same].Polygons, made.Polygons[i])
	}
	for _, a := range list {
		b.deliverArea(a)
	}
}

// sharedTags returns the tags that all of the ways have, and those of their relation. It returns nil if the ways are no
// areas, or have no tags in common.
func (b *batch) sharedTags(ofRelation *tags.Set, ways []int64) *tags.Set {
	var shared posm.Tags
	for i, id := range ways {
		w, _ := b.member(id)
		if i == 0 {
			shared = w.Tags.OSM()
		}
		shared = slices.DeleteFunc(shared, func(t posm.Tag) bool { return w.Tags.Find(t.Key) != t.Value })
	}
	if len(shared) == 0 {
		return nil
	}
	for key, tag := range ofRelation.All {
		if key != tags.Type {
			shared = append(shared, tag)
		}
	}
	return tags.Of(shared)
}
