package geocoding

import (
	"bytes"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// describe turns hits into places. All their strings are parts of one.
func (s *search) describe(hits []hit, req *Request, a *location) *Result {
	s.text.reset()
	around := s.writeSurroundings(a, req.Languages)
	s.spans = s.spans[:0]
	for i := range hits {
		s.spans = append(s.spans, s.write(&hits[i], req, a, &around))
	}
	result, text := req.newResult(len(hits), s.text.bytes)
	for i := range hits {
		p := &result.Places[i]
		s.spans[i].fill(p, text)
		p.Location, p.Distance = req.Point, hits[i].centimetres/100
		if hits[i].at != (geometry.Offset{}) {
			p.Location = s.o.Location(hits[i].at)
		}
		if req.Shapes {
			p.Shape = s.shape(&hits[i])
		}
	}
	return result
}

// fill fills a place with the texts of its parts, and clears the rest.
func (from *placeSpans) fill(p *Place, text string) {
	*p = Place{
		ID: from.id.of(text), Name: from.name.of(text), DisplayName: from.display.of(text),
		Category: from.category.of(text), Type: from.kind.of(text), Layer: from.layer, Bound: from.bound,
		Address: Address{
			HouseNumber: from.houseNumber.of(text), Street: from.street.of(text), Suburb: from.suburb.of(text),
			Hamlet: from.hamlet.of(text), City: from.city.of(text), County: from.county.of(text), State: from.state.of(text),
			Postcode: from.postcode.of(text),
			Country:  from.country.of(text), CountryCode: from.code,
		},
	}
}

// shape returns the shape of a feature; nil if it is a position or has too many segments.
func (s *search) shape(h *hit) orb.MultiLineString {
	g := s.x.geometry(&h.record)
	if g.Shape == geometry.Point || g.Steps() > MaxShape {
		return nil
	}
	var lines orb.MultiLineString
	for piece := range g.Lines {
		line := make(orb.LineString, len(piece))
		for i, c := range piece {
			line[i] = c.Point()
		}
		lines = append(lines, line)
	}
	return lines
}

// placeSpans are the parts of a place in the text.
type placeSpans struct {
	id, name, display, category, kind span
	houseNumber, street, postcode     span
	suburb, hamlet, city              span
	county, state, country            span
	layer                             Layer
	bound                             orb.Bound
	code                              string // of the country
}

// surroundingSpans are common to the places of an answer: most of their addresses, and the end of most display names.
type surroundingSpans struct {
	placeSpans
	end span
}

// writeSurroundings writes the text common to all places of an answer.
func (s *search) writeSurroundings(a *location, languages []string) surroundingSpans {
	t := &s.text
	var p surroundingSpans
	p.suburb = t.add(s.nameOf(a.suburb, languages))
	p.hamlet = t.add(s.nameOf(a.hamlet, languages))
	p.city = t.add(s.nameOf(a.city, languages))
	p.county = t.add(s.nameOf(a.county, languages))
	p.state = t.add(s.nameOf(a.state, languages))
	p.postcode, p.code = t.add(a.postcode), a.country.Code
	if len(a.countryLabel.name) > 0 {
		p.country = t.add(s.nameOf(a.countryLabel, languages))
	} else {
		p.country = t.addString(a.country.Name)
	}
	p.end = t.join(span{}, p.suburb, p.city, p.state, p.country)
	return p
}

// write writes the text of a place.
func (s *search) write(h *hit, req *Request, a *location, around *surroundingSpans) placeSpans {
	x, t := s.x, &s.text
	p := around.placeSpans
	f := &h.record
	r := x.details(f, placefile.DetailBytes)
	d := f.ReadDetails(&r, &x.text)
	p.id = t.id(d.Ref)
	key, value, layer, _ := x.presented(f, &d, req)
	p.layer, p.bound = layer, h.record.bound()
	p.category, p.kind = t.add(key), t.add(value)
	usual := true // the display name has the common end
	p.houseNumber, p.street = t.add(d.HouseNumber), span{}
	if d.Address != 0 {
		r := placefile.Reader{Data: slice(&x.addresses, int(d.Address), placefile.AddressBytes)}
		own := placefile.ReadAddress(&r, &x.text)
		p.street = t.add(own.Street)
		t.replace(&p.postcode, own.Postcode)
		t.replace(&p.hamlet, own.Hamlet)
		t.replace(&p.county, own.County)
		usual = !t.replace(&p.suburb, own.Suburb)
		usual = !t.replace(&p.city, own.City) && usual
		if p.state.from == p.state.to { // addr:state is an abbreviation more often than not: the polygon knows better
			usual = !t.replace(&p.state, own.State) && usual
		}
	}
	if len(d.Name) > 0 {
		p.name = t.add(d.Name)
	} else {
		p.name = t.words(p.houseNumber, p.street)
	}
	if f.IsStreet() {
		p.street = p.name // as it is on the ground
	}
	if len(req.Languages) > 0 {
		t.replace(&p.name, x.translated(f, &d, req.Languages))
	}
	name := t.bytes[p.name.from:p.name.to]
	within := s.unitOf(h, a, key, value)
	if usual && within == unitNone && !bytes.Contains(name, comma) {
		if !t.same(p.name, p.suburb) && !t.same(p.name, p.city) && !t.same(p.name, p.state) && !t.same(p.name, p.country) {
			if around.end.from < around.end.to {
				t.bytes = append(t.bytes, ", "...)
				t.bytes = append(t.bytes, t.bytes[around.end.from:around.end.to]...)
			}
			p.display = t.since(int(p.name.from))
			return p
		}
	}
	p.display = t.join(p.name, within.outside(p.suburb, unitSuburb), within.outside(p.city, unitCity),
		within.outside(p.state, unitState), p.country)
	return p
}

// presented returns the category of a feature in the answer, and its layer under it: the first one that the request
// wants; false if there is none.
func (x *Index) presented(f *feature, d *placefile.Details, req *Request) (key, value []byte, layer Layer, ok bool) {
	n := placefile.KindBytes
	if len(req.Categories) > 0 || req.Keep != nil {
		n *= placefile.MaxKinds
	}
	r := placefile.Reader{Data: slice(&x.kinds, int(d.Kinds), n)}
	for i := range min(r.Uint(), placefile.MaxKinds) {
		k, v := r.String(&x.text), r.String(&x.text)
		l := x.layerOf(f, d, k, v)
		if i == 0 {
			key, value, layer = k, v, l
		}
		if req.matches(k, v) && (req.Keep == nil || req.Keep(string(k), string(v), l)) {
			return k, v, l, true
		}
	}
	return key, value, layer, false
}

// matches reports whether a category is one that the request asks for.
func (req *Request) matches(key, value []byte) bool {
	if len(req.Categories) == 0 {
		return true
	}
	for _, c := range req.Categories {
		if c = placefile.Normalize(c); c != "" && (isWord(key, c) || isWord(value, c)) {
			return true
		}
	}
	return false
}

// isWord reports whether a key or value equals a normalized term.
func isWord(s []byte, term string) bool {
	return string(s) == term || placefile.Normalize(string(s)) == term
}
