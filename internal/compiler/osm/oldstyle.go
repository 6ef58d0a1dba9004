package osm

import (
	"cmp"
	"context"
	"slices"

	posm "github.com/paulmach/osm"

	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
)

// In the old style, which OpenStreetMap gave up in 2017, a multipolygon has its tags from its outer ways. A relation
// that says of itself nothing but its type may be one. Its outer ways that are areas by their tags are held back until
// all such relations have been put together: they are then handed over with what the relations make of them.

// claim is what a relation makes of an outer way.
type claim struct {
	outline  *tags.Set // of the area that it encloses with others; or, if it is the only one around a polygon:
	polygon  Polygon   // with its holes,
	shared   *tags.Set // its tags,
	relation int64     // and the relation
}

// assembleOldStyle hands over the areas of relations in the old style that several ways enclose, and the ways that were
// held back. Of several claims to a way the last one counts.
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

// resolve finds the tags of the polygons of a relation.
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

// sharedTags returns the tags that all of the ways have, and those of their relation; nil if the ways are no areas by
// their tags, or share none.
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
