package geocoding

import (
	"bytes"
	"strings"
)

// describe turns hits into places. All their text is one string, cut into parts.
func (s *search) describe(hits []hit, req *Request, a *surroundings) *Result {
	s.text.reset()
	around := s.writeSurroundings(a, req.Languages)
	var spans [MaxSize]placeSpans
	for i := range hits {
		spans[i] = s.write(&hits[i], req, a, &around)
	}
	result, text := req.newResult(len(hits), s.text.bytes)
	places := result.Places
	for i := range hits {
		p, from := &places[i], &spans[i]
		p.ID, p.Name, p.DisplayName = from.id.of(text), from.name.of(text), from.display.of(text)
		p.Category, p.Type = from.category.of(text), from.kind.of(text)
		p.Location, p.Distance = req.Point, hits[i].centimetres/100
		if hits[i].at != (position{}) {
			p.Location = s.o.location(hits[i].at)
		}
		p.Address = Address{
			HouseNumber: from.houseNumber.of(text), Street: from.street.of(text), Suburb: from.suburb.of(text),
			Hamlet: from.hamlet.of(text), City: from.city.of(text), County: from.county.of(text), State: from.state.of(text),
			Postcode: from.postcode.of(text),
			Country:  from.country.of(text), CountryCode: a.country.Code,
		}
	}
	return result
}

// placeSpans are the parts of a place in the text.
type placeSpans struct {
	id, name, display, category, kind span
	houseNumber, street, postcode     span
	suburb, hamlet, city              span
	county, state, country            span
}

// surroundingSpans are what the places of an answer have in common: most of their addresses, and the end of most of their
// display names.
type surroundingSpans struct {
	placeSpans
	end span
}

// writeSurroundings writes what all places of an answer have in common.
func (s *search) writeSurroundings(a *surroundings, languages []string) surroundingSpans {
	x, t := s.x, &s.text
	var p surroundingSpans
	p.suburb = t.add(s.nameOf(a.suburb, languages))
	p.hamlet = t.add(s.nameOf(a.hamlet, languages))
	p.city = t.add(s.nameOf(a.city, languages))
	p.county = t.add(s.nameOf(a.county, languages))
	p.state = t.add(s.nameOf(a.state, languages))
	p.postcode = t.add(x.bytes(a.postcode))
	if a.countryLabel.name != 0 {
		p.country = t.add(s.nameOf(a.countryLabel, languages))
	} else {
		p.country = t.addString(a.country.Name)
	}
	p.end = t.join(span{}, p.suburb, p.city, p.state, p.country)
	return p
}

// write writes the text of a place.
func (s *search) write(h *hit, req *Request, a *surroundings, around *surroundingSpans) placeSpans {
	x, t := s.x, &s.text
	p := around.placeSpans
	run := x.features.Range(int(h.feature), int(h.feature)+2)
	f, next := &run[0], &run[1]
	p.id = t.id(f.Ref)
	kind := f.Kind
	if len(req.Categories) > 0 {
		if next.Pairs-f.Pairs > maxKinds {
			foreign("a feature is too many things")
		}
		kind = s.matching(x.pairs.Range(int(f.Pairs), int(next.Pairs)), req.Categories)
	}
	key, value := x.bytes(kind.Key), x.bytes(kind.Value)
	p.category, p.kind = t.add(key), t.add(value)
	usual := true // the display name ends as most do
	if f.Address != 0 {
		own := x.addresses.At(int(f.Address - 1))
		p.houseNumber, p.street = t.add(x.bytes(own.HouseNumber)), t.add(x.bytes(own.Street))
		t.replace(&p.postcode, x.bytes(own.Postcode))
		t.replace(&p.hamlet, x.bytes(own.Hamlet))
		t.replace(&p.county, x.bytes(own.County))
		usual = !t.replace(&p.suburb, x.bytes(own.Suburb))
		usual = !t.replace(&p.city, x.bytes(own.City)) && usual
		if p.state.from == p.state.to { // addr:state is an abbreviation more often than not: the polygon knows better
			usual = !t.replace(&p.state, x.bytes(own.State)) && usual
		}
	}
	name := x.bytes(f.Name)
	p.name = t.add(name)
	if f.IsStreet != 0 {
		p.street = p.name // as it is on the ground
	}
	if len(req.Languages) > 0 {
		name = s.translated(f, next, req.Languages)
		p.name = t.add(name)
	}
	within := s.unitOf(h, a, key, value)
	if usual && within == unitNone && !bytes.Contains(name, comma) {
		if !t.same(p.name, p.suburb) && !t.same(p.name, p.city) && !t.same(p.name, p.state) && !t.same(p.name, p.country) {
			if around.end.from < around.end.to {
				t.bytes = append(t.bytes, ", "...)
				t.bytes = append(t.bytes, t.bytes[around.end.from:around.end.to]...)
			}
			p.display = span{p.name.from, len(t.bytes)}
			return p
		}
	}
	p.display = t.join(p.name, within.outside(p.suburb, unitSuburb), within.outside(p.city, unitCity),
		within.outside(p.state, unitState), p.country)
	return p
}

// matching returns the pair that a feature is presented as: the first that a filter asks for.
func (s *search) matching(pairs []pair, categories []string) pair {
	for _, p := range pairs {
		key, value := s.x.bytes(p.Key), s.x.bytes(p.Value)
		for _, c := range categories {
			if c = normalize(c); c != "" && (isWord(key, c) || isWord(value, c)) {
				return p
			}
		}
	}
	return pairs[0]
}

// normalize is the form that terms are compared in.
func normalize(term string) string { return strings.ToLower(strings.TrimSpace(term)) }

// isWord tells whether a key or value is a term in its normal form.
func isWord(s []byte, term string) bool {
	return string(s) == term || normalize(string(s)) == term
}
