package search

import (
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
)

// The rank of a document is the sum of
//
//   - how well its words match: 0 to 1. The words of the query count by their weights, in the name, the context, the
//     category or the house number; a small part is how much of the name the query has.
//   - its importance: 0 to importanceWeight.
//   - its proximity: 0 to proximityWeight.
const (
	coverWeight      = .2 // of the text
	importanceWeight = .2
	proximityWeight  = .3
	otherName        = .97 // the text of names that are not the usual one
	otherOrder       = .99 // of names with the words in another order
	categoryName     = .9
	// A result must match at least leastText, and almostLeast of the text of the best one.
	leastText, almostLeast = .35, .7
)

// found is a document that was found.
type found struct {
	document uint32
	name     uint32 // the usual one
	score    geocoding.Score
	q        qualities
	matched  float32 // the part of the words that it matches, without house numbers: 0 to 1
	house
}

// rank looks at the documents of the candidates, those with the best names first.
func (s *searcher) rank() {
	s.best = s.best[:0]
	s.boundCandidates()
	visited, limit, scanned := 0, fewDocuments, false
	for b, list := range s.buckets {
		for _, i := range list {
			c := &s.candidates[i]
			if scanned && c.kind != NameOther || s.hopelessName(c) {
				continue
			}
			if visited += int(c.count); visited > limit && limit == fewDocuments {
				if limit = maxVisited; s.left(b)*scanShare > s.documents.Len() {
					s.scan(1-float32(b-1)/(bucketCount-1), false) // no bound of the group is above that
					scanned = true                                // the tree has only the usual names
				}
			}
			if visited <= limit && (!scanned || c.kind == NameOther) {
				s.visitDocuments(c)
			}
		}
	}
}

// hopelessName reports whether no document of a candidate can be a result.
func (s *searcher) hopelessName(c *candidate) bool {
	return s.hopeless(c.bound, importanceWeight*float64(c.greatest)/math.MaxUint8+s.nearest)
}

// left counts the documents of the candidates in a bucket and all later ones that may be results.
func (s *searcher) left(bucket int) (n int) {
	for _, list := range s.buckets[bucket:] {
		for _, i := range list {
			if c := &s.candidates[i]; !s.hopelessName(c) {
				n += int(c.count)
			}
		}
	}
	return n
}

// bucketCount is the number of groups of candidates by their bounds. Groups are not sorted.
const bucketCount = 64

// boundCandidates computes how well the documents of each candidate can match: another word of the query may be in a
// context, or a house number.
func (s *searcher) boundCandidates() {
	var context qualities
	for i := range s.entities.values {
		context.raise(&s.entities.values[i])
	}
	if s.aroundPlace {
		context.raise(&s.place.q)
	}
	for i := range s.buckets {
		s.buckets[i] = s.buckets[i][:0]
	}
	for i := range s.candidates {
		c := &s.candidates[i]
		q := c.q
		q.raise(&context)
		if c.houses {
			q = *s.withHouses(&q)
		}
		if c.isPlace {
			s.addPostcodes(&q)
		}
		c.bound = s.text(c, &q)
		bucket := bucketCount - 1 - int(min(c.bound, 1)*(bucketCount-1))
		s.buckets[bucket] = append(s.buckets[bucket], uint32(i))
	}
}

// text returns the text score of a candidate whose document has some qualities.
func (s *searcher) text(c *candidate, q *qualities) float32 {
	text := s.matched(q) * (1 - coverWeight*(1-c.cover)) * c.order
	switch c.kind {
	case NameOther:
		text *= otherName
	case NameCategory:
		text *= categoryName
	}
	return text
}

// matched returns the part of the query that has been matched.
func (s *searcher) matched(q *qualities) float32 {
	sum := float32(0)
	for i := range s.tokens {
		sum += s.tokens[i].weight * float32(q[i])
	}
	return sum / (s.weight * sameWord)
}

// withHouses returns the qualities if the house numbers were matched.
func (s *searcher) withHouses(q *qualities) *qualities {
	with := *q
	for i := range s.tokens {
		if s.tokens[i].isHouse {
			with[i] = sameWord
		}
	}
	return &with
}

