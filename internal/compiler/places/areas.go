package places

import (
	"cmp"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler/places/classes"

	"github.com/mapsedge/caddy-maps/internal/geo/country"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// area is the role of an entry in the addresses inside it.
type area struct {
	placefile.Area
	postcode uint32 // text
}

// newArea makes an area without its texts; see nameArea.
func newArea(e *entry, class *classes.Class, g *geometry.Geometry) area {
	t := &class.Area
	in, isOwn := t.Own, t.Own.Code != ""
	if !isOwn {
		in = t.Parent
	}
	if in.Code == "" {
		in = countryAcross(g)
	}
	a := area{postcode: t.Postcode}
	if e.name != 0 {
		a.State, a.County, a.City, a.Suburb = t.Ranks(in.Alpha2)
		if t.Place == "hamlet" {
			a.Flags |= placefile.AreaIsHamlet
		}
		if t.Admin || t.Place != "" {
			a.Flags |= placefile.AreaAnswers
		}
	}
	copy(a.Country[:], in.Code)
	if isOwn || t.Level == placefile.CountryLevel && in.Code != "" {
		a.Flags |= placefile.AreaIsCountry
	}
	return a
}

// areaOf returns the area of an entry that has one.
func (c *compiler) areaOf(e *entry) *area { return &c.areas.Slice()[e.area-1] }

// nameArea sets the texts of an entry's area. They are added to the region in the order of the entries.
func (c *compiler) nameArea(e *entry) (err error) {
	if e.area != 0 {
		var failed error
		a := c.areaOf(e)
		a.Area.Postcode, err = c.out.Text(c.texts.Text(a.postcode))
		a.Name, failed = c.out.Text(c.texts.Text(e.name))
		err = cmp.Or(err, failed)
	}
	return err
}

// countryAcross returns the country of an area by the worldwide borders, if they name the same one at several positions
// inside.
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

// findContexts finds the areas around each tile. The region covers these tiles, so that a request in a sea or a desert
// is answered with the country.
func (c *compiler) findContexts() (err error) {
	r := newContexts(c.dir, c.dir.SortMemory())
	entries := c.entries.Slice()
	for n := range entries {
		if e := &entries[n]; e.area != 0 {
			g := c.geometryOf(e)
			err = cmp.Or(err, r.Add(uint32(n), &g))
		}
	}
	const zooms = placefile.ContextZoom - region.CoverageZoom
	return cmp.Or(err, r.Each(func(row, from, to uint32, around, crossing []uint32) error {
		for x := from >> zooms; x <= (to-1)>>zooms; x++ {
			c.data.Tiles.Add(x<<region.CoverageZoom | row>>zooms)
		}
		first := row << placefile.ContextZoom
		return c.out.Context(first+from, first+to, around, crossing)
	}))
}

// around yields the areas that contain a position, of those for which ask returns true.
func (c *compiler) around(at orb.Point, ask func(a *area) bool, yield func(n uint32, e *entry, a *area)) {
	o := geometry.NewOrigin(at)
	context := c.out.ContextOf(at)
	for n, contains, ok := context.Next(); ok; n, contains, ok = context.Next() {
		e := c.entry(n)
		if a := c.areaOf(e); ask(a) {
			if g := c.geometryOf(e); contains || g.Contains(&o) {
				yield(n, e, a)
			}
		}
	}
}

// placeOf returns the administrative areas of a settlement.
func (c *compiler) placeOf(e *entry) (p placefile.Place) {
	g := c.geometryOf(e)
	at := g.Inner()
	var context placefile.Enclosing
	c.around(at, func(*area) bool { return true }, func(n uint32, e *entry, a *area) {
		context.Add(n, &a.Area, float32(e.extent))
	})
	p = placefile.Place{State: context.Feature[placefile.RoleState], City: context.Feature[placefile.RoleCity]}
	if code := context.Code(); code != ([3]byte{}) {
		copy(p.Country[:], code[:])
	} else if found, ok := country.LookupOffshore(at); ok {
		copy(p.Country[:], found.Code)
	}
	return p
}
