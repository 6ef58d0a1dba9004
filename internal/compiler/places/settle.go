package places

import (
	"math"
	"slices"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// settle leaves the settlements that can be the city, the suburb or the hamlet of a position in a cell whose context is
// known.
func (d *divider) settle(sq *square, k *known) {
	in := placefile.Jurisdiction{State: k.context.Feature[placefile.RoleState],
		City: k.context.Feature[placefile.RoleCity], Country: k.context.Code()}
	if k.context.Feature[placefile.RoleCity] != 0 {
		k.cities = nil
	}
	if !k.settled {
		k.cities = d.allowed(k.cities, &in)
		in.SameCity = true
		k.suburbs, k.hamlets = d.allowed(k.suburbs, &in), d.allowed(k.hamlets, &in)
	}
	mine := &d.lists[sq.bits]
	mine.cities, k.oneCity = d.settlements(mine.cities[:0], k.cities, sq, placefile.MaxCityDistance)
	mine.suburbs, k.oneSuburb = d.settlements(mine.suburbs[:0], k.suburbs, sq, placefile.MaxSuburbDistance)
	mine.hamlets, k.oneHamlet = d.settlements(mine.hamlets[:0], k.hamlets, sq, placefile.MaxSuburbDistance)
	k.cities, k.suburbs, k.hamlets = mine.cities, mine.suburbs, mine.hamlets
	k.settled = true
}

// allowed returns the settlements of a list that are in a jurisdiction.
func (d *divider) allowed(list []nearby, in *placefile.Jurisdiction) []nearby {
	places := d.store.places.Slice()
	return slices.DeleteFunc(slices.Clone(list), func(c nearby) bool {
		return !in.Allows(&places[d.store.entry(c.n).settlement-1])
	})
}

// settlements returns those of a list that can be the nearest within reach, and whether there is but one that surely
// is.
func (d *divider) settlements(dst, of []nearby, sq *square, reach float64) (kept []nearby, one bool) {
	if len(of) == 0 {
		return dst, false
	}
	f := &d.finder
	most := reach + f.radius + placefile.CellMargin
	kept = f.bound(dst, of, most, func(uint32, *boxtree.Box) {})
	nearest := math.Inf(1)
	threshold := func() float64 { return min(most, nearest+2*f.radius+placefile.CellMargin) }
	f.byDistance(kept, func(c *nearby) bool {
		if c.lo > nearest || c.lo > most {
			return false
		}
		f.exact(c, threshold())
		nearest = min(nearest, c.lo)
		return true
	})
	kept = f.within(kept, threshold())
	if f.radius <= smallCell && f.origin.Cos >= geometry.PolarCosine && len(kept) > 1 {
		kept = d.undominated(kept, sq)
	}
	return kept, len(kept) == 1 && nearest+f.radius+placefile.CellMargin <= reach
}

// smallCell is how far it may be, in metres, from the middle of a cell to its corners for the Earth to be flat in it.
const smallCell = 2000

// undominated leaves the settlements that are not points, or than which no other point is nearer to all of a cell.
// Positions as far from one point as from another lie on a great circle, which over a small cell is a straight line but
// for centimetres: so what is nearer at all four corners is nearer everywhere between them.
func (d *divider) undominated(list []nearby, sq *square) []nearby {
	const margin = 1 // metres
	var corners [4]geometry.Origin
	for i := range corners {
		size := int64(1) << sq.bits
		x, y := sq.minX()+int64(i&1)*size, sq.minY()+int64(i>>1)*size
		corners[i] = geometry.NewOrigin(orb.Point{float64(x) / geometry.UnitsPerDegree,
			float64(y) / geometry.UnitsPerDegree})
	}
	isPoint := func(c *nearby) bool { return d.store.entry(c.n).shape == geometry.Point }
	nearer := func(a, b *nearby) bool {
		for i := range corners {
			at := &corners[i]
			if geometry.Metres(d.finder.measure(at, a.n, 1))+margin > geometry.Metres(d.finder.measure(at, b.n, 1)) {
				return false
			}
		}
		return true
	}
	dominated := func(c *nearby) bool {
		for i := range list {
			if other := &list[i]; other.lo < c.lo && isPoint(other) && nearer(other, c) {
				return true
			}
		}
		return false
	}
	// All of them are compared before any is dropped: one that is dominated may dominate another one.
	drop := make([]bool, len(list))
	for i := range list {
		drop[i] = isPoint(&list[i]) && dominated(&list[i])
	}
	kept := list[:0]
	for i := range drop {
		if !drop[i] {
			kept = append(kept, list[i])
		}
	}
	return kept
}
