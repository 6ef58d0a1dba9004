package geocoding

import (
	"cmp"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/country"
	"github.com/paulmach/orb"
)

// territorialSea is how far from land a position still belongs to a country: 12 nautical miles, in metres.
const territorialSea = 22_224

// enclosing is what the areas around a point say of it. The zero value knows nothing. It is what a region file keeps of a
// cell, so it has no padding.
type enclosing struct {
	Feature         [roles]uint32 // the best area so far for each role: feature + 1, 0 for none
	Name            [roles]uint32 // string: its name
	Extent          [roles]float32
	PostcodeText    uint32 // string
	Rank            [roles]uint8
	CountryCode     [3]byte
	SubdivisionCode [3]byte
	_               [1]uint8
}

// The roles of the areas around a point.
const (
	roleState = iota
	roleCity
	roleSuburb
	roleAnswer      // the smallest place or administrative area
	roleCountry     // a country's own
	roleSubdivision // any that tells the country
	rolePostcode
	roleCounty
	roleHamlet
	roles
)

func (e *enclosing) improves(role int, f, name uint32, rank uint8, extent float32) bool {
	if e.Feature[role] != 0 && (rank > e.Rank[role] || rank == e.Rank[role] &&
		(extent > e.Extent[role] || extent == e.Extent[role] && f+1 >= e.Feature[role])) {
		return false
	}
	e.Feature[role], e.Name[role], e.Rank[role], e.Extent[role] = f+1, name, rank, extent
	return true
}

// add takes an area into account that contains the point: a feature with its name and extent.
func (e *enclosing) add(f uint32, a *area, name uint32, extent float32) {
	if a.State != 0 {
		e.improves(roleState, f, name, a.State, extent)
	}
	if a.City != 0 {
		e.improves(roleCity, f, name, a.City, extent)
	}
	if a.Suburb != 0 {
		e.improves(roleSuburb, f, name, a.Suburb, extent)
	}
	if a.County != 0 {
		e.improves(roleCounty, f, name, a.County, extent)
	}
	if a.Flags&areaIsHamlet != 0 {
		e.improves(roleHamlet, f, name, 0, extent)
	}
	if a.Flags&areaAnswers != 0 {
		e.improves(roleAnswer, f, name, 0, extent)
	}
	if a.Country != ([3]byte{}) {
		if a.Flags&areaIsCountry != 0 && e.improves(roleCountry, f, name, 0, extent) {
			e.CountryCode = a.Country
		}
		if e.improves(roleSubdivision, f, name, 0, extent) {
			e.SubdivisionCode = a.Country
		}
	}
	if a.Postcode != 0 && e.improves(rolePostcode, f, name, 0, extent) {
		e.PostcodeText = a.Postcode
	}
}

// code is that of the country by the polygons around the point: that of a country, else of one of its parts. It is zero when
// there is none.
func (e *enclosing) code() [3]byte {
	if e.Feature[roleCountry] != 0 {
		return e.CountryCode
	}
	return e.SubdivisionCode
}

// decides tells whether an area says which country, state or city its inside belongs to, given what the areas around all of it
// say: whether settlements inside and outside may be told apart by it.
func (e *enclosing) decides(a *area) bool {
	return a.State != 0 || a.City != 0 || a.Flags&areaIsCountry != 0 || a.Country != ([3]byte{}) && a.Country != e.code()
}

// countryAt tells the country of a point that no polygon knows, by the worldwide borders, also along a coast.
func countryAt(p orb.Point) (country.Country, bool) {
	if c, ok := country.Lookup(p); ok {
		return c, true
	}
	c, _, ok := country.Nearest(p, territorialSea)
	return c, ok
}

