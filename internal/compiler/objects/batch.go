package objects

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	opm "github.com/paulmach/osm"

	"github.com/mapsedge/caddy-maps/internal/compiler/osm"
	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// objectBatch gathers records. Their texts have numbers of the batch's own, until they are taken.
type objectBatch struct {
	data      *Data
	objects   []object
	tags      []TagNumbers
	rows      []byte
	entrances []entrance
	addresses int64

	texts   []string
	numbers map[string]uint32 // of texts
	keys    [256]uint32       // texts of keys
	kept    []keptTag
	record  FeatureRecord
	ids     []int64
}

// object is a record: for which store, and where its tags and bytes end. They begin where those of the one before end.
type object struct {
	key         uint64
	tags, bytes int
	to          store
}

type store uint8

const (
	toFeatures store = iota
	toOldStyle
	toLines
	toStreets
	toDrives
	toStreetNodes
)

type keptTag struct {
	key tags.Key
	opm.Tag
}

// NewBatch makes an empty batch.
func (d *Data) NewBatch() osm.Batch {
	b := &objectBatch{data: d, numbers: make(map[string]uint32)}
	b.reset()
	return b
}

// reset empties the batch. Texts are forgotten, since they hold the block that they are of.
func (b *objectBatch) reset() {
	clear(b.texts)
	clear(b.numbers)
	clear(b.keys[:])
	clear(b.kept[:cap(b.kept)])
	b.objects, b.tags, b.rows, b.entrances = b.objects[:0], b.tags[:0], b.rows[:0], b.entrances[:0]
	b.addresses, b.texts = 0, append(b.texts[:0], "")
}

// number is the number of a text.
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

// keyNumber is the number of the text of a key.
func (b *objectBatch) keyNumber(t *keptTag) uint32 {
	n := b.keys[t.key]
	if n == 0 || t.key == tags.Other {
		n = b.number(t.Key)
		b.keys[t.key] = n
	}
	return n
}

// addKept adds the tags that a region keeps, sorted by key.
func (b *objectBatch) addKept(set *tags.Set) {
	b.kept = b.kept[:0]
	for key, t := range set.All {
		if isKept(key, t.Key) {
			b.kept = append(b.kept, keptTag{key, opm.Tag{Key: tags.Valid(t.Key), Value: tags.Valid(t.Value)}})
		}
	}
	slices.SortFunc(b.kept, func(a, b keptTag) int { return strings.Compare(a.Key, b.Key) })
	for i := range b.kept {
		b.tags = append(b.tags, TagNumbers{b.keyNumber(&b.kept[i]), b.number(b.kept[i].Value)})
	}
}

// end adds an object, of which the tags and bytes are there.
func (b *objectBatch) end(to store, kind mapdata.Kind, id int64) {
	b.objects = append(b.objects, object{keyOf(kind, id), len(b.tags), len(b.rows), to})
}

// addFeature adds the feature in b.record.
func (b *objectBatch) addFeature(to store, kind mapdata.Kind, id int64, set *tags.Set) {
	b.addKept(set)
	b.rows = b.record.append(b.rows)
	b.end(to, kind, id)
	if set.HasAny(addressKeys) {
		b.addresses++
	}
}

// Node adds a feature or an entrance.
func (b *objectBatch) Node(n *osm.Node) (note bool) {
	kind := entranceOf(n.Tags)
	if kind != noEntrance {
		b.entrances = append(b.entrances, entrance{n.ID, kind})
	}
	if isFeature(n.Tags) {
		b.record.reset(Point)
		b.record.Coords = append(b.record.Coords, n.At)
		b.addFeature(toFeatures, mapdata.KindNode, n.ID, n.Tags)
	}
	return kind != noEntrance
}

// Relation adds a street, and wants the area of a feature.
func (b *objectBatch) Relation(r *osm.Relation) (wantArea bool) {
	if r.Tags.Is(tags.Type, "associatedStreet", "street") {
		b.addStreet(r)
	}
	return isFeature(r.Tags)
}

