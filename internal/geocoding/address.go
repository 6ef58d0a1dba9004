package geocoding

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/country"
	"github.com/mapsedge/caddy-maps/internal/extract"
	"github.com/paulmach/orb"
)

// How far, in metres, the settlement may be that stands for the city or the suburb of a point that no polygon contains.
const (
	maxCityDistance = 30_000
	// maxCityDistanceUnproven is for points whose state no polygon tells: another state may begin anywhere.
	maxCityDistanceUnproven = 5_000
	maxSuburbDistance       = 1_000
)

// surroundings is where a point is, as far as polygons, borders and the nearest settlements tell. Strings of the region are
// given by number.
type surroundings struct {
	country             country.Country
	countryLabel        label // no name: country.Name
	suburb, city, state label
	postcode            uint32
	within              within
}

// surroundings works out where the search's origin is, after enclose.
func (s *search) surroundings(p orb.Point) surroundings {
	c := &s.context
	a := surroundings{suburb: c.label(roleSuburb), city: c.label(roleCity), state: c.label(roleState),
		countryLabel: c.label(roleCountry), postcode: c.PostcodeText}
	if code := c.code(); code != ([3]byte{}) {
		a.country = s.x.countryByCode(code)
	} else if found, ok := countryAt(p); ok {
		a.country = found
	}
	a.within = within{settlements: true, state: a.state.feature, city: a.city.feature}
	copy(a.within.country[:], a.country.Code)
	return a
}

// label is a feature + 1, 0 for none, and its name.
type label struct{ feature, name uint32 }

func (e *enclosing) label(role int) label { return label{e.Feature[role], e.Name[role]} }

// countryByCode returns the country of an alpha-3 code of the region.
func (x *Index) countryByCode(code [3]byte) country.Country {
	if c := x.country.Load(); c != nil && c.Code == string(code[:]) {
		return *c
	}
	c, ok := country.ByAlpha3(string(code[:]))
	if ok {
		x.country.Store(&c)
	}
	return c
}

// settle names the nearest settlements as the city and the suburb where no polygon does.
func (s *search) settle(a *surroundings, c *cell) {
	known := c.flags&cellContext != 0
	if a.city.feature == 0 {
		switch reach := a.cityReach(); {
		case known:
			a.city = s.nearestOf(c.cities, reach, a.within)
		default:
			a.city = s.nearest(treeCities, maxCityDistanceUnproven, a.within)
			if a.city.feature == 0 && reach > maxCityDistanceUnproven {
				a.city = s.nearest(treeCities, reach, a.within)
			}
		}
	}
	if a.suburb.feature == 0 {
		near := a.within
		near.sameCity = true
		if known {
			a.suburb = s.nearestOf(c.suburbs, maxSuburbDistance, near)
		} else {
			a.suburb = s.nearest(treeSuburbs, maxSuburbDistance, near)
		}
	}
}

// cityReach is how far the settlement may be that stands for the city: not far where no polygon tells the state and there may
// be another one.
func (a *surroundings) cityReach() float64 {
	if a.state.feature != 0 || len(levelsOf(a.country.Alpha2).state) == 0 {
		return maxCityDistance
	}
	return maxCityDistanceUnproven
}

// nearest returns the nearest settlement of a tree.
func (s *search) nearest(tree uint32, reach float64, in within) label {
	near := s.x.scratch.Get().(*search)
	defer s.x.scratch.Put(near)
	near.reset(s.x, s.o, 1, reach*100)
	near.within = in
	near.open(tree)
	return near.first()
}

// nearestOf returns the nearest settlement of a list that holds those that may be it.
func (s *search) nearestOf(list []uint32, reach float64, in within) label {
	if len(list) == 0 {
		return label{}
	}
	near := s.x.scratch.Get().(*search)
	defer s.x.scratch.Put(near)
	near.reset(s.x, s.o, 1, reach*100)
	near.within = in
	near.openList(list)
	return near.first()
}

// first runs a search and returns the first hit.
func (s *search) first() label {
	hits := s.run()
	if len(hits) == 0 {
		return label{}
	}
	n := hits[0].feature
	return label{n + 1, s.x.features.At(int(n)).Name}
}

// fallback answers where no feature is near: with the smallest named place or administrative area around the point, else,
// on land, with the nearest place.
func (s *search) fallback(p orb.Point, a *surroundings) []hit {
	if n := s.context.Feature[roleAnswer]; n != 0 {
		f := s.x.features.At(int(n - 1))
		s.hits = append(s.hits[:0], hit{0, f.Extent, n - 1, f.Ref, position{}})
		return s.hits
	}
	if _, ok := country.Lookup(p); !ok {
		return nil
	}
	for _, reach := range [...]float64{10_000, 100_000, math.Ceil(math.Pi * earthRadius)} {
		s.reset(s.x, s.o, 1, reach*100)
		s.within = a.within
		s.open(treeSettlements)
		if hits := s.run(); len(hits) > 0 {
			return hits
		}
	}
	return nil
}

