package objects

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	opm "github.com/paulmach/osm"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// objectBatch gathers records. It numbers their texts itself, until the batch is taken.
type objectBatch struct {
	data      *Data
	objects   []object
	tags      Tags
	rows      []byte
	entrances []entrance
	addresses int64

	texts   []string
	numbers map[string]uint32 // of texts
	kept    opm.Tags
	shaper  geometry.Shaper
}

// object is a record for a list. Its tags and bytes end at these offsets of the batch, and begin where those of the
// previous object end.
type object struct {
	to          *scratch.Records
	key         uint64
	tags, bytes int
}

// NewBatch implements osm.Consumer.
func (d *Data) NewBatch() osm.Batch {
	return &objectBatch{data: d, numbers: make(map[string]uint32), texts: []string{""}}
}

// reset empties the batch. It clears texts, which keep their blocks in memory.
func (b *objectBatch) reset() {
	clear(b.texts)
	clear(b.numbers)
	clear(b.kept[:cap(b.kept)])
	b.objects, b.tags, b.rows, b.entrances = b.objects[:0], b.tags[:0], b.rows[:0], b.entrances[:0]
	b.addresses, b.texts = 0, b.texts[:1]
}

// number returns the number of a text.
func (b *objectBatch) number(text string) uint32 {
	if text == "" {
		return 0
	}
	n, ok := b.numbers[text]
	if !ok {
		n = uint32(len(b.texts))
		b.texts, b.numbers[text] = append(b.texts, text), n
	}
	return n
}

// addKept adds the tags that a region keeps, sorted by key.
func (b *objectBatch) addKept(set *tags.Set) {
	b.kept = b.kept[:0]
	for key, t := range set.All {
		if isKept(key, t.Key) {
			b.kept = append(b.kept, opm.Tag{Key: tags.Valid(t.Key), Value: tags.Valid(t.Value)})
		}
	}
	slices.SortFunc(b.kept, func(a, b opm.Tag) int { return strings.Compare(a.Key, b.Key) })
	for _, t := range b.kept {
		b.tags = append(b.tags, Tag{b.number(t.Key), b.number(t.Value)})
	}
}

// end adds an object whose tags and bytes have been appended.
func (b *objectBatch) end(to *scratch.Records, kind region.Kind, id int64) {
	b.objects = append(b.objects, object{to, keyOf(kind, id), len(b.tags), len(b.rows)})
}

// addFeature adds a feature with some tags, or without any if set is nil.
func (b *objectBatch) addFeature(to Features, f Feature, set *tags.Set) {
	if set != nil {
		b.addKept(set)
		if set.HasAny(addressKeys) {
			b.addresses++
		}
	}
	b.rows = f.append(b.rows)
	b.end(to.Records, f.Kind, f.ID)
}

// trace passes a line or a ring to the shaper.
func (b *objectBatch) trace(line []osm.Coord, isRing bool) {
	for _, c := range line {
		b.shaper.Vertex(coordOf(c))
	}
	b.shaper.End(isRing)
}

// Node implements osm.Batch. It adds a feature or an entrance.
func (b *objectBatch) Node(n *osm.Node) (note bool) {
	if note = isEntrance(n.Tags); note {
		b.entrances = append(b.entrances, entrance{n.ID, n.Tags.Is(tags.Entrance, "main")})
	}
	if isFeature(n.Tags) {
		at := geometry.Geometry{Box: coordOf(n.At).Box()}
		b.addFeature(b.data.Features, Feature{Kind: region.KindNode, ID: n.ID, Geometry: at}, n.Tags)
	}
	return note
}

// Relation implements osm.Batch. It adds a street, and wants the area of a feature.
func (b *objectBatch) Relation(r *osm.Relation) (wantArea bool) {
	if r.Tags.Is(tags.Type, "associatedStreet", "street") {
		b.addStreet(r)
	}
	return isFeature(r.Tags)
}

