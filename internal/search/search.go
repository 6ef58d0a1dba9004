// Package search finds places by text in a region file. Start with Index.Search.
//
// A query is answered in these steps:
//
//   - query.go splits it into words, and finds the terms that each may mean: the word itself, its abbreviations, what
//     it begins, and what it may be a typing error of (fuzzy.go);
//   - names.go finds the names with the rarest of these terms, and what contexts they name;
//   - rank.go ranks the documents that have the best of these names, with their contexts and houses (houses.go), or
//     scan.go where there are too many of them.
//
// If no document matches nearly all words, all of them may have typing errors, and what is wanted may be near the place
// in the query.
package search

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/blevesearch/vellum"
	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/base/heap"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/search/words"
)

// searcher is the state of a search. It is reused, so that searches allocate little.
type searcher struct {
	*Index
	terms     *vellum.FST
	lookup    *vellum.Reader
	iterator  vellum.FSTIterator
	automaton automaton
	any       anyTerm

	query   *geocoding.Query
	near    focus
	scale   float64 // metres at which the proximity is half of the greatest
	nearest float64 // the greatest proximity
	size    int

	words   []words.Token
	tokens  []token
	weight  float32 // of all words
	hits    []hit
	spans   []span
	seen    set    // names
	queries uint32 // counts the uses of cache

	candidates  []candidate
	categories  [math.MaxUint8 + 1]uint32 // of documents with each: index of a candidate + 1
	buckets     [bucketCount][]uint32
	entities    table
	cache       [1 << 10]cached
	place       namedPlace
	aroundPlace bool // documents near it count as well as those in it

	queue heap.Heap[float64, node]
	best  []found
	items []geocoding.Item
}

// Search implements geocoding.Searcher. Its errors are those of ctx and *region.DamageError.
func (x *Index) Search(ctx context.Context, q *geocoding.Query) (result *geocoding.Result, err error) {
	defer region.Recover(&err, region.FaultsPanic())
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s := x.scratch.Get().(*searcher)
	defer s.release()
	if err := s.search(q); err != nil { // of package vellum
		return nil, &region.DamageError{Problem: "the search index: " + err.Error()}
	}
	return s.describe(), nil
}

func newSearcher(x *Index) *searcher { return &searcher{Index: x} }

// release keeps a searcher for the next search, unless it has become large.
func (s *searcher) release() {
	const large = 1 << 17
	s.query = nil
	if cap(s.candidates) <= large {
		s.scratch.Put(s)
	}
}

// enough is the part of the query that a result must match so that no words are taken for misspelled.
const enough = .88

// search finds the best documents.
func (s *searcher) search(q *geocoding.Query) (err error) {
	s.query, s.best = q, s.best[:0]
	if s.Empty() {
		return nil
	}
	if s.terms == nil {
		if s.terms, err = s.transducer(); err != nil {
			return err
		}
		if s.lookup, err = s.terms.Reader(); err != nil {
			return err
		}
	}
	s.size = min(max(q.Limit, 1), geocoding.MaxLimit)
	s.setNear()
	text := q.Text
	s.read(text[:min(len(text), geocoding.MaxQuery)])
	if len(s.tokens) == 0 {
		return nil
	}
	if err := s.expand(q.Autocomplete); err != nil {
		return err
	}
	for i := range s.tokens {
		if t := &s.tokens[i]; !t.known && !(t.isHouse && len(t.Text) < minPostcode) {
			if err := s.addFuzzy(uint8(i), 1, q.Autocomplete); err != nil {
				return err
			}
			if t.known {
				continue
			}
			if err := s.addFuzzy(uint8(i), 2, q.Autocomplete); err != nil {
				return err
			}
		}
	}
	s.run(firstPostings)
	if len(s.best) > 0 && s.best[0].matched >= enough {
		return nil
	}
	for i := range s.tokens {
		if err := s.addFuzzy(uint8(i), 2, q.Autocomplete); err != nil {
			return err
		}
	}
	s.run(allPostings)
	if s.query.Near == nil && (len(s.best) == 0 || s.best[0].matched < enough) {
		if s.findPlace(); s.place.weight > 0 {
			s.aroundPlace, s.near, s.nearest, s.scale = true, s.place.at, proximityWeight, halfway
			s.rank()
		}
	}
	return nil
}