// Way adds a line: an interpolation, a drive, or a feature that is no area.
func (b *objectBatch) Way(w *osm.Way) {
	b.addDrive(w)
	if step, parity, ok := parseInterpolation(w.Tags.Get(tags.AddrInterpolation)); ok {
		b.addLine(w, step, parity)
	}
	isBroken := w.IsArea && w.Closed() && w.Lacks > 0 // without some of its corners an area is another one
	if w.HasArea || isBroken || !isFeature(w.Tags) || isPart(w.Outline) {
		return
	}
	line := w.Coords
	if w.Lacks > 0 {
		line = nil
		for from, to := range w.Parts {
			if to-from > len(line) {
				line = w.Coords[from:to]
			}
		}
	}
	if len(line) < 2 {
		return
	}
	b.record.reset(Line)
	b.record.Coords = append(b.record.Coords, line...)
	if w.IsArea {
		doors := entranceFinder{data: b.data}
		for i, n := range w.Numbers {
			if w.NodeNoted(i) {
				doors.look(n)
			}
		}
		b.record.Entrances = doors.found
	}
	b.addFeature(toFeatures, mapdata.KindWay, w.ID, w.Tags)
}

// isPart says whether a way is no feature since it is a part of the outline of one.
func isPart(outline *tags.Set) bool { return outline != nil && isFeature(outline) }

// Area adds a feature. The only outer way of a multipolygon in the old style is one itself, or together with the
// relation, which is the feature then.
func (b *objectBatch) Area(a *osm.Area) {
	to, kind, id, set := toFeatures, a.Kind, a.ID, a.Tags
	if a.OldStyle && kind == mapdata.KindRelation {
		to = toOldStyle
	}
	if a.Shared != nil && !isFeature(set) {
		to, kind, id, set = toOldStyle, mapdata.KindRelation, a.Relation, a.Shared
	}
	if !isFeature(set) || isPart(a.Outline) {
		return
	}
	r := &b.record
	r.reset(MultiPolygon)
	if kind == mapdata.KindWay && len(a.Polygons) == 1 {
		r.Shape = Polygon
	}
	for _, polygon := range a.Polygons {
		for _, ring := range polygon {
			r.Coords = append(r.Coords, ring...)
			r.Rings = append(r.Rings, uint32(len(r.Coords)))
		}
		r.Polygons = append(r.Polygons, uint32(len(r.Rings)))
	}
	if kind == mapdata.KindWay || set.Has(tags.Building) {
		doors := entranceFinder{data: b.data}
		for _, n := range a.Noted {
			doors.look(n)
		}
		r.Entrances = doors.found
	}
	b.addFeature(to, kind, id, set)
}

// addStreet adds a relation associatedStreet or street: a street with its houses. Its record has the name, the ways of
// the street where it has none, and the houses.
func (b *objectBatch) addStreet(r *osm.Relation) {
	name := tags.Valid(cmp.Or(r.Tags.Get(tags.Name), r.Tags.Get(tags.AddrStreet)))
	b.tags = append(b.tags, TagNumbers{Value: b.number(name)})
	b.addMembers(r.Members, func(m *osm.Member) bool {
		return m.Role == "street" && m.Kind == mapdata.KindWay && name == ""
	})
	b.addMembers(r.Members, func(m *osm.Member) bool { return m.Role == "house" || m.Role == "address" || m.Role == "" })
	b.end(toStreets, mapdata.KindRelation, r.ID)
}

// addMembers adds some members of a relation to a record, by the keys of their own records.
func (b *objectBatch) addMembers(members []osm.Member, is func(*osm.Member) bool) {
	var keys []uint64
	for i := range members {
		if is(&members[i]) {
			keys = append(keys, keyOf(members[i].Kind, members[i].ID))
		}
	}
	b.rows = binary.AppendUvarint(b.rows, uint64(len(keys)))
	for _, key := range keys {
		b.rows = binary.LittleEndian.AppendUint64(b.rows, key)
	}
}

// addLine adds a line of house numbers, which are not known yet.
func (b *objectBatch) addLine(w *osm.Way, step int32, parity Parity) {
	coords, ids := b.record.Coords[:0], b.ids[:0]
	for i, n := range w.Numbers {
		if n != osm.Missing && (len(ids) == 0 || ids[len(ids)-1] != w.Nodes[i]) {
			coords, ids = append(coords, w.Coords[i]), append(ids, w.Nodes[i])
		}
	}
	b.record.Coords, b.ids = coords, ids
	b.addKept(w.Tags)
	b.rows = appendInterpolation(b.rows, step, parity, coords, ids, nil)
	b.end(toLines, mapdata.KindWay, w.ID)
}