// describe turns hits into places. All their text is one string, cut into parts.
func (s *search) describe(hits []hit, req *Request, a *surroundings) *Result {
	s.text.reset()
	around := s.writeSurroundings(a)
	var spans [MaxSize]placeSpans
	for i := range hits {
		spans[i] = s.write(&hits[i], req.Categories, around)
	}
	text := string(s.text.bytes)
	places := make([]Place, len(hits))
	for i := range hits {
		places[i] = Place{
			ID: spans[i].id.of(text), Name: spans[i].name.of(text), DisplayName: spans[i].display.of(text),
			Category: spans[i].category.of(text), Type: spans[i].kind.of(text),
			Location: req.Point, Distance: hits[i].centimetres / 100,
			Address: Address{
				HouseNumber: spans[i].houseNumber.of(text), Street: spans[i].street.of(text), Suburb: spans[i].suburb.of(text),
				City: spans[i].city.of(text), State: spans[i].state.of(text), Postcode: spans[i].postcode.of(text),
				Country: spans[i].country.of(text), CountryCode: a.country.Code,
			},
		}
		if hits[i].at != (position{}) {
			places[i].Location = s.o.location(hits[i].at)
		}
	}
	return &Result{Places: places}
}

// placeSpans are the parts of a place in the text.
type placeSpans struct {
	id, name, display, category, kind                           span
	houseNumber, street, suburb, city, state, postcode, country span
}

// writeSurroundings writes what all places of an answer have in common.
func (s *search) writeSurroundings(a *surroundings) placeSpans {
	x, t := s.x, &s.text
	p := placeSpans{suburb: t.add(x.bytes(a.suburb.name)), city: t.add(x.bytes(a.city.name)), state: t.add(x.bytes(a.state.name)),
		postcode: t.add(x.bytes(a.postcode))}
	if a.countryLabel.name != 0 {
		p.country = t.add(x.bytes(a.countryLabel.name))
	} else {
		p.country = t.addString(a.country.Name)
	}
	return p
}

// write writes the text of a place; p has that of its surroundings.
func (s *search) write(h *hit, categories []string, p placeSpans) placeSpans {
	x, t := s.x, &s.text
	run := x.features.Range(int(h.feature), int(h.feature)+2)
	f, next := &run[0], &run[1]
	p.id = t.id(f.Ref)
	p.name = t.add(x.bytes(f.Name))
	kind := s.matching(x.pairs.Range(int(f.Pairs), int(next.Pairs)), categories)
	p.category, p.kind = t.add(x.bytes(kind.Key)), t.add(x.bytes(kind.Value))
	if f.Address != 0 {
		own := x.addresses.At(int(f.Address - 1))
		p.houseNumber, p.street = t.add(x.bytes(own.HouseNumber)), t.add(x.bytes(own.Street))
		t.replace(&p.suburb, x.bytes(own.Suburb))
		t.replace(&p.city, x.bytes(own.City))
		t.replace(&p.postcode, x.bytes(own.Postcode))
		if p.state.from == p.state.to { // addr:state is an abbreviation more often than not: the polygon knows better
			t.replace(&p.state, x.bytes(own.State))
		}
	}
	p.display = t.join(p.name, p.suburb, p.city, p.state, p.country)
	return p
}

// matching returns the pair that a feature is presented as: the first, or the first that a filter asks for.
func (s *search) matching(pairs []pair, categories []string) pair {
	if len(categories) == 0 {
		return pairs[0]
	}
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

// textBuffer collects the text of an answer.
type textBuffer struct{ bytes []byte }

// span is a part of it.
type span struct{ from, to int }

func (s span) of(text string) string { return text[s.from:s.to] }

func (t *textBuffer) reset() { t.bytes = t.bytes[:0] }

func (t *textBuffer) add(s []byte) span {
	from := len(t.bytes)
	t.bytes = append(t.bytes, s...)
	return span{from, len(t.bytes)}
}

// replace writes a text in place of another, unless it is empty.
func (t *textBuffer) replace(p *span, s []byte) {
	if len(s) > 0 {
		*p = t.add(s)
	}
}

func (t *textBuffer) addString(s string) span {
	from := len(t.bytes)
	t.bytes = append(t.bytes, s...)
	return span{from, len(t.bytes)}
}

var kindNames = [...]string{extract.KindNode: "node:", extract.KindWay: "way:", extract.KindRelation: "relation:"}

func (t *textBuffer) id(ref uint64) span {
	from := len(t.bytes)
	t.bytes = append(t.bytes, kindNames[ref&3]...)
	t.bytes = strconv.AppendInt(t.bytes, int64(ref)>>2, 10)
	return span{from, len(t.bytes)}
}

// join writes parts with commas between them, but none that is already there, be it as a part of a part: in
// "Bear, Delaware" the state is named.
func (t *textBuffer) join(parts ...span) span {
	from := len(t.bytes)
	for _, p := range parts {
		if p.from == p.to || t.repeats(from, p) {
			continue
		}
		if len(t.bytes) > from {
			t.bytes = append(t.bytes, ", "...)
		}
		t.bytes = append(t.bytes, t.bytes[p.from:p.to]...)
	}
	return span{from, len(t.bytes)}
}

// repeats tells whether a part stands between commas in the text that begins somewhere, ignoring case.
func (t *textBuffer) repeats(from int, p span) bool {
	part := t.bytes[p.from:p.to]
	for rest := t.bytes[from:]; len(rest) >= len(part); {
		if bytes.EqualFold(rest[:len(part)], part) && (len(rest) == len(part) || bytes.HasPrefix(rest[len(part):], comma)) {
			return true
		}
		i := bytes.Index(rest, comma)
		if i < 0 {
			break
		}
		rest = rest[i+len(comma):]
	}
	return false
}

var comma = []byte(", ")