// addPostcodes takes numbers for postcodes of a place: which ones are in it is unknown.
func (s *searcher) addPostcodes(q *qualities) {
	for i := range s.tokens {
		if t := &s.tokens[i]; t.Number && len(t.Text) >= minPlacePostcode && q[i] == 0 {
			q[i] = placePostcode
		}
	}
}

// hopeless reports whether a document with a text score and other scores cannot be a result.
func (s *searcher) hopeless(text float32, others float64) bool {
	return text < leastText || s.full() && float64(text)+others <= s.worst() ||
		len(s.best) > 0 && float64(text) < almostLeast*s.best[0].score.Text
}

// visitDocuments looks at the documents of a candidate.
func (s *searcher) visitDocuments(c *candidate) {
	r := s.record(c.name)
	r.at = int(c.at)
	d := uint32(0)
	for range c.count {
		d += r.uint()
		s.visitDocument(c, d)
	}
}

// visitDocument ranks a document under one of its names.
func (s *searcher) visitDocument(c *candidate, number uint32) {
	d := s.documents.At(int(number))
	if s.query.Bound != nil && !s.query.Within(geometry.Coord{X: d.X, Y: d.Y}.Point()) {
		return
	}
	box := geo.Box{MinX: d.X, MinY: d.Y, MaxX: d.X, MaxY: d.Y}
	f := found{document: number, name: d.Name}
	f.score.Importance = importanceWeight * float64(d.Importance) / math.MaxUint8
	isPlace := d.Layer >= uint8(geocoding.LayerCountry) && d.Layer <= uint8(geocoding.LayerLocality)
	if !s.aroundPlace || !isPlace { // what is wanted is near the place
		f.score.Proximity = s.proximity(&box)
	}
	if s.hopeless(c.bound, f.score.Importance+f.score.Proximity) {
		return
	}
	q := c.q
	q.raise(s.contextOf(d.Context, d.Category))
	if isPlace {
		s.addPostcodes(&q)
	}
	if d.Houses != 0 {
		f.house = s.findHouse(d, &q)
	}
	if s.aroundPlace {
		nearness := s.place.at.proximity(aroundScale, &box)
		for i := range s.tokens {
			if q[i] == 0 {
				q[i] = quality(nearness * float64(s.place.q[i]) * aroundQuality)
			}
		}
	}
	f.score.Text = float64(s.text(c, &q))
	f.score.Total = f.score.Text + f.score.Importance + f.score.Proximity
	if s.hopeless(float32(f.score.Text), f.score.Importance+f.score.Proximity) {
		return
	}
	if !s.wanted(&f, d) {
		if f.feature == 0 {
			return
		}
		if f.house = (house{}); !s.wanted(&f, d) { // the street of a house
			return
		}
	}
	f.q, f.matched = q, s.matched(s.withHouses(&q))
	s.keep(f, d)
}

// namedPlace is a settlement that the query names.
type namedPlace struct {
	weight     float32 // of its words that the best result lacks; 0 if there is no such place
	importance uint8
	at         focus
	q          qualities
}

// findPlace finds the settlement with most of the words that the best result lacks; or else the best result, if it is a
// settlement and lacks words that something has.
func (s *searcher) findPlace() {
	s.place = namedPlace{}
	for i := range s.candidates {
		c := &s.candidates[i]
		if !c.isPlace {
			continue
		}
		weight := float32(0)
		for i := range s.tokens {
			if len(s.best) == 0 || s.best[0].q[i] == 0 {
				weight += s.tokens[i].weight * float32(c.q[i])
			}
		}
		if weight == 0 || weight < s.place.weight {
			continue
		}
		r := s.record(c.name)
		r.at = int(c.at)
		n := uint32(0)
		for range c.count {
			n += r.uint()
			d := s.documents.At(int(n))
			if l := geocoding.Layer(d.Layer); l >= geocoding.LayerCity && l <= geocoding.LayerLocality &&
				(weight > s.place.weight || d.Importance > s.place.importance) {
				s.place = namedPlace{weight, d.Importance, newFocus(geometry.Coord{X: d.X, Y: d.Y}), c.q}
			}
		}
	}
	if s.place.weight > 0 || len(s.best) == 0 {
		return
	}
	best := &s.best[0]
	d := s.documents.At(int(best.document))
	if l := geocoding.Layer(d.Layer); l < geocoding.LayerCity || l > geocoding.LayerLocality {
		return
	}
	for i := range s.tokens {
		if t := &s.tokens[i]; t.known && best.q[i] == 0 {
			s.place = namedPlace{t.weight, d.Importance, newFocus(geometry.Coord{X: d.X, Y: d.Y}), best.q}
		}
	}
}

