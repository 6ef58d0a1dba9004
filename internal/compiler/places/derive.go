package places

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// deriver finds out what features do not say of their own address: from the building that they are in, the roads beside
// them, and the houses around. It is all decided when a region is compiled, so that a request only reads it. Each core
// has one of its own; none writes what another one reads in the same step.
type deriver struct {
	*compiler
	access       []access
	withNumbered bool // buildings that have found their number count as well
	candidates   []streetCandidate

	left int64 // steps for the entries of this block
	more bool  // there are some left
}

// deriveBlock is how many entries have their share of the work in common. What is beyond it in one block does not
// matter to others, so that it is the same whoever comes first.
const deriveBlock = 4096

// derivePasses is how often derive goes through all entries.
const derivePasses = 6

// derive completes the addresses of all entries. Where that costs more than a map of this size can need, the rest
// stays as it is. Each step relies on what the ones before have found: shops on their buildings, these on their doors,
// and all on the streets.
func (c *compiler) derive(found []access, settlements []settlement) error {
	blocks := (c.store.entries.Len() + deriveBlock - 1) / deriveBlock
	c.data.Progress.Finish()
	c.data.Progress.Start("addresses", derivePasses*int64(blocks))
	left := make([]int64, blocks)
	for i := range left {
		left[i] = c.data.Cost.Share(blocks)
	}
	numbered := make([]atomic.Bool, blocks)
	all := func(withNumbered bool, step func(v *deriver, n uint32, e *entry, a *address)) {
		var next atomic.Int64
		var wg sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			wg.Go(func() {
				v := &deriver{compiler: c, access: found, withNumbered: withNumbered}
				for i := int(next.Add(1)) - 1; i < blocks; i = int(next.Add(1)) - 1 {
					v.left, v.more = left[i], left[i] >= 0
					v.block(i, step)
					left[i] = v.left
					c.data.Progress.Add(1)
				}
			})
		}
		wg.Wait()
	}
	each := func(withNumbered bool, step func(v *deriver, n uint32, e *entry, a *address)) {
		all(withNumbered, func(v *deriver, n uint32, e *entry, a *address) {
			if e.is(takesAddress) {
				step(v, n, e, a)
			}
		})
	}
	each(false, func(v *deriver, n uint32, e *entry, a *address) {
		if a.houseNumber != 0 && e.shape == geometry.Area {
			v.street(e, n, a)
		}
	})
	each(false, func(v *deriver, n uint32, e *entry, a *address) {
		if a.houseNumber != 0 && e.shape != geometry.Area {
			v.fromBuilding(e, n, a)
			v.street(e, n, a)
		}
	})
	each(false, func(v *deriver, n uint32, e *entry, a *address) {
		if a.houseNumber == 0 && e.shape == geometry.Area && e.is(isBuilding) {
			v.fromBuilding(e, n, a)
			v.street(e, n, a)
			if a.houseNumber != 0 {
				e.features |= foundNumber
				numbered[n/deriveBlock].Store(true)
			}
		}
	})
	for i := range numbered {
		if !numbered[i].Load() {
			continue
		}
		for n := i * deriveBlock; n < min((i+1)*deriveBlock, c.store.entries.Len()); n++ {
			if c.store.entry(uint32(n)).is(foundNumber) {
				if err := c.survey.numbered.add(uint32(n), c.store.bounds.Slice()[n]); err != nil {
					return err
				}
			}
		}
	}
	if err := c.survey.numbered.seal(); err != nil {
		return err
	}
	each(true, func(v *deriver, n uint32, e *entry, a *address) {
		if a.houseNumber == 0 {
			v.fromBuilding(e, n, a)
			v.street(e, n, a)
		}
	})
	each(true, func(v *deriver, n uint32, e *entry, a *address) { v.postcode(e, n, a) })
	all(true, func(v *deriver, _ uint32, e *entry, a *address) { v.settlePlace(e, a, settlements) })
	c.data.Progress.Finish()
	return nil
}

// block takes a step with the entries of one block.
func (v *deriver) block(i int, step func(v *deriver, n uint32, e *entry, a *address)) {
	entries, addresses := v.store.entries.Slice(), v.store.addresses.Slice()
	for n := i * deriveBlock; n < min((i+1)*deriveBlock, len(entries)) && v.more; n++ {
		step(v, uint32(n), &entries[n], &addresses[n])
	}
}

// work counts steps, and tells whether there may be more.
func (v *deriver) work(steps int64) bool {
	v.left -= steps
	v.more = v.left >= 0
	return v.more
}

// onePostcode is that of lexicon, for several goroutines.
func (v *deriver) onePostcode(code uint32) uint32 { return v.lexicon.onePostcode(code) }

// outlineOf is what of an entry a street is measured from.
func (s *store) outlineOf(e *entry, n uint32) *outline {
	g := s.geometry(n)
	return newOutline(&g, s.doors.Slice()[e.doors:e.doors+uint32(e.nDoors)])
}

// street gives a feature the street that it is on, unless it says where it belongs.
func (v *deriver) street(e *entry, n uint32, a *address) {
	if !v.more || a.onStreet() {
		return
	}
	if best, ok := v.choose(v.store.outlineOf(e, n), e); ok {
		s := &v.streets.streets.Slice()[best.entry]
		a.street, a.number, a.on = s.name, s.number, best.entry+1
	}
}

// choose returns the street that an outline is on.
func (v *deriver) choose(o *outline, e *entry) (best streetCandidate, found bool) {
	own := access{metres: math.Inf(1)}
	if e.access != 0 {
		own = v.access[e.access-1]
	}
	for _, reach := range [...]float64{firstLook, maxStreet} {
		list := v.streets.near(v.candidates[:0], o, reach, v.work)
		nearest := e.access != 0
		for i := range list {
			nearest = nearest && own.metres < list[i].distance
		}
		if nearest {
			street := v.streets.streets.Slice()[own.street].number
			cost := own.metres + drivewayCost + drivewayShare*own.toStreet
			list = streetCandidate{street, own.street, own.metres, cost}.into(list)
		}
		v.candidates = list
		v.work(v.survey.houses.support(list, e.middle))
		found = false // what costs more with all that is in reach
		for i := range list {
			if c := &list[i]; !found || c.compare(&best) < 0 {
				best, found = *c, true
			}
		}
		if found && best.cost <= reach {
			break
		}
	}
	return best, v.more && found
}
