package routes

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/routing"
)

// place is a position in 1e-7 degrees.
type place struct{ lat, lon int32 }

// partition divides the junctions: it fills leafOf, leaves and counts.
func (b *builder) partition(ctx context.Context) error {
	count := 0
	for _, j := range b.junctions {
		count = max(count, int(j)+1)
	}
	d := &divider{ctx: ctx, places: zeros[place](b, "places", count), order: zeros[uint32](b, "order", count),
		begins: zeros[uint8](b, "begins", count)}
	b.leafOf = zeros[uint32](b, "leaf-of", count)
	if b.failed != nil {
		return b.failed
	}
	for base := range b.baseEdges() {
		e := b.edges.At(int(base))
		at := place{e.Lat, e.Lon}
		d.places[b.junctions[2*base]] = at
		d.places[b.junctions[2*base+1]] = place{at.lat + int32(e.EndNorth), at.lon + int32(e.EndEast)}
	}
	for i := range d.order {
		d.order[i] = uint32(i)
	}
	b.bar.Start("cells", 1)
	d.divide(0, count, math.MaxInt)
	if err := ctx.Err(); err != nil {
		return err
	}
	b.bar.Finish()
	return b.numberCells(d)
}

// divider divides junctions by nested dissection.
type divider struct {
	ctx    context.Context
	places []place
	order  []uint32 // junctions
	begins []uint8  // for each element of order, the levels on which a cell begins there
}

// divide divides the junctions from low to high in the order, a part of a larger number of them.
func (d *divider) divide(low, high, larger int) {
	n := high - low
	for level := range routing.Levels {
		if size := routing.LeafSize << (3 * level); n <= size && larger > size {
			d.begins[low] |= 1 << level
		}
	}
	if n <= routing.LeafSize || d.ctx.Err() != nil {
		return
	}
	middle := d.split(low, high)
	d.divide(low, middle, n)
	d.divide(middle, high, n)
}

func (d *divider) split(low, high int) (middle int) {
	part := d.order[low:high]
	box := [4]int32{math.MaxInt32, math.MaxInt32, math.MinInt32, math.MinInt32}
	for _, j := range part {
		p := d.places[j]
		box = [4]int32{min(box[0], p.lat), min(box[1], p.lon), max(box[2], p.lat), max(box[3], p.lon)}
	}
	tall := box[2]-box[0] > box[3]-box[1]
	slices.SortFunc(part, func(a, b uint32) int {
		p, q := d.places[a], d.places[b]
		if tall {
			return cmp.Or(cmp.Compare(p.lat, q.lat), cmp.Compare(a, b))
		}
		return cmp.Or(cmp.Compare(p.lon, q.lon), cmp.Compare(a, b))
	})
	return low + len(part)/2
}

// numberCells numbers the cells of all levels in the order of the division.
func (b *builder) numberCells(d *divider) error {
	for _, levels := range d.begins {
		b.counts[0] += int(levels & 1)
	}
	b.leaves = zeros[routing.Leaf](b, "leaves", b.counts[0]+1)
	if b.failed != nil {
		return b.failed
	}
	var next [routing.Levels]uint32 // one more than the present cell of each level
	for i, junction := range d.order {
		for level := range next {
			next[level] += uint32(d.begins[i] >> level & 1)
		}
		leaf := next[0] - 1
		b.leafOf[junction] = leaf
		for level := 1; level < routing.Levels; level++ {
			b.leaves[leaf].Parents[level-1] = next[level] - 1
		}
	}
	for level := range next {
		b.counts[level] = int(next[level])
	}
	return nil
}