const (
	// wholeName is the least cover of a name of which nothing that matters is missing.
	wholeName = .85
	// Around a place, what is aroundScale metres away matches half as well as what is in it, at most aroundQuality.
	aroundScale, aroundQuality = 8000, .9
)

// contextOf returns the qualities of a context and a category.
func (s *searcher) contextOf(context uint32, category uint8) *qualities {
	at := (context<<8 + uint32(category)) * hashFactor >> 20 % uint32(len(s.cache))
	entry := &s.cache[at]
	if entry.context == context && entry.category == category && entry.query == s.queries {
		return &entry.q
	}
	*entry = cached{context: context, category: category, query: s.queries}
	r := reader{data: s.contexts.Range(int(context), min(int(context)+contextBytes, s.contexts.Len())), at: 3}
	entity := uint32(0)
	for range r.uint() {
		entity += r.uint()
		if q := s.entities.get(entity); q != nil {
			entry.q.raise(q)
		}
	}
	if category > 0 {
		if q := s.entities.get(uint32(category - 1)); q != nil {
			entry.q.raise(q)
		}
	}
	return &entry.q
}

// contextBytes is the most that a context takes: a country and at most 17 entities, see the compiler.
const contextBytes = 3 + 18*5

// cached is the qualities of a context in a query.
type cached struct {
	query    uint32
	context  uint32
	category uint8
	q        qualities
}

const (
	// minPlacePostcode is the fewest digits of a number that is not taken for a house number after a place.
	minPlacePostcode = 4
	// placePostcode is the quality of a postcode after the name of a place.
	placePostcode = 90
)

// full reports whether there are as many results as wanted.
func (s *searcher) full() bool { return len(s.best) == s.size }

// worst is the rank of the last result.
func (s *searcher) worst() float64 { return s.best[len(s.best)-1].score.Total }

// keep inserts a document in order. Of several that are the same to a user, it keeps the best.
func (s *searcher) keep(f found, d *Document) {
	for i := range s.best {
		if o := &s.best[i]; s.same(o, &f, d) {
			if o.score.Total >= f.score.Total {
				return
			}
			s.best = slices.Delete(s.best, i, i+1)
			break
		}
	}
	i, _ := slices.BinarySearchFunc(s.best, f, func(a, b found) int {
		switch {
		case a.score.Total > b.score.Total:
			return -1
		case a.score.Total < b.score.Total || a.document > b.document:
			return 1
		}
		return -1
	})
	if i >= s.size {
		return
	}
	if s.full() {
		s.best = s.best[:s.size-1]
	}
	s.best = slices.Insert(s.best, i, f)
}

// samePlace is the distance for places, by their layers.
var samePlace = [...]float64{geocoding.LayerCountry: 3e6, geocoding.LayerState: 400e3, geocoding.LayerCounty: 80e3,
	geocoding.LayerCity: 20e3, geocoding.LayerDistrict: 5e3, geocoding.LayerLocality: 3e3}

// The greatest distances in metres of two documents with one name and layer that are one thing: the parts of a street
// in a city, a city as a node and as an area, a building and the shop in it.
const (
	sameStreet = 5_000
	sameThing  = 250
)

// same reports whether two documents are one thing to a user.
func (s *searcher) same(o, f *found, d *Document) bool {
	if o.document == f.document {
		return true
	}
	other := s.documents.At(int(o.document))
	if o.name != f.name || other.Layer != d.Layer || o.house != f.house {
		return false
	}
	var limit float64
	switch layer := geocoding.Layer(d.Layer); layer {
	default:
		limit = samePlace[layer]
	case geocoding.LayerOther, geocoding.LayerHouse:
		limit = sameThing
		if other.Category != d.Category {
			return false
		}
	case geocoding.LayerStreet:
		limit = sameStreet
	}
	return geometry.Distance(geometry.Coord{X: d.X, Y: d.Y}, geometry.Coord{X: other.X, Y: other.Y}) <= limit
}
