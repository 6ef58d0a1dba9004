package places

import (
	"cmp"
	"context"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/base/pipeline"
	"github.com/mapsedge/caddy-maps/internal/compiler/places/streets"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// squareBits is the binary logarithm of the number of squares, along the Hilbert curve, in which roads without a name
// are searched together. Each is 11.7 km wide at the equator.
const squareBits = 24

// findAccess finds the roads without a name that lead to entries without a street, square by square.
func (c *compiler) findAccess() error {
	entries := c.entries.Slice()
	ways, err := streets.NewDriveways(c.dir, c.data.Drives, c.streets)
	if err != nil {
		return err
	}
	squares := func(give func(square []entry) bool) {
		for from := 0; from < len(entries); {
			to := from + 1
			for to < len(entries) && entries[to].order>>(64-squareBits) == entries[from].order>>(64-squareBits) {
				to++
			}
			if !give(entries[from:to]) {
				return
			}
			from = to
		}
	}
	type lead struct {
		e      *entry
		access streets.Access
	}
	find := func(square []entry) (found []lead, _ error) {
		around := geo.EmptyBox
		var asking []*entry
		for i := range square {
			if e := &square[i]; e.is(takesAddress) && !e.OnStreet() {
				asking = append(asking, e)
				around.Extend(e.box)
			}
		}
		if len(asking) == 0 {
			return nil, nil
		}
		roads := ways.Within(around)
		for _, e := range asking {
			if own, ok := roads.Access(c.outlineOf(e)); ok {
				found = append(found, lead{e, own})
			}
		}
		return found, nil
	}
	err = pipeline.Run(context.Background(), squares, find, func(found []lead) (err error) {
		for _, l := range found {
			err = cmp.Or(err, c.access.Append(l.access))
			l.e.access = uint32(c.access.Len())
		}
		return err
	})
	return cmp.Or(err, ways.Free())
}

// deriver infers missing parts of addresses from the building around a feature, the roads beside it, and the houses
// near it, so that a request only reads them. Several derivers work concurrently: in one step, none writes what another
// reads.
type deriver struct {
	*compiler
	candidates []streets.Candidate
}

// deriveBlock is how many entries one deriver processes at a time.
const deriveBlock = 4096

// derivePasses is the number of passes of derive over all entries.
const derivePasses = 6

// derive infers the addresses of all entries. Each step uses the results of earlier ones: shops use their buildings,
// these their doors, and all use the streets.
func (c *compiler) derive() error {
	entries := c.entries.Slice()
	c.nameSettlements()
	c.data.Progress.Finish()
	c.data.Progress.Start("addresses", int64(derivePasses*((len(entries)+deriveBlock-1)/deriveBlock)))
	defer c.data.Progress.Finish()
	each := func(step func(v *deriver, e *entry)) error {
		return pipeline.Ranges(context.Background(), len(entries), deriveBlock, func(from, to int) (any, error) {
			v := &deriver{compiler: c}
			for i := range entries[from:to] {
				step(v, &entries[from+i])
			}
			return nil, nil
		}, func(any) error {
			c.data.Progress.Add(1)
			return nil
		})
	}
	return cmp.Or(each(func(v *deriver, e *entry) {
		if e.is(takesAddress) && e.HouseNumber != 0 && e.shape == geometry.Area {
			v.street(e)
		}
	}), each(func(v *deriver, e *entry) {
		if e.is(takesAddress) && e.HouseNumber != 0 && e.shape != geometry.Area {
			v.buildingAndStreet(e)
		}
	}), each(func(v *deriver, e *entry) {
		if e.is(takesAddress|isBuilding) && e.HouseNumber == 0 && e.shape == geometry.Area {
			if v.buildingAndStreet(e); e.HouseNumber != 0 {
				e.features |= foundNumber
			}
		}
	}), c.indexNumbered(), each(func(v *deriver, e *entry) {
		if e.is(takesAddress) && e.HouseNumber == 0 {
			v.buildingAndStreet(e)
		}
	}), each(func(v *deriver, e *entry) {
		if e.is(takesAddress) && e.Postcode == 0 {
			v.postcode(e)
		}
	}), each((*deriver).settlePlace), free(c.streets, c.access, c.buildings, c.numbered, c.doors, c.houses))
}

// indexNumbered indexes the buildings that took the number of a door, for features inside them.
func (c *compiler) indexNumbered() (err error) {
	for n, e := range c.entries.Slice() {
		if e.is(foundNumber) {
			err = cmp.Or(err, c.numbered.Add(uint32(n), e.box))
		}
	}
	return cmp.Or(err, c.numbered.Seal())
}

func (v *deriver) buildingAndStreet(e *entry) {
	v.fromBuilding(e)
	v.street(e)
}

// outlineOf returns the outline of an entry from which distances to streets are measured.
func (c *compiler) outlineOf(e *entry) *streets.Outline {
	g := c.geometryOf(e)
	return streets.NewOutline(&g, c.entrances.Slice()[e.entrances:e.entrances+uint32(e.nDoors)])
}

// street gives a feature its street, unless it has a street or a place.
func (v *deriver) street(e *entry) {
	if e.OnStreet() {
		return
	}
	if best, ok := v.choose(v.outlineOf(e), e); ok {
		e.Street, e.streetNumber, e.on = v.streets.At(best.Street).Name, best.Number, best.Street+1
	}
}

// maxStreet is the greatest distance of a street, in metres. firstLook is that of a first search, since most are
// nearer.
const maxStreet, firstLook = 250, 60

// choose returns the street of an outline.
func (v *deriver) choose(o *streets.Outline, e *entry) (best streets.Candidate, found bool) {
	for _, reach := range [...]float64{firstLook, maxStreet} {
		list := v.streets.Near(v.candidates[:0], o, reach)
		if e.access != 0 {
			list = v.access.Slice()[e.access-1].Join(list, v.streets)
		}
		v.candidates = list
		v.support(list, e.middle)
		found = len(list) > 0
		if !found {
			continue
		}
		best = slices.MinFunc(list, func(a, b streets.Candidate) int { return a.Compare(&b) })
		if best.Cost <= reach {
			break // a street farther away costs more
		}
	}
	return best, found
}