// addAreas fills the records of the tree of areas.
func (b *builder) addAreas(items []uint32) {
	for _, n := range items {
		e := &b.entries[n]
		c, isOwn := e.area.own, e.area.own.Code != ""
		if !isOwn {
			c = e.area.parent
		}
		if c.Code == "" {
			c = e.geometry.country()
		}
		a := area{Postcode: b.strings.add(e.area.postcode)}
		if e.name != "" {
			a.State, a.County, a.City, a.Suburb = e.area.ranks(c.Alpha2)
			if e.area.place == "hamlet" {
				a.Flags |= areaIsHamlet
			}
			if e.area.admin || e.area.place != "" {
				a.Flags |= areaAnswers
			}
		}
		copy(a.Country[:], c.Code)
		if isOwn || e.area.level == countryLevel && c.Code != "" {
			a.Flags |= areaIsCountry
		}
		b.areas = append(b.areas, a)
	}
}

// country tells the country that an area lies in, where its inside has no doubt about it: along several lines across the
// area, the worldwide borders must name the same one.
func (g *geometry) country() country.Country {
	var found country.Country
	for i := 1; i <= countrySamples; i++ {
		y := float64(g.box.MinY) + (float64(g.box.MaxY)-float64(g.box.MinY))*float64(i)/(countrySamples+1)
		x, ok := g.inside(y)
		if !ok {
			continue
		}
		c, ok := country.Lookup(orb.Point{x / unitsPerDegree, y / unitsPerDegree})
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

// inside returns the middle of the widest stretch of an area at a latitude.
func (g *geometry) inside(y float64) (x float64, ok bool) {
	var xs []float64
	for line := range g.lines {
		for i := 1; i < len(line); i++ {
			a, b := line[i-1], line[i]
			if ay, by := float64(a.Y), float64(b.Y); (ay > y) != (by > y) {
				xs = append(xs, float64(a.X)+(float64(b.X)-float64(a.X))*(y-ay)/(by-ay))
			}
		}
	}
	slices.Sort(xs)
	width := -1.0
	for i := 0; i+1 < len(xs); i += 2 {
		if w := xs[i+1] - xs[i]; w > width {
			width, x, ok = w, (xs[i]+xs[i+1])/2, true
		}
	}
	return x, ok
}

// addPlaces finds the areas around each settlement.
func (b *builder) addPlaces(areas, settlements []uint32) error {
	type located struct {
		n  uint32
		at orb.Point
		enclosing
	}
	places := make([]located, len(settlements))
	for i, n := range settlements {
		places[i] = located{n: n, at: b.entries[n].geometry.inner()}
	}
	slices.SortStableFunc(places, func(a, b located) int { return cmp.Compare(a.at[0], b.at[0]) })
	for i, n := range areas {
		e := &b.entries[n]
		minX, maxX := float64(e.geometry.box.MinX)/unitsPerDegree, float64(e.geometry.box.MaxX)/unitsPerDegree
		from, _ := slices.BinarySearchFunc(places, minX, func(p located, x float64) int { return cmp.Compare(p.at[0], x) })
		to := from
		for ; to < len(places) && places[to].at[0] <= maxX; to++ {
			o := newOrigin(places[to].at)
			if e.geometry.contains(&o) {
				places[to].add(n, &b.areas[i], b.features[n].Name, float32(e.extent))
			}
		}
		if err := b.cost.Work(int64(to-from) * e.geometry.steps()); err != nil {
			return err
		}
	}
	for i := range places {
		p := &places[i]
		record := place{State: p.Feature[roleState], City: p.Feature[roleCity]}
		if code := p.code(); code != ([3]byte{}) {
			copy(record.Country[:], code[:])
		} else if c, ok := countryAt(p.at); ok {
			copy(record.Country[:], c.Code)
		}
		b.places = append(b.places, record)
		b.features[p.n].Place = uint32(len(b.places))
	}
	return nil
}

// inner is a point of the geometry: of an area, one inside it.
func (g *geometry) inner() orb.Point {
	if g.shape == shapeArea {
		y := (float64(g.box.MinY) + float64(g.box.MaxY)) / 2
		if x, ok := g.inside(y); ok {
			return orb.Point{x / unitsPerDegree, y / unitsPerDegree}
		}
	}
	return coord{g.box.MinX, g.box.MinY}.point()
}
