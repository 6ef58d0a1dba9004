package osm

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/base/pipeline"
	"github.com/mapsedge/caddy-maps/internal/compiler/rings"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// areas keeps the relations whose areas consumers want, and their ways, until all ways have been read.
type areas struct {
	relations *scratch.Records      // by id; see addRelation
	oldStyle  *scratch.Records      // others, which may be old-style multipolygons
	members   *scratch.Array[int64] // the ids of the ways of both
	outlines  *scratch.Array[int64] // the ids of the outer ways of oldStyle
	ways      *scratch.Records      // the members, by id; see addMember
}

func newAreas(dir *scratch.Dir) *areas {
	return &areas{relations: scratch.NewRecords(dir, "areas"), oldStyle: scratch.NewRecords(dir, "old-areas"),
		members: scratch.NewArray[int64](dir, "area-members"), outlines: scratch.NewArray[int64](dir, "old-outlines"),
		ways: scratch.NewRecords(dir, "area-ways")}
}

func (a *areas) free() error {
	return errors.Join(a.relations.Free(), a.oldStyle.Free(), a.members.Free(), a.outlines.Free(), a.ways.Free())
}

// areaBatch is the part of a batch for areas.
type areaBatch struct {
	of                *areas
	rows              []areaRow
	bytes             []byte // of the rows
	members, outlines []int64
}

// areaRow is a record to be added to a list.
type areaRow struct {
	list *scratch.Records
	id   int64
	end  int // in bytes
}

func (b *areaBatch) add(list *scratch.Records, id int64, withRow []byte) {
	b.bytes = withRow
	b.rows = append(b.rows, areaRow{list, id, len(b.bytes)})
}

func (b *areaBatch) take() error {
	from := 0
	for _, r := range b.rows {
		if err := r.list.Add(uint64(r.id), b.bytes[from:r.end]); err != nil {
			return err
		}
		from = r.end
	}
	err := errors.Join(b.of.members.Append(b.members...), b.of.outlines.Append(b.outlines...))
	*b = areaBatch{b.of, b.rows[:0], b.bytes[:0], b.members[:0], b.outlines[:0]}
	return err
}

// addRelation adds a relation whose area is wanted, or that may be an old-style multipolygon. The record has its tags,
// and its ways with a bit for inner ones.
func (b *areaBatch) addRelation(r *Relation, wanted bool) {
	if !wanted && r.Tags.HasAny(tags.Main) || !r.Tags.Is(tags.Type, "multipolygon", "boundary") {
		return
	}
	ways := slices.DeleteFunc(r.Members, func(m Member) bool { return m.Kind != region.KindWay })
	if len(ways) == 0 {
		return
	}
	list := b.of.relations
	if !wanted {
		list = b.of.oldStyle
	}
	row := binary.AppendUvarint(appendTags(b.bytes, r.Tags), uint64(len(ways)))
	for _, m := range ways {
		way := m.ID << 1
		if m.Role == "inner" {
			way |= 1
		} else if !wanted {
			b.outlines = append(b.outlines, m.ID)
		}
		row = binary.AppendVarint(row, way)
		b.members = append(b.members, m.ID)
	}
	b.add(list, r.ID, row)
}

// addMember adds a way of a relation: its nodes, and its tags if they make it an area.
func (b *areaBatch) addMember(w *Way) {
	t := w.Tags
	if !w.IsArea {
		t = new(tags.Set)
	}
	row := binary.AppendUvarint(appendTags(b.bytes, t), uint64(len(w.Nodes)))
	before := int64(0)
	for _, id := range w.Nodes {
		row = binary.AppendVarint(row, id-before)
		before = id
	}
	b.add(b.of.ways, w.ID, row)
}

func appendTags(row []byte, t *tags.Set) []byte {
	row = binary.AppendUvarint(row, uint64(t.Len()))
	for _, tag := range t.OSM() {
		row = scratch.AppendText(scratch.AppendText(row, tag.Key), tag.Value)
	}
	return row
}

func readTags(r *scratch.Reader) *tags.Set {
	t := new(tags.Set)
	for range r.Uvarint() {
		key := string(r.Text())
		t.Add(tags.KeyOf(key), key, string(r.Text()))
	}
	return t
}

// finishRelations prepares the relations for the ways.
func (a *areas) finishRelations(ctx context.Context) error {
	for _, list := range []*scratch.Array[int64]{a.members, a.outlines} {
		slices.Sort(list.Slice())
		list.Truncate(len(slices.Compact(list.Slice())))
	}
	return errors.Join(a.relations.Sort(ctx), a.oldStyle.Sort(ctx))
}

// hasMember reports whether a way is a member of a relation, and whether it is an outer way of an old-style one.
func (a *areas) hasMember(way int64) (member, outline bool) {
	_, member = slices.BinarySearch(a.members.Slice(), way)
	_, outline = slices.BinarySearch(a.outlines.Slice(), way)
	return member, outline
}

// member reads a way of a relation, or returns false if it is not in the extracts.
func (b *batch) member(id int64) (w Way, ok bool) {
	i, ok := b.r.areas.ways.Find(uint64(id))
	if !ok {
		return w, false
	}
	r := b.r.areas.ways.Read(i)
	w.ID, w.Tags = id, readTags(&r)
	w.Nodes = make([]int64, r.Uvarint())
	before := int64(0)
	for i := range w.Nodes {
		before += r.Varint()
		w.Nodes[i] = before
	}
	b.locate(&w)
	w.Member, w.IsArea = true, w.Tags.Len() > 0
	return w, true
}

// assembleArea makes the polygons of a relation from its ways.
func (b *batch) assembleArea(relations *scratch.Records, i int) (*Area, *rings.Area) {
	r := relations.Read(i)
	a := &Area{Kind: region.KindRelation, ID: int64(relations.Key(i)), Tags: readTags(&r)}
	var pieces []rings.Piece
	partial := false
	for range r.Uvarint() {
		id := r.Varint()
		w, ok := b.member(id >> 1)
		if !ok || w.Lacks > 0 {
			partial = true
		} else {
			pieces = append(pieces, rings.Piece{Way: w.ID, Nodes: w.Numbers, Inner: id&1 == 1})
		}
		a.Noted = w.appendNoted(a.Noted)
	}
	made := rings.Assemble(pieces, b.r.nodes.At, partial)
	a.Polygons = made.Polygons
	return a, made
}

func (b *batch) count(a *rings.Area) {
	b.counts.RepairedRings += int64(a.Repaired)
	if a.Broken {
		b.counts.BrokenAreas++
	}
}

// assemble hands over the areas of relations, and the ways that addWay held back.
func (r *reader) assemble(ctx context.Context) error {
	n := r.areas.relations.Len()
	r.bar.Start("areas", int64(n+r.areas.outlines.Len()))
	if err := r.assembleOldStyle(ctx); err != nil {
		return err
	}
	err := r.inBatches(ctx, n, func(b *batch, i int) {
		a, made := b.assembleArea(r.areas.relations, i)
		b.count(made)
		if len(a.Polygons) > 0 {
			b.deliverArea(a)
		}
	})
	r.bar.Finish()
	return err
}

// inBatches calls f with the numbers below n on all cores, and takes the batches in order.
func (r *reader) inBatches(ctx context.Context, n int, f func(b *batch, i int)) error {
	const step = 64 // small, because others wait for a large boundary
	return pipeline.Ranges(ctx, n, step, func(from, to int) (*batch, error) {
		b := r.newBatch()
		for i := from; i < to; i++ {
			f(b, i)
		}
		return b, nil
	}, func(b *batch) error {
		r.bar.Add(step)
		return r.take(b)
	})
}