// Way implements osm.Batch. It adds lines: interpolations, roads without a name, and features that are no areas.
func (b *objectBatch) Way(w *osm.Way) {
	if road, ok := w.Road(); ok && road.Name == "" && road.Class >= region.Unclassified && road.Class <= region.Track {
		for from, to := range w.Parts {
			b.addLine(b.data.Drives, w.ID, w.Coords[from:to], nil)
		}
	}
	if step, parity, ok := parseInterpolation(w.Tags.Get(tags.AddrInterpolation)); ok {
		b.addInterpolation(w, step, parity)
	}
	isBroken := w.IsArea && w.Closed() && w.Lacks > 0 // its shape is not known
	if w.HasArea || isBroken || !isFeature(w.Tags) || isPart(w.Outline) {
		return
	}
	var line []osm.Coord // the longest part
	for from, to := range w.Parts {
		if to-from > len(line) {
			line = w.Coords[from:to]
		}
	}
	if line != nil {
		b.addLine(b.data.Features, w.ID, line, w.Tags)
	}
}

func (b *objectBatch) addLine(to Features, way int64, line []osm.Coord, set *tags.Set) {
	b.trace(line, false)
	g, _ := b.shaper.Geometry(geometry.Line)
	b.addFeature(to, Feature{Kind: region.KindWay, ID: way, Geometry: g}, set)
}

// isPart reports whether a way is only a part of the outline of a feature.
func isPart(outline *tags.Set) bool { return outline != nil && isFeature(outline) }

// Area implements osm.Batch. It adds a feature. The only outer way of an old-style multipolygon is a feature by its own
// tags, or else by those that it shares with the relation, which is the feature then.
func (b *objectBatch) Area(a *osm.Area) {
	to, kind, id, set := b.data.Features, a.Kind, a.ID, a.Tags
	if a.OldStyle && kind == region.KindRelation {
		to = b.data.oldStyle
	}
	if a.Shared != nil && !isFeature(set) {
		to, kind, id, set = b.data.oldStyle, region.KindRelation, a.Relation, a.Shared
	}
	if !isFeature(set) || isPart(a.Outline) {
		return
	}
	for _, polygon := range a.Polygons {
		for _, ring := range polygon {
			b.trace(ring, true)
		}
	}
	g, ok := b.shaper.Geometry(geometry.Area)
	if !ok {
		return
	}
	f := Feature{Kind: kind, ID: id, Geometry: g}
	if kind == region.KindWay || set.Has(tags.Building) {
		f.Entrances = b.data.entrancesAt(a.Noted)
	}
	b.addFeature(to, f, set)
}

// addStreet adds a relation associatedStreet or street. The record has its name, and its members with their roles.
func (b *objectBatch) addStreet(r *osm.Relation) {
	name := tags.Valid(cmp.Or(r.Tags.Get(tags.Name), r.Tags.Get(tags.AddrStreet)))
	b.tags = append(b.tags, Tag{Value: b.number(name)})
	b.rows = binary.AppendUvarint(b.rows, uint64(len(r.Members)))
	for i := range r.Members {
		m := &r.Members[i]
		b.rows = binary.AppendUvarint(scratch.AppendText(b.rows, m.Role), keyOf(m.Kind, m.ID))
	}
	b.end(b.data.streets, region.KindRelation, r.ID)
}

// addInterpolation adds a line of addr:interpolation. Its house numbers are not known yet.
func (b *objectBatch) addInterpolation(w *osm.Way, step int32, parity Parity) {
	var coords []osm.Coord
	var ids []int64
	for i, n := range w.Numbers {
		if n != osm.Missing {
			coords, ids = append(coords, w.Coords[i]), append(ids, w.Nodes[i])
		}
	}
	b.addKept(w.Tags)
	b.rows = appendInterpolation(b.rows, step, parity, coords, ids, slices.Repeat([]int32{NoNumber}, len(ids)))
	b.end(b.data.lines.Records, region.KindWay, w.ID)
}
