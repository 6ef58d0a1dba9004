package places

import (
	"cmp"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/boxtree"
	"github.com/mapsedge/caddy-maps/internal/country"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
	"github.com/mapsedge/caddy-maps/internal/geocoding/tagging"
)

// addArea adds what an entry means for the addresses in it.
func (c *compiler) addArea(n uint32, e *entry, class *class, g *geometry.Geometry) error {
	t := &class.area
	in, isOwn := t.own, t.own.Code != ""
	if !isOwn {
		in = t.parent
	}
	if in.Code == "" {
		in = countryAcross(g)
	}
	var a placefile.Area
	var err, failed error
	a.Postcode, err = c.out.Text(c.texts.text(t.postcode))
	a.Name, failed = c.out.Text(c.texts.text(e.name))
	if e.name != 0 {
		a.State, a.County, a.City, a.Suburb = t.ranks(in.Alpha2)
		if t.place == "hamlet" {
			a.Flags |= placefile.AreaIsHamlet
		}
		if t.admin || t.place != "" {
			a.Flags |= placefile.AreaAnswers
		}
	}
	copy(a.Country[:], in.Code)
	if isOwn || t.level == tagging.CountryLevel && in.Code != "" {
		a.Flags |= placefile.AreaIsCountry
	}
	err = cmp.Or(err, failed, c.store.areas.Append(a), c.store.postcodes.Append(t.postcode), c.survey.areas.add(n, g.Box))
	if e.area = uint32(c.store.areas.Len()); a.Postcode != 0 {
		err = cmp.Or(err, c.survey.postal.add(n, g.Box))
	}
	return err
}

// countryAcross tells the country that an area lies in, where its inside has no doubt about it: along several lines
// across the area, the worldwide borders must name the same one.
func countryAcross(g *geometry.Geometry) country.Country {
	var found country.Country
	for i := 1; i <= countrySamples; i++ {
		y := float64(g.Box.MinY) + (float64(g.Box.MaxY)-float64(g.Box.MinY))*float64(i)/(countrySamples+1)
		x, ok := g.Inside(y)
		if !ok {
			continue
		}
		c, ok := country.Lookup(orb.Point{x / geometry.UnitsPerDegree, y / geometry.UnitsPerDegree})
		if !ok {
			continue
		}
		if found.Code != "" && c.Code != found.Code {
			return country.Country{}
		}
		found = c
	}
	return found
}

const countrySamples = 9

// findPlaces finds the areas around each settlement.
func (c *compiler) findPlaces() error {
	settlements := c.store.settlements.Slice()
	places, err := c.store.places.Extend(len(settlements))
	if err != nil {
		return err
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	var exceeded atomic.Pointer[error]
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for exceeded.Load() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(settlements) {
					return
				}
				var steps int64
				places[i], steps = c.placeOf(settlements[i])
				if err := c.data.Cost.Work(steps); err != nil {
					exceeded.Store(&err)
				}
			}
		})
	}
	wg.Wait()
	if err := exceeded.Load(); err != nil {
		return *err
	}
	return nil
}

// placeOf is what a settlement belongs to.
func (c *compiler) placeOf(n uint32) (p placefile.Place, steps int64) {
	g := c.store.geometry(n)
	at := g.Inner()
	o := geometry.NewOrigin(at)
	here := geometry.NewCoord(at).Box()
	here = boxtree.Box{MinX: here.MinX - 1, MinY: here.MinY - 1, MaxX: here.MaxX + 1, MaxY: here.MaxY + 1} // it is rounded
	var context placefile.Enclosing
	items := c.survey.areas.items.Slice()
	steps = c.survey.areas.each(&here, func(from, to int) {
		for i := from; i < to; i++ {
			g := c.store.geometry(items[i])
			if !geometry.Holds(&g.Box, &o) {
				continue
			}
			steps += g.Steps()
			if g.Contains(&o) {
				c.surround(&context, uint32(i))
			}
		}
	})
	p = placefile.Place{State: context.Feature[placefile.RoleState], City: context.Feature[placefile.RoleCity]}
	if code := context.Code(); code != ([3]byte{}) {
		copy(p.Country[:], code[:])
	} else if found, ok := country.LookupOffshore(at); ok {
		copy(p.Country[:], found.Code)
	}
	return p, steps
}
