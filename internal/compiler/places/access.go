package places

import (
	"cmp"
	"runtime"
	"slices"
	"sync"

	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
)

// squareBits is the logarithm of how many squares the curve goes through in which houses are looked at one after the
// other: each is 11.7 km wide at the equator.
const squareBits = 24

// findAccess finds the roads without a name that lead to what may have its address on one, square by square.
func (c *compiler) findAccess() (*scratch.Array[access], error) {
	all := scratch.NewArray[access](c.dir, "access")
	w, err := newDriveways(c.dir, c.data, c.streets.streets.Slice())
	if err != nil || w.items.Len() == 0 {
		return all, cmp.Or(err, w.free())
	}
	count := 0
	c.squares(func([]uint32) { count++ })
	share := c.data.Cost.Share(max(count, 1))

	var mu sync.Mutex
	var wg sync.WaitGroup
	squares := make(chan []uint32)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for square := range squares {
				own, found := c.accessOf(w, square, share)
				mu.Lock()
				for i, n := range square {
					if found[i] {
						err = cmp.Or(err, all.Append(own[i]))
						c.store.entry(n).access = uint32(all.Len())
					}
				}
				mu.Unlock()
			}
		})
	}
	c.squares(func(square []uint32) { squares <- slices.Clone(square) })
	close(squares)
	wg.Wait()
	return all, cmp.Or(err, w.free())
}

// squares yields for each square the entries that a road without a name may lead to.
func (c *compiler) squares(yield func(entries []uint32)) {
	entries, addresses, bounds := c.store.entries.Slice(), c.store.addresses.Slice(), c.store.bounds.Slice()
	var next, end [groupSpecial + 1]int
	for g := range end {
		end[g], _ = slices.BinarySearchFunc(entries, g+1, func(e entry, g int) int { return cmp.Compare(int(e.group), g) })
		if g > 0 {
			next[g] = end[g-1]
		}
	}
	const none = 1 << squareBits
	squareOf := func(g int) uint64 { // of the next entry of a group
		for ; next[g] < end[g]; next[g]++ {
			if entries[next[g]].is(takesAddress) && !addresses[next[g]].onStreet() {
				return bounds[next[g]].Order() >> (64 - squareBits)
			}
		}
		return none
	}
	var list []uint32
	for {
		least := uint64(none)
		for g := range next {
			least = min(least, squareOf(g))
		}
		if least == none {
			return
		}
		list = list[:0]
		for g := range next {
			for squareOf(g) == least {
				list = append(list, uint32(next[g]))
				next[g]++
			}
		}
		yield(list)
	}
}

// accessOf finds the roads without a name that lead to the entries of a square.
func (c *compiler) accessOf(w *driveways, entries []uint32, left int64) (own []access, found []bool) {
	own, found = make([]access, len(entries)), make([]bool, len(entries))
	work := func(steps int64) bool {
		left -= steps
		return left >= 0
	}
	around := boxtree.Empty
	for _, n := range entries {
		around.Extend(c.store.bounds.Slice()[n])
	}
	around = surely(around, maxApproach+maxDriveway)
	roads, steps := w.network(&around)
	if !work(steps) || len(roads.nodes) == 0 {
		return own, found
	}
	for i, n := range entries {
		own[i], found[i] = roads.near(c.store.outlineOf(c.store.entry(n), n), work)
	}
	return own, found
}
