package osm

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/inorder"
	"github.com/mapsedge/caddy-maps/internal/compiler/rings"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// areas keeps the relations whose areas somebody wants, and their ways, until all ways have been read.
//
// In the old style, which OpenStreetMap gave up in 2017, a multipolygon has its tags from its outer ways. A relation
// without tags may be one. Its outer ways that are areas by their tags are held back until all such relations have been
// put together: they are then handed over with what the relation makes of them.
type areas struct {
	relations *scratch.Records      // by id; see addRelation
	members   *scratch.Array[int64] // ids of their ways, doubled, and one more for an outer way of an untagged relation
	ways      *scratch.Records      // these ways, by id; see addMember
	held      *scratch.Array[int64] // the ids of those that are held back
}

func newAreas(dir *scratch.Dir) *areas {
	return &areas{relations: scratch.NewRecords(dir, "areas"), members: scratch.NewArray[int64](dir, "area-members"),
		ways: scratch.NewRecords(dir, "area-ways"), held: scratch.NewArray[int64](dir, "held-ways")}
}

func (a *areas) free() error {
	return errors.Join(a.relations.Free(), a.members.Free(), a.ways.Free(), a.held.Free())
}

// areaBatch is what a batch has of areas.
type areaBatch struct {
	relations, ways []keyedRow
	rows            []byte
	members, held   []int64
}

// keyedRow is a record in areaBatch.rows.
type keyedRow struct {
	id       int64
	from, to int
}

// addRelation adds a relation if it has an area that is wanted, or is perhaps one in the old style: whether it is
// untagged, its tags, and its ways with whether they are inner ones.
func (b *areaBatch) addRelation(r *Relation, wanted bool) {
	untagged := !wanted && !r.Tags.HasAny(tags.Main)
	if !wanted && !untagged || !r.Tags.Is(tags.Type, "multipolygon", "boundary") {
		return
	}
	isWay := func(m Member) bool { return m.Kind == mapdata.KindWay }
	if !slices.ContainsFunc(r.Members, isWay) {
		return
	}
	from := len(b.rows)
	b.rows = append(b.rows, flag(untagged))
	b.rows = appendTags(b.rows, r.Tags)
	for _, m := range r.Members {
		if !isWay(m) {
			continue
		}
		inner := m.Role == "inner"
		b.rows = binary.AppendVarint(append(b.rows, 1+flag(inner)), m.ID)
		b.members = append(b.members, m.ID<<1|int64(flag(untagged && !inner)))
	}
	b.rows = append(b.rows, 0)
	b.relations = append(b.relations, keyedRow{r.ID, from, len(b.rows)})
}

func flag(set bool) byte {
	if set {
		return 1
	}
	return 0
}

// addMember adds a way of a relation: its tags if it is an area by them, and the numbers of its nodes, or the ids of
// those that are missing.
func (b *areaBatch) addMember(w *Way) {
	from := len(b.rows)
	b.rows = append(b.rows, flag(w.IsArea))
	if w.IsArea {
		b.rows = appendTags(b.rows, w.Tags)
	}
	b.rows = binary.AppendUvarint(b.rows, uint64(len(w.Numbers)))
	before := uint64(0)
	for i, n := range w.Numbers {
		if n == Missing {
			b.rows = binary.AppendVarint(append(b.rows, 0), w.Nodes[i])
			continue
		}
		delta := int64(n - before)
		b.rows = binary.AppendUvarint(b.rows, (uint64(delta)<<1^uint64(delta>>63))+1)
		before = n
	}
	b.ways = append(b.ways, keyedRow{w.ID, from, len(b.rows)})
}

// hold holds back a way that was added.
func (b *areaBatch) hold(w *Way) { b.held = append(b.held, w.ID) }

func (a *areas) take(b *areaBatch) error {
	if len(b.relations)+len(b.ways) == 0 {
		return nil
	}
	for _, r := range b.relations {
		if err := a.relations.Add(uint64(r.id), b.rows[r.from:r.to]); err != nil {
			return err
		}
	}
	for _, r := range b.ways {
		if err := a.ways.Add(uint64(r.id), b.rows[r.from:r.to]); err != nil {
			return err
		}
	}
	err := a.held.Append(b.held...)
	if len(b.members) > 0 { // not while ways are read, when others look members up
		err = errors.Join(err, a.members.Append(b.members...))
	}
	*b = areaBatch{b.relations[:0], b.ways[:0], b.rows[:0], b.members[:0], b.held[:0]}
	return err
}

// finishRelations makes the relations ready for the ways.
func (a *areas) finishRelations(ctx context.Context) error {
	members := a.members.Slice()
	slices.Sort(members)
	a.members.Truncate(len(slices.Compact(members)))
	return a.relations.Sort(ctx)
}

// memberRole is what a way is to the relations that have areas.
type memberRole uint8

const (
	noMember memberRole = iota
	member
	untaggedMember // an outer way of an untagged one, and perhaps a member of others
)

func (a *areas) roleOf(way int64) memberRole {
	members := a.members.Slice()
	i, ok := slices.BinarySearch(members, way<<1)
	switch {
	case i+1 < len(members) && members[i+1] == way<<1|1, i < len(members) && members[i] == way<<1|1:
		return untaggedMember
	case ok:
		return member
	}
	return noMember
}