// run finds names within a budget and ranks their documents.
func (s *searcher) run(budget int) {
	s.weight = 0
	for i := range s.tokens {
		s.weight += s.tokens[i].weight
	}
	s.queries++
	s.aroundPlace = false
	s.sortHits()
	if s.find(budget) {
		s.best = s.best[:0]
		s.scan(1, true)
		return
	}
	s.rank()
}

// halfway is the distance in metres at which proximity is half of the greatest, on a map of geocoding.DefaultZoom.
const halfway = 4000

func (s *searcher) setNear() {
	s.nearest = 0
	if s.query.Near == nil {
		return
	}
	zoom := s.query.Zoom
	if zoom == 0 {
		zoom = geocoding.DefaultZoom
	}
	s.nearest = proximityWeight
	s.near = newFocus(geometry.NewCoord(*s.query.Near))
	s.scale = halfway * math.Exp2(geocoding.DefaultZoom-min(max(zoom, 5), 18))
}

// wanted reports whether what was found passes the filters of the query.
func (s *searcher) wanted(f *found, d *Document) bool {
	q := s.query
	if len(q.Countries) > 0 {
		code := s.contexts.Range(int(d.Context), int(d.Context)+3)
		if !slices.Contains(q.Countries, string(code)) {
			return false
		}
	}
	if len(q.Categories) == 0 && q.Keep == nil {
		return true
	}
	layer, number := geocoding.Layer(d.Layer), d.Feature
	switch part := geocoding.Part(d.Part); {
	case f.next != 0:
		return s.asksFor("place", "house", geocoding.LayerHouse)
	case f.feature != 0:
		layer, number = geocoding.LayerHouse, f.feature-1
	case part == geocoding.PartStreet:
		return s.asksFor("place", "street", layer)
	case part == geocoding.PartPostcode:
		return s.asksFor("boundary", "postal_code", layer)
	}
	feature := s.places.Feature(number)
	for key, value := range s.places.Kinds(&feature) {
		if s.asksFor(string(key), string(value), layer) {
			return true
		}
	}
	return false
}

// asksFor reports whether the query asks for a category.
func (s *searcher) asksFor(key, value string, layer geocoding.Layer) bool {
	q := s.query
	return (len(q.Categories) == 0 || slices.ContainsFunc(q.Categories, func(c string) bool {
		return strings.EqualFold(c, key) || strings.EqualFold(c, value)
	})) && (q.Keep == nil || q.Keep(key, value, layer))
}

// describe turns the documents that were found into places.
func (s *searcher) describe() *geocoding.Result {
	if n := len(s.best); n > 0 { // what matches much less than the best is not what is meant
		least := s.best[0].score.Text * almostLeast
		s.best = slices.DeleteFunc(s.best, func(f found) bool { return f.score.Text < least })
	}
	s.items = s.items[:0]
	for i := range s.best {
		s.items = append(s.items, s.itemOf(&s.best[i]))
	}
	result := s.places.Describe(s.items, &geocoding.Request{Languages: s.query.Languages,
		Categories: s.query.Categories, Keep: s.query.Keep, Into: s.query.Into})
	for i := range result.Places {
		p, f := &result.Places[i], &s.best[i]
		d := s.documents.At(int(f.document))
		p.Score, p.Importance, p.Layer = f.score, float64(d.Importance)/math.MaxUint8, geocoding.Layer(d.Layer)
		if f.feature != 0 {
			p.Layer = geocoding.LayerHouse
		}
		if near := s.query.Near; near != nil {
			p.Distance = math.Round(100*geo.Distance(near[1], near[0], p.Location[1], p.Location[0])) / 100
		}
	}
	return result
}

// Position returns where a document is, in degrees.
func (d *Document) Position() orb.Point { return geometry.Coord{X: d.X, Y: d.Y}.Point() }
