package geocoding

import (
	"iter"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo/country"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// Feature is a feature of a region, for other engines. Its texts are parts of the file.
type Feature struct {
	Ref      uint64 // see placefile.NewRef
	Name     []byte // empty if it is the house number and the street
	Number   []byte // of the house
	Own      placefile.Own
	IsStreet bool // its name is the street of its address
	Area     placefile.Area
	IsArea   bool // serves addresses, as Area says
	Geometry geometry.Geometry

	record  feature
	details placefile.Details
}

// Feature reads a feature. Like all methods that take numbers of features, it panics with a *region.DamageError if the
// file is damaged, or if there is no such feature: callers defer region.Recover.
func (x *Index) Feature(n uint32) (f Feature) {
	f.record = x.feature(n)
	r := x.details(&f.record, placefile.DetailBytes)
	f.Area, f.IsArea = f.record.ReadArea(&r)
	r.At = 0
	f.details = f.record.ReadDetails(&r, &x.text)
	d := &f.details
	f.Ref, f.Name, f.Number, f.IsStreet = d.Ref, d.Name, d.HouseNumber, f.record.IsStreet()
	if d.Address != 0 {
		r := placefile.Reader{Data: slice(&x.addresses, int(d.Address), placefile.AddressBytes)}
		f.Own = placefile.ReadAddress(&r, &x.text)
	}
	f.Geometry = x.geometry(&f.record)
	return f
}

// Names yields the names of a feature in other languages, with their language tags, and its other names, with keys that
// begin with an underscore.
func (x *Index) Names(f *Feature) iter.Seq2[[]byte, []byte] { return x.names(&f.record, &f.details) }

// Kinds yields the categories of a feature: OSM keys and values, the usual one first.
func (x *Index) Kinds(f *Feature) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		r := placefile.Reader{Data: slice(&x.kinds, int(f.details.Kinds), placefile.KindBytes*placefile.MaxKinds)}
		for range min(r.Uint(), placefile.MaxKinds) {
			if key, value := r.String(&x.text), r.String(&x.text); !yield(key, value) {
				return
			}
		}
	}
}

// Layer returns the layer of a feature under its usual category.
func (x *Index) Layer(f *Feature) Layer {
	for key, value := range x.Kinds(f) {
		return x.layerOf(&f.record, &f.details, key, value)
	}
	return LayerOther
}

// Surroundings are the areas and settlements that a position belongs to, as in its address: features + 1, or 0.
type Surroundings struct {
	Suburb, Hamlet, City, County, State, CountryArea uint32
	Postcode                                         []byte // a part of the file
	Country                                          country.Country
}

// Surroundings returns what a position belongs to.
func (x *Index) Surroundings(p orb.Point) Surroundings {
	s := x.scratch.Get().(*search)
	defer s.release()
	a := s.surround(x, p)
	return Surroundings{Suburb: a.suburb.feature, Hamlet: a.hamlet.feature, City: a.city.feature,
		County: a.county.feature, State: a.state.feature, CountryArea: a.countryLabel.feature,
		Postcode: a.postcode, Country: a.country}
}

// surround finds the location of a position, and makes it the search's origin.
func (s *search) surround(x *Index, p orb.Point) location {
	o := geometry.NewOrigin(p)
	o.Left = maxWork
	s.reset(x, &o, MinSize, 0)
	run := x.runOf(p)
	s.enclose(run.Context)
	a := s.locate(p)
	s.settle(&a, run.Near)
	return a
}

// Part is a part of an address.
type Part uint8

// The parts of addresses that are no features.
const (
	PartNone Part = iota
	PartStreet
	PartPostcode
)

// Item is a feature to describe.
type Item struct {
	Feature uint32
	At      orb.Point // where its address is
	// House, if set, makes the item a house with this number on the feature, which is a street or a place.
	House []byte
	// Part makes the item a part of the feature's address, of which the region has no feature.
	Part Part
}

// Describe returns the places of features at positions, in this order, with names and addresses as in the answers of
// Reverse. It takes Languages and Into of a request.
func (x *Index) Describe(items []Item, req *Request) *Result {
	s := x.scratch.Get().(*search)
	defer s.release()
	s.x = x
	s.text.reset()
	s.spans = s.spans[:0]
	for i := range items {
		item := &items[i]
		a := s.surround(x, item.At)
		f := x.feature(item.Feature)
		around := s.writeSurroundings(&a, req.Languages)
		h := hit{match: match{feature: item.Feature, extent: f.Extent}, record: f}
		p := s.write(&h, req, &a, &around)
		switch {
		case item.House != nil:
			s.writeHouse(&p, item.House)
			p.bound = item.At.Bound()
		case item.Part == PartStreet:
			s.writePart(&p, p.street, "place", "street")
		case item.Part == PartPostcode:
			p.street = span{}
			s.writePart(&p, p.postcode, "boundary", "postal_code")
		}
		s.spans = append(s.spans, p)
	}
	result, text := req.newResult(len(items), s.text.bytes)
	for i := range items {
		s.spans[i].fill(&result.Places[i], text)
		result.Places[i].Location = items[i].At
	}
	return result
}

// writePart turns the description of a feature into that of a part of its address.
func (s *search) writePart(p *placeSpans, name span, key, value string) {
	t := &s.text
	p.houseNumber, p.name = span{}, name
	p.category, p.kind = t.addString(key), t.addString(value)
	p.display = t.join(p.name, p.suburb, p.city, p.state, p.country)
}

// writeHouse turns the description of a street or a place into that of a house.
func (s *search) writeHouse(p *placeSpans, number []byte) {
	t := &s.text
	p.houseNumber = t.add(number)
	if p.street.from == p.street.to {
		p.street = p.name
	}
	p.name = t.words(p.houseNumber, p.street)
	p.category, p.kind = t.addString("place"), t.addString("house")
	p.layer = LayerHouse
	p.display = t.join(p.name, p.suburb, p.city, p.state, p.country)
}