func appendTags(row []byte, t *tags.Set) []byte {
	row = binary.AppendUvarint(row, uint64(t.Len()))
	for key, tag := range t.All {
		row = append(row, byte(key))
		if key == tags.Other {
			row = scratch.AppendText(row, tag.Key)
		}
		row = scratch.AppendText(row, tag.Value)
	}
	return row
}

func readTags(r *scratch.Reader) *tags.Set {
	t := new(tags.Set)
	for range r.Uvarint() {
		key := tags.Key(r.Byte())
		name := key.String()
		if key == tags.Other {
			name = string(r.Text())
		}
		t.Add(key, name, string(r.Text()))
	}
	return t
}

// memberWay is a way of a relation.
type memberWay struct {
	tags  *tags.Set // nil unless it is an area by them
	nodes []uint64  // their numbers
	lacks []int64   // the ids of those that are missing
}

// find reads a way; false if the extracts lack it.
func (a *areas) find(id int64, w *memberWay) bool {
	i, ok := a.ways.Find(uint64(id))
	if !ok {
		return false
	}
	r := a.ways.Read(i)
	w.tags, w.nodes, w.lacks = nil, make([]uint64, 0, 16), nil
	if r.Byte() == 1 {
		w.tags = readTags(&r)
	}
	before := uint64(0)
	for range r.Uvarint() {
		v := r.Uvarint()
		if v == 0 {
			w.nodes, w.lacks = append(w.nodes, Missing), append(w.lacks, r.Varint())
			continue
		}
		v--
		before += uint64(int64(v>>1) ^ -int64(v&1))
		w.nodes = append(w.nodes, before)
	}
	return true
}

// assembled is what became of a relation.
type assembled struct {
	id    int64
	tags  *tags.Set
	area  *rings.Area
	noted []uint64
}

// isUntagged says whether the i-th relation is untagged.
func (a *areas) isUntagged(i int) bool {
	r := a.relations.Read(i)
	return r.Byte() == 1
}

// assembleArea puts the ways of the i-th relation together.
func (r *reader) assembleArea(i int) *assembled {
	d := r.areas.relations.Read(i)
	d.Byte()
	result := &assembled{id: int64(r.areas.relations.Key(i)), tags: readTags(&d)}
	var pieces []rings.Piece
	partial, repeated := false, 0
	listed := make(map[int64]bool)
	var w memberWay
	for {
		role := d.Byte()
		if role == 0 {
			break
		}
		id := d.Varint()
		if listed[id] {
			repeated++
			continue
		}
		listed[id] = true
		if !r.areas.find(id, &w) {
			partial = true
			continue
		}
		for _, n := range w.nodes {
			if n != Missing && r.nodes.noted(n) {
				result.noted = append(result.noted, n)
			}
		}
		if len(w.lacks) > 0 {
			partial = true
			continue
		}
		pieces = append(pieces, rings.Piece{Way: id, Nodes: w.nodes, Inner: role == 2})
	}
	result.area = rings.Assemble(pieces, func(n uint64) orb.Point { return r.nodes.At(n).Point() }, partial)
	result.area.Repaired += repeated
	return result
}

// assemble hands over the areas of relations, and the ways that were held back.
func (r *reader) assemble(ctx context.Context) error {
	if err := r.areas.ways.Sort(ctx); err != nil {
		return err
	}
	n := r.areas.relations.Len()
	r.bar.Start(stageAreas, int64(n))
	claims, err := r.assembleUntagged(ctx)
	if err != nil {
		return err
	}
	held := r.areas.held.Slice()
	slices.Sort(held)
	held = slices.Compact(held)
	err = r.inBatches(ctx, len(held), func(b *batch, i int) { b.deliverHeld(held[i], claims[held[i]]) })
	if err != nil {
		return err
	}
	err = r.inBatches(ctx, n, func(b *batch, i int) {
		if r.areas.isUntagged(i) {
			return
		}
		a := r.assembleArea(i)
		b.count(a)
		b.area = Area{Kind: mapdata.KindRelation, ID: a.id, Tags: a.tags, Polygons: polygonsOf(a.area.Polygons),
			Noted: a.noted}
		if len(b.area.Polygons) > 0 {
			b.deliverArea(&b.area)
		}
	})
	r.bar.Finish()
	return err
}

func (b *batch) count(a *assembled) {
	b.counts.RepairedRings += int64(a.area.Repaired)
	if a.area.Broken {
		b.counts.BrokenAreas++
	}
}

// inBatches calls f with the numbers below n on all cores, and takes the batches in their order.
func (r *reader) inBatches(ctx context.Context, n int, f func(b *batch, i int)) error {
	const step = 64 // a boundary may be large, and has to be taken before many others wait for it
	return inorder.Run(ctx, func(give func(from int) bool) {
		for from := 0; from < n && give(from); from += step {
		}
	}, func(from int) (*batch, error) {
		b, _ := r.free.Get().(*batch)
		if b == nil {
			b = r.newBatch()
		}
		for i := from; i < min(from+step, n); i++ {
			f(b, i)
		}
		return b, nil
	}, func(b *batch) error {
		err := r.takeBatch(b)
		r.free.Put(b)
		r.bar.Add(step)
		return err
	})
}

