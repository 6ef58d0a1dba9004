package places

import (
	"cmp"
	"runtime"
	"sync"

	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/compiler/places/streets"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
)

// squareBits is the logarithm of how many squares the curve goes through in which houses are looked at one after the
// other: each is 11.7 km wide at the equator.
const squareBits = 24

// findAccess finds the roads without a name that lead to what may have its address on one, square by square.
func (c *compiler) findAccess() (*scratch.Array[streets.Access], error) {
	all := scratch.NewArray[streets.Access](c.dir, "access")
	w, err := streets.NewDriveways(c.dir, c.data.Drives, c.streets)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	squares := make(chan []uint32)
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for square := range squares {
				around := boxtree.Empty
				for _, n := range square {
					around.Extend(c.store.bounds.Slice()[n])
				}
				roads := w.Within(around)
				for _, n := range square {
					e := c.store.entry(n)
					if own, found := roads.Access(c.store.outlineOf(e, n)); found {
						mu.Lock()
						err = cmp.Or(err, all.Append(own))
						e.access = uint32(all.Len())
						mu.Unlock()
					}
				}
			}
		})
	}
	c.squares(squares)
	wg.Wait()
	return all, cmp.Or(err, w.Free())
}

// squares sends the entries that a road without a name may lead to, those in a square together.
func (c *compiler) squares(out chan<- []uint32) {
	var list []uint32
	last := uint64(0)
	for n, e := range c.store.entries.Slice() {
		if !e.is(takesAddress) || c.store.addresses.Slice()[n].OnStreet() {
			continue
		}
		square := c.store.bounds.Slice()[n].Order() >> (64 - squareBits)
		if square != last && len(list) > 0 {
			out <- list
			list = nil
		}
		list, last = append(list, uint32(n)), square
	}
	if len(list) > 0 {
		out <- list
	}
	close(out)
}
