package geocoding

import (
	"slices"

	"github.com/mapsedge/caddy-maps/internal/build/extract"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// maxLot is how large an area may be, in square metres, that has one address though it does not say one: a campus or a
// park has several streets around it.
const maxLot = 50_000

// wild are the keys of what has no address: it lies in the landscape.
var wild = []string{"natural", "landuse", "place", "boundary", "waterway", "geological", "mountain_pass", "aerialway",
	"power"}

// deriver finds out what features do not say of their own address: from the building that they are in, the roads beside
// them, and the houses around. It is all decided when a region is compiled, so that a request only reads it.
type deriver struct {
	b         *builder
	cost      *extract.Budget
	err       error // of cost
	streets   streetMap
	driveways *driveways
	houses    houseMap
	postal    grid // areas with a postcode
	buildings grid // areas with a house number
	doors     grid // positions with a house number
}

// newDeriver surveys what the entries so far, which are those of objects, say themselves.
func newDeriver(b *builder, d *extract.Data) *deriver {
	v := &deriver{b: b, cost: b.cost.Again(), streets: streetMap{keys: map[string]uint32{}}}
	ways := map[int64]uint32{}
	for i := range b.entries {
		e, n := &b.entries[i], uint32(i)
		if e.road > onlyRoad {
			v.streets.add(n, e)
			if e.road != pathStreet && mapdata.Kind(e.ref&3) == mapdata.KindWay {
				ways[int64(e.ref>>2)] = n
			}
		}
		if e.serves && e.area.postcode != "" {
			v.postal.add(e.geometry.box, n)
		}
		if e.address.houseNumber == "" {
			continue
		}
		switch isBuilding := e.is("building"); {
		case e.geometry.shape == shapePoint:
			v.doors.add(e.geometry.box, n)
		case e.geometry.shape == shapeArea && (isBuilding || e.extent <= maxLot):
			v.buildings.add(e.geometry.box, n)
		}
		v.houses.add(e, &v.streets)
	}
	for _, g := range []*grid{&v.streets.grid, &v.postal, &v.buildings, &v.doors, &v.houses.grid, &v.houses.coded} {
		g.seal()
	}
	v.driveways = newDriveways(d, ways)
	return v
}

// complete completes the addresses of all entries. Where that costs more than a map of this size can need, the rest
// stays as it is. Each step relies on what the ones before have found: shops on their buildings, these on their doors,
// and all on the streets.
func (v *deriver) complete() {
	each := func(step func(n uint32, e *entry)) {
		for i := range v.b.entries {
			if e := &v.b.entries[i]; e.takesAddress() && v.err == nil {
				step(uint32(i), e)
			}
		}
	}
	each(func(_ uint32, e *entry) {
		if e.address.houseNumber != "" && e.geometry.shape == shapeArea {
			v.street(e)
		}
	})
	each(func(_ uint32, e *entry) {
		if e.address.houseNumber != "" && e.geometry.shape != shapeArea {
			v.fromBuilding(e)
			v.street(e)
		}
	})
	var numbered []uint32
	each(func(n uint32, e *entry) {
		if e.address.houseNumber == "" && e.geometry.shape == shapeArea && e.is("building") {
			v.fromBuilding(e)
			v.street(e)
			if e.address.houseNumber != "" {
				numbered = append(numbered, n)
			}
		}
	})
	for _, n := range numbered {
		v.buildings.add(v.b.entries[n].geometry.box, n)
	}
	v.buildings.seal()
	each(func(_ uint32, e *entry) {
		if e.address.houseNumber == "" {
			v.fromBuilding(e)
			v.street(e)
		}
	})
	each(func(_ uint32, e *entry) { v.postcode(e) })
	v.settlePlaces()
	for i := range v.b.entries {
		e := &v.b.entries[i]
		if e.road != noStreet {
			e.address.street = "" // that is its name
		}
		if e.unnamed {
			e.name = e.address.line()
		}
	}
}

// work counts steps, and tells whether there may be more.
func (v *deriver) work(steps int64) bool {
	if v.err == nil {
		v.err = v.cost.Work(steps)
	}
	return v.err == nil
}

// takesAddress tells whether a feature has an address, though it may not say one.
func (e *entry) takesAddress() bool {
	switch {
	case len(e.kinds) == 0 || e.road != noStreet || e.geometry.shape == shapeLine:
		return false
	case e.address.houseNumber != "":
		return true
	}
	return e.extent <= maxLot && !slices.Contains(wild, e.kinds[0].key)
}

// is tells whether a feature has a key.
func (e *entry) is(key string) bool {
	return slices.ContainsFunc(e.kinds, func(k keyValue) bool { return k.key == key })
}

// middle is a position inside a feature.
func (e *entry) middle() coord { return newCoord(e.geometry.inner()) }

func (c coord) box() box { return box{c.X, c.Y, c.X, c.Y} }

// onStreet tells whether an address says where its house number belongs.
func (a *addressTags) onStreet() bool { return a.street != "" || a.place != "" }

// street gives a feature the street that it is on, unless it says where it belongs.
func (v *deriver) street(e *entry) {
	if e.address.onStreet() {
		return
	}
	if best, ok := v.choose(newOutline(&e.geometry, e.entrances), e.middle()); ok {
		e.address.street = v.b.entries[best.entry].name
		e.onRoad, e.on = true, best.entry
	}
}

// choose returns the street that an outline is on.
func (v *deriver) choose(o *outline, middle coord) (best streetCandidate, found bool) {
	access, leads := v.driveways.near(o, v.work)
	for _, reach := range [...]float64{firstLook, maxStreet} {
		list := v.streets.near(o, reach, v.work)
		nearest := access < maxApproach
		for i := range list {
			nearest = nearest && access < list[i].distance
		}
		if nearest {
			street := v.streets.number(v.b.entries[leads.entry].name)
			list = streetCandidate{street, leads.entry, access, access + drivewayCost + drivewayShare*leads.metres}.into(list)
		}
		v.work(v.houses.support(list, middle))
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
	return best, v.err == nil && found
}

// maxSamples is how many parts of an interpolation line are looked at.
const maxSamples = 16

// line finds the street of an interpolation line without one: that which is nearest to the line as a whole, since each
// of its ends is near another one where streets cross.
func (v *deriver) line(line *extract.Interpolation) (name string, ok bool) {
	var sums []streetCandidate
	sample := func(c coord) {
		g := geometry{shape: shapePoint, box: c.box()}
		for _, c := range v.streets.near(newOutline(&g, nil), maxStreet, v.work) {
			c.cost -= maxStreet // which is what a street costs that is out of reach
			if i, has := indexOf(sums, c.street); has {
				sums[i].cost += c.cost
			} else {
				sums = slices.Insert(sums, i, c)
			}
		}
	}
	every := max(len(line.Line)/maxSamples, 1)
	for i := 0; i+1 < len(line.Line) && v.err == nil; i += every {
		a, b := newCoord(line.Line[i]), newCoord(line.Line[i+1])
		sample(a)
		sample(coord{int32((int64(a.X) + int64(b.X)) / 2), int32((int64(a.Y) + int64(b.Y)) / 2)})
		sample(b)
	}
	if v.err != nil || len(sums) == 0 {
		return "", false
	}
	best := slices.MinFunc(sums, func(a, b streetCandidate) int { return a.compare(&b) })
	return v.b.entries[best.entry].name, true
}