// claim is what untagged relations make of a way: its polygon with holes if it is the only outer way, or a part of the
// outline of an area.
type claim struct {
	polygon  orb.Polygon
	shared   *tags.Set // the tags of the area
	relation int64
}

// assembleUntagged hands over the areas of untagged relations that several ways enclose, and returns by way what the
// relations make of their outer ways; of several the last one.
func (r *reader) assembleUntagged(ctx context.Context) (map[int64]*claim, error) {
	claims := make(map[int64]*claim)
	b := r.newBatch()
	err := inorder.Run(ctx, func(give func(i int) bool) {
		for i := range r.areas.relations.Len() {
			if r.areas.isUntagged(i) && !give(i) {
				return
			}
		}
	}, func(i int) (*assembled, error) { return r.assembleArea(i), nil }, func(a *assembled) error {
		r.resolve(a, claims, b)
		return r.takeBatch(b)
	})
	return claims, err
}

// resolve finds the tags of an untagged relation's polygons.
func (r *reader) resolve(a *assembled, claims map[int64]*claim, b *batch) {
	counted := false
	var list []Area
	for i, ways := range a.area.Outer {
		shared := r.sharedTags(a, ways)
		if shared == nil {
			continue
		}
		if !counted {
			counted = true
			b.count(a)
		}
		if len(ways) == 1 {
			claims[ways[0]] = &claim{polygon: a.area.Polygons[i], shared: shared, relation: a.id}
			continue
		}
		for _, way := range ways {
			claims[way] = &claim{shared: shared}
		}
		polygons := polygonsOf(a.area.Polygons[i : i+1])
		same := slices.IndexFunc(list, func(o Area) bool { return slices.Equal(o.Tags.OSM(), shared.OSM()) })
		if same >= 0 {
			list[same].Polygons = append(list[same].Polygons, polygons...)
			continue
		}
		list = append(list, Area{Kind: mapdata.KindRelation, ID: a.id, Tags: shared, Polygons: polygons, Noted: a.noted,
			OldStyle: true})
	}
	for i := range list {
		b.deliverArea(&list[i])
	}
}

// sharedTags returns the tags that all of the ways have, and those of the relation; nil if the ways are no areas by
// their tags, or share none.
func (r *reader) sharedTags(a *assembled, ways []int64) *tags.Set {
	var shared *tags.Set
	var w memberWay
	for i, id := range ways {
		r.areas.find(id, &w)
		if w.tags == nil {
			return nil
		}
		if i == 0 {
			shared = w.tags
			continue
		}
		both := new(tags.Set)
		for key, tag := range shared.All {
			if w.tags.Find(tag.Key) == tag.Value {
				both.Add(key, tag.Key, tag.Value)
			}
		}
		shared = both
	}
	if shared == nil || shared.Len() == 0 {
		return nil
	}
	for key, tag := range a.tags.All {
		if key != tags.Type {
			shared.Add(key, tag.Key, tag.Value)
		}
	}
	return shared
}

// deliverHeld hands over a way that was held back.
func (b *batch) deliverHeld(id int64, c *claim) {
	var m memberWay
	b.r.areas.find(id, &m)
	w := &b.way
	*w = Way{ID: id, Tags: m.tags, Nodes: w.Nodes[:0], Numbers: m.nodes, Coords: w.Coords[:0], Lacks: len(m.lacks),
		special: w.special[:0], Member: true, IsArea: true}
	for _, n := range m.nodes {
		if n == Missing {
			w.Nodes, w.Coords = append(w.Nodes, m.lacks[0]), append(w.Coords, Coord{})
			m.lacks = m.lacks[1:]
			continue
		}
		w.Nodes, w.Coords = append(w.Nodes, b.r.nodes.id(n)), append(w.Coords, b.r.nodes.At(n))
		w.Noted = w.Noted || b.r.nodes.noted(n)
	}
	if c != nil && c.polygon == nil {
		w.Outline = c.shared
	}
	b.deliver(w, c)
}

// ring returns the ring that a closed way is, counter-clockwise; nil if it encloses nothing.
func (b *batch) ring(w *Way) Ring {
	if len(w.Coords) < 4 {
		return nil
	}
	b.points = b.points[:0]
	for _, c := range w.Coords {
		b.points = append(b.points, c.Point())
	}
	ring := Ring(slices.Clone(w.Coords))
	switch area := rings.SignedArea(b.points); {
	case area == 0:
		return nil
	case area < 0:
		slices.Reverse(ring)
	}
	return ring
}

func polygonsOf(from orb.MultiPolygon) []Polygon {
	polygons := make([]Polygon, len(from))
	for i, p := range from {
		for _, points := range p {
			ring := make(Ring, len(points))
			for k, at := range points {
				ring[k] = CoordOf(at)
			}
			polygons[i] = append(polygons[i], ring)
		}
	}
	return polygons
}
