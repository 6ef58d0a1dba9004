package routes

import (
	"cmp"
	"encoding/binary"
	"math"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo/country"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/routing"
)

// writeEdges writes the leaf cells of base edges.
func (b *builder) writeEdges() error {
	out := b.w.Direct(routing.EdgesSection, sizeOf[routing.EdgeInfo]())
	pairs := b.w.Spool(routing.EndsSection, sizeOf[routing.Ends]())
	blocks := b.w.Spool(routing.BlocksSection, sizeOf[uint32]())
	found := map[routing.Ends]int{} // of the block
	begin, control := uint32(0), 0
	for base := range b.baseEdges() {
		var err error
		if base%routing.EdgeBlock == 0 {
			begin += uint32(len(found))
			clear(found)
			err = region.Append(blocks, begin)
		}
		var e routing.Ends
		e.First, e.Last = b.ends(base, base)
		number, known := found[e]
		if !known {
			number = len(found)
			found[e] = number
			err = cmp.Or(err, region.Append(pairs, e))
		}
		controlled := false
		for ; control < b.controls.Len() && b.controls.At(control).BaseEdge == base; control++ {
			controlled = true
		}
		info := routing.NewEdgeInfo(number, region.Modes(b.isolated[base]), controlled)
		if err := cmp.Or(err, region.Append(out, info)); err != nil {
			return err
		}
	}
	return out.Close()
}

// writeMembers writes the leaf cells and their base edges.
func (b *builder) writeMembers() error {
	ends := zeros[uint32](b, "member-ends", len(b.leaves)) // of the members of each leaf cell, after the second pass
	if b.failed != nil {
		return b.failed
	}
	b.eachMember(func(leaf, _ uint32) { ends[leaf]++ })
	total := uint32(0)
	for i, n := range ends {
		ends[i] = total
		total += n
	}
	members := zeros[uint32](b, "members", int(total))
	if b.failed != nil {
		return b.failed
	}
	b.eachMember(func(leaf, base uint32) {
		members[ends[leaf]] = base
		ends[leaf]++
	})
	out := b.w.Direct(routing.MembersSection, 1)
	var text []byte
	begin := uint32(0)
	for leaf := range uint32(b.counts[0]) {
		if b.leaves[leaf].Members = uint32(out.Len()); out.Len() > math.MaxUint32 {
			return errTooLarge
		}
		if c, _ := country.LookupOffshore(b.at(members[begin])); c.DrivesOnLeft() {
			b.leaves[leaf].LeftDriving = 1
		}
		before := uint32(0)
		text = text[:0]
		for _, base := range members[begin:ends[leaf]] {
			bits := uint64(0)
			first, last := b.ends(base, base)
			if first == leaf {
				bits |= routing.FirstInside
			}
			if last == leaf {
				bits |= routing.LastInside
			}
			text = binary.AppendUvarint(text, uint64(base-before)<<2|bits)
			before = base
		}
		begin = ends[leaf]
		if err := region.Append(out, text...); err != nil {
			return err
		}
	}
	b.leaves[b.counts[0]].Members = uint32(out.Len())
	return cmp.Or(out.Close(), direct(b.w, routing.LeavesSection, b.leaves))
}

// eachMember calls do with the leaf cells of each base edge, one or two.
func (b *builder) eachMember(do func(leaf, base uint32)) {
	for base := range b.baseEdges() {
		first, last := b.ends(base, base)
		do(first, base)
		if last != first {
			do(last, base)
		}
	}
}

// at returns where a base edge begins.
func (b *builder) at(base uint32) orb.Point {
	e := b.edges.At(int(base))
	return orb.Point{float64(e.Lon) / 1e7, float64(e.Lat) / 1e7}
}
