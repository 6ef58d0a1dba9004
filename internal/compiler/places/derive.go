package places

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mapsedge/caddy-maps/internal/compiler/places/streets"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// deriver finds out what features do not say of their own address: from the building that they are in, the roads beside
// them, and the houses around. It is all decided when a region is compiled, so that a request only reads it. Each core
// has one of its own; none writes what another one reads in the same step.
type deriver struct {
	*compiler
	access     []streets.Access
	named      []uint32 // settlements
	candidates []streets.Candidate
}

// deriveBlock is how many entries one core takes on at a time.
const deriveBlock = 4096

// derivePasses is how often derive goes through all entries.
const derivePasses = 6

// derive completes the addresses of all entries. Each step relies on what the ones before have found: shops on their
// buildings, these on their doors, and all on the streets.
func (c *compiler) derive(access []streets.Access, named []uint32) error {
	entries, addresses := c.store.entries.Slice(), c.store.addresses.Slice()
	blocks := (len(entries) + deriveBlock - 1) / deriveBlock
	c.data.Progress.Finish()
	c.data.Progress.Start("addresses", derivePasses*int64(blocks))
	all := func(step func(v *deriver, n uint32, e *entry, a *address)) {
		var next atomic.Int64
		var wg sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			wg.Go(func() {
				v := &deriver{compiler: c, access: access, named: named}
				for i := int(next.Add(1)) - 1; i < blocks; i = int(next.Add(1)) - 1 {
					for n := i * deriveBlock; n < min((i+1)*deriveBlock, len(entries)); n++ {
						step(v, uint32(n), &entries[n], &addresses[n])
					}
					c.data.Progress.Add(1)
				}
			})
		}
		wg.Wait()
	}
	each := func(step func(v *deriver, n uint32, e *entry, a *address)) {
		all(func(v *deriver, n uint32, e *entry, a *address) {
			if e.is(takesAddress) {
				step(v, n, e, a)
			}
		})
	}
	each(func(v *deriver, n uint32, e *entry, a *address) {
		if a.HouseNumber != 0 && e.shape == geometry.Area {
			v.street(e, n, a)
		}
	})
	each(func(v *deriver, n uint32, e *entry, a *address) {
		if a.HouseNumber != 0 && e.shape != geometry.Area {
			v.fromBuilding(e, n, a)
			v.street(e, n, a)
		}
	})
	each(func(v *deriver, n uint32, e *entry, a *address) {
		if a.HouseNumber == 0 && e.shape == geometry.Area && e.is(isBuilding) {
			v.fromBuilding(e, n, a)
			v.street(e, n, a)
			if a.HouseNumber != 0 {
				e.features |= foundNumber
			}
		}
	})
	for n, e := range entries {
		if e.is(foundNumber) {
			if err := c.survey.numbered.Add(uint32(n), c.store.bounds.Slice()[n]); err != nil {
				return err
			}
		}
	}
	if err := c.survey.numbered.Seal(); err != nil {
		return err
	}
	each(func(v *deriver, n uint32, e *entry, a *address) {
		if a.HouseNumber == 0 {
			v.fromBuilding(e, n, a)
			v.street(e, n, a)
		}
	})
	each(func(v *deriver, n uint32, e *entry, a *address) { v.postcode(e, n, a) })
	all(func(v *deriver, _ uint32, e *entry, a *address) { v.settlePlace(e, a) })
	c.data.Progress.Finish()
	return nil
}

// outlineOf is what of an entry a street is measured from.
func (s *store) outlineOf(e *entry, n uint32) *streets.Outline {
	g := s.geometry(n)
	return streets.NewOutline(&g, s.doors.Slice()[e.doors:e.doors+uint32(e.nDoors)])
}

// street gives a feature the street that it is on, unless it says where it belongs.
func (v *deriver) street(e *entry, n uint32, a *address) {
	if a.OnStreet() {
		return
	}
	if best, ok := v.choose(v.store.outlineOf(e, n), e); ok {
		a.Street, a.number, a.on = v.streets.At(best.Street).Name, best.Number, best.Street+1
	}
}

// maxStreet is how far a street may be, in metres, and firstLook where the search begins: most streets are nearer.
const maxStreet, firstLook = 250, 60

// choose returns the street that an outline is on.
func (v *deriver) choose(o *streets.Outline, e *entry) (best streets.Candidate, found bool) {
	for _, reach := range [...]float64{firstLook, maxStreet} {
		list := v.streets.Near(v.candidates[:0], o, reach)
		if e.access != 0 {
			list = v.access[e.access-1].Join(list, v.streets)
		}
		v.candidates = list
		v.support(list, e.middle)
		found = len(list) > 0
		if !found {
			continue
		}
		best = slices.MinFunc(list, func(a, b streets.Candidate) int { return a.Compare(&b) })
		if best.Cost <= reach {
			break // else what costs more with all that is in reach
		}
	}
	return best, found
}
