package places

import (
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
	"github.com/mapsedge/caddy-maps/internal/minheap"
)

// nearby is a feature, and between which distances it is from the middle of a cell, in metres.
type nearby struct {
	n      uint32
	lo, hi float64
}

// slack, in metres, is by how much the bounds of a distance may be wrong.
const slack = 0.01

// A finder finds what is near the middle of one cell after the other, each of which is a part of the one before.
type finder struct {
	store  *store
	origin geometry.Origin
	radius float64 // metres from the middle to the corners
	shift  float64 // metres from the middle of the larger cell
	queue  minheap.Heap[uint32]
	steps  int64
}

// measure returns the haversine to a feature, as exact as the search does; above the limit where it is farther.
func (f *finder) measure(o *geometry.Origin, n uint32, limit float64) float64 {
	g := f.store.geometry(n)
	if g.Contains(o) {
		return 0
	}
	h, _ := g.Closest(o, limit)
	return h
}

// bound returns those of a larger cell's features that may be within some metres, with what their boxes and the larger
// cell's bounds tell of their distances. seen is told of each box.
func (f *finder) bound(dst, of []nearby, within float64, seen func(n uint32, b *boxtree.Box)) []nearby {
	f.origin.LimitTo(within)
	limit := geometry.HaversineWithin(within)
	all := f.store.bounds.Slice()
	var boxes [boxtree.Fanout]boxtree.Box
	var bounds [boxtree.Fanout]float64
	f.steps += int64(len(of))
	for chunk := range slices.Chunk(of, boxtree.Fanout) {
		for i := range chunk {
			boxes[i] = all[chunk[i].n]
		}
		f.origin.Bounds(&bounds, boxes[:len(chunk)])
		for i, c := range chunk {
			if bounds[i] > limit || c.lo-f.shift > within+slack {
				continue
			}
			seen(c.n, &boxes[i])
			dst = append(dst, nearby{c.n, max(c.lo-f.shift, geometry.Metres(bounds[i])-slack), c.hi + f.shift})
		}
	}
	return dst
}

// farthest is at least the distance of a feature, by its box: each of its sides has a position of it.
func (f *finder) farthest(n uint32) float64 {
	o, b := &f.origin, &f.store.bounds.Slice()[n]
	west, east := o.EastTo(b.MinX), o.EastTo(b.MaxX)
	south, north := float64(b.MinY)-o.Y, float64(b.MaxY)-o.Y
	sw, se := o.Haversine(west, south), o.Haversine(east, south)
	nw, ne := o.Haversine(west, north), o.Haversine(east, north)
	return geometry.Metres(min(max(sw, se), max(nw, ne), max(sw, nw), max(se, ne))) + slack
}

// exact measures a feature; one that is farther than some metres is infinitely far.
func (f *finder) exact(c *nearby, within float64) {
	f.steps += measureSteps
	limit := geometry.HaversineWithin(within)
	if h := f.measure(&f.origin, c.n, limit); h <= limit {
		c.lo = geometry.Metres(h)
	} else {
		c.lo = math.Inf(1)
	}
	c.hi = c.lo
}

// within leaves those of a list, in place, that are within some metres. What the bounds do not tell is measured.
func (f *finder) within(list []nearby, last float64) []nearby {
	kept := list[:0]
	for _, c := range list {
		if c.lo != c.hi && c.lo <= last+slack && c.hi > last-slack {
			if f.store.entry(c.n).shape != geometry.Point {
				c.hi = min(c.hi, f.farthest(c.n))
			}
			if c.hi > last-slack {
				f.exact(&c, last)
			}
		}
		if c.lo <= last || c.lo != c.hi && c.hi <= last {
			kept = append(kept, c)
		}
	}
	return kept
}

// measureSteps is what it takes to measure the distance of a feature that is not large.
const measureSteps = 32

// byDistance yields a list's features one after the other, nearest first as far as their bounds tell, until yield says
// that it has enough.
func (f *finder) byDistance(list []nearby, yield func(c *nearby) bool) {
	f.queue = f.queue[:0]
	for i := range list {
		f.queue.Push(list[i].lo, uint32(i))
	}
	for len(f.queue) > 0 && yield(&list[f.queue.Pop().Value]) {
	}
}

// nearestFew are the nearest of the features that were measured, each object once: houses of one interpolation line
// are one.
type nearestFew struct {
	list [placefile.CellNearest]struct {
		ref      uint64
		distance float64
	}
	n int
}

func (b *nearestFew) full() bool { return b.n == len(b.list) }

// last is the distance of the last of them.
func (b *nearestFew) last() float64 { return b.list[b.n-1].distance }

func (b *nearestFew) add(ref uint64, distance float64) {
	i := 0
	for i < b.n && b.list[i].ref != ref {
		i++
	}
	switch {
	case i < b.n && b.list[i].distance <= distance:
		return
	case i < b.n:
	case !b.full():
		b.n++
	case distance < b.last():
		i = b.n - 1
	default:
		return
	}
	for ; i > 0 && b.list[i-1].distance > distance; i-- {
		b.list[i] = b.list[i-1]
	}
	b.list[i].ref, b.list[i].distance = ref, distance
}

// features returns the features that can be among the nearest of any position in a cell, and how far the last of the
// middle's own nearest is. By the triangle inequality these are all that are not farther from the middle than that and
// twice the metres to the corners. Where there are fewer within reach, they are those within placefile.CellDistance.
// surelyMore says that there are too many for a cell; then some of them may be none that can be.
func (f *finder) features(dst, of []nearby, sq *square) (kept []nearby, reach float64, surelyMore bool) {
	most := placefile.CellDistance + f.radius + placefile.CellMargin
	minX, minY, size := sq.minX(), sq.minY(), int64(1)<<sq.bits
	var inside struct {
		nearestFew
		features int
	}
	entries := f.store.entries.Slice()
	kept = f.bound(dst, of, most, func(n uint32, b *boxtree.Box) {
		if int64(b.MinX) >= minX && int64(b.MinY) >= minY && int64(b.MaxX) <= minX+size && int64(b.MaxY) <= minY+size {
			inside.features++
			inside.add(entries[n].ref, 0)
		}
	})
	if sq.bits > placefile.LeafBits && inside.features > enoughFeatures && inside.full() {
		last := min(most, 3*f.radius+placefile.CellMargin) + slack
		return slices.DeleteFunc(kept, func(c nearby) bool { return c.lo > last }), 0, true
	}
	var best nearestFew
	threshold := func() float64 {
		if !best.full() {
			return most
		}
		return min(most, best.last()+2*f.radius+placefile.CellMargin)
	}
	f.byDistance(kept, func(c *nearby) bool {
		if best.full() && c.lo > best.last() || c.lo > most {
			return false
		}
		if f.exact(c, threshold()); !math.IsInf(c.lo, 1) {
			best.add(entries[c.n].ref, c.lo)
		}
		return true
	})
	kept = f.within(kept, threshold())
	if !best.full() || best.last()+2*f.radius+placefile.CellMargin > most {
		return kept, math.Inf(1), false
	}
	return kept, best.last(), false
}
