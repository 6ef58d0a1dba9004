package search

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"unsafe"

	"github.com/blevesearch/vellum"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/search"
	"github.com/mapsedge/caddy-maps/internal/search/words"
)

var errTooLarge = errors.New("the extract has too many names for a search index: build without one (--no-search)")

// write writes the sections.
func (b *builder) write(w *region.Writer) error {
	order, ranks := b.sortDocuments()
	pairs := b.pairs.Slice()
	for i := range pairs {
		if !pairs[i].entity {
			pairs[i].number = ranks[pairs[i].number]
		}
	}
	b.sortPairs()
	terms, numbers := b.sortTerms()
	return cmp.Or(b.writeHouses(w), b.writeDocuments(w, order), b.writeNames(w, order, numbers),
		b.writeTerms(w, terms, numbers),
		b.contexts.FreeIndex(), b.documents.Free(), b.terms.Free(), b.names.Free(), b.rests.Free(), b.pairs.Free())
}

// sortDocuments returns the documents along a Hilbert curve, and the place of each in that order.
func (b *builder) sortDocuments() (order, ranks []uint32) {
	all := b.documents.Slice()
	places := make([]uint64, len(all))
	order, ranks = make([]uint32, len(all)), make([]uint32, len(all))
	for i := range all {
		places[i], order[i] = geo.HilbertOfPosition(all[i].X, all[i].Y), uint32(i)
	}
	slices.SortFunc(order, func(i, j uint32) int { return cmp.Or(cmp.Compare(places[i], places[j]), cmp.Compare(i, j)) })
	for rank, i := range order {
		ranks[i] = uint32(rank)
	}
	return order, ranks
}

// writeDocuments writes the documents, and the tree over them.
func (b *builder) writeDocuments(w *region.Writer, order []uint32) error {
	out := w.Spool(search.SectionDocuments, int(unsafe.Sizeof(search.Document{})))
	var level []search.Bound
	for group := range slices.Chunk(order, geo.TreeFanout) {
		bound := search.Bound{Box: geo.EmptyBox}
		for _, i := range group {
			d := &b.documents.Slice()[i]
			bound.Box.ExtendTo(d.X, d.Y)
			bound.Importance = max(bound.Importance, uint32(d.Importance))
			if err := region.Append(out, d.Document); err != nil {
				return err
			}
		}
		level = append(level, bound)
	}
	if len(order) <= geo.TreeFanout {
		level = nil
	}
	bounds := level
	for len(level) > geo.TreeFanout {
		var next []search.Bound
		for group := range slices.Chunk(level, geo.TreeFanout) {
			bound := group[0]
			for _, g := range group[1:] {
				bound.Box.Extend(g.Box)
				bound.Importance = max(bound.Importance, g.Importance)
			}
			next = append(next, bound)
		}
		bounds, level = append(bounds, next...), next
	}
	region.Add(w, search.SectionBounds, bounds)
	region.Add(w, search.SectionContexts, b.contexts.Bytes())
	return nil
}

// writeHouses writes the houses, and tells the documents where theirs are.
func (b *builder) writeHouses(w *region.Writer) error {
	out := w.Spool(search.SectionHouses, 1)
	_, err := out.Write([]byte{0}) // no document's houses are at 0
	var list []search.House
	document := uint32(0)
	flush := func() error {
		if len(list) == 0 {
			return nil
		}
		if out.Len() > math.MaxUint32 {
			return errTooLarge
		}
		b.documents.Slice()[document].Houses = uint32(out.Len())
		_, err := out.Write(search.AppendHouses(nil, list))
		list = list[:0]
		return err
	}
	return cmp.Or(err, b.assigned.Each(func(h *onDocument) (err error) {
		if h.document != document {
			err = flush()
			document = h.document
		}
		entry := search.House{Number: h.number, Rest: b.rests.Text(h.rest), Feature: h.feature}
		if h.context != b.documents.Slice()[document].Context {
			entry.Context = h.context
		}
		list = append(list, entry)
		return err
	}), flush())
}

// sortTerms returns the terms in alphabetical order, by their temporary numbers, and the final number of each.
func (b *builder) sortTerms() (sorted, numbers []uint32) {
	numbers = make([]uint32, b.terms.Len())
	for i := 1; i < len(numbers); i++ {
		sorted = append(sorted, uint32(i))
	}
	slices.SortFunc(sorted, func(i, j uint32) int { return bytes.Compare(b.terms.Bytes(i), b.terms.Bytes(j)) })
	for i, t := range sorted {
		numbers[t] = uint32(i)
	}
	return sorted, numbers
}

// writeNames writes the records of names.
func (b *builder) writeNames(w *region.Writer, order, numbers []uint32) error {
	out, offsets := w.Spool(search.SectionNames, 1), w.Spool(search.SectionOffsets, 4)
	pairs := b.pairs.Slice()
	var n search.Name
	var data []byte
	for i := range uint32(b.names.Len() - 1) {
		n = search.Name{Terms: b.termsOf(i, numbers, n.Terms[:0]), Entities: n.Entities[:0], Documents: n.Documents[:0]}
		n.Kind = min(search.NameKind(b.names.Bytes(i + 1)[0]), search.NameCategory)
		for len(pairs) > 0 && pairs[0].name == i {
			if p := pairs[0]; p.entity {
				n.Entities = append(n.Entities, p.number)
			} else if d := n.Documents; len(d) == 0 || d[len(d)-1] != p.number {
				n.Documents = append(d, p.number)
				d := &b.documents.Slice()[order[p.number]]
				n.Importance, n.HasHouses = max(n.Importance, d.Importance), n.HasHouses || d.Houses != 0
			}
			pairs = pairs[1:]
		}
		if out.Len() > math.MaxUint32 {
			return errTooLarge
		}
		data = n.Append(data[:0])
		_, err := out.Write(data)
		if err = cmp.Or(region.Append(offsets, uint32(out.Len()-int64(len(data)))), err); err != nil {
			return err
		}
	}
	return region.Append(offsets, uint32(out.Len()))
}

// termsOf appends the terms of a name.
func (b *builder) termsOf(name uint32, numbers, terms []uint32) []uint32 {
	key := b.names.Bytes(name + 1)
	if key[0] > byte(search.NameCategory) {
		return terms // the documents of a category
	}
	for key = key[1:]; len(key) > 0; {
		t, n := binary.Uvarint(key)
		terms, key = append(terms, numbers[t]), key[n:]
	}
	return terms
}

// writeTerms writes the terms, their weights and the names that have them.
func (b *builder) writeTerms(w *region.Writer, sorted, numbers []uint32) error {
	type posting struct{ term, name uint32 }
	postings := scratch.NewSorter(b.dir, "search-postings", b.dir.SortMemory(), func(a, b posting) int {
		return cmp.Or(cmp.Compare(a.term, b.term), cmp.Compare(a.name, b.name))
	})
	var terms []uint32
	for i := range uint32(b.names.Len() - 1) {
		terms = b.termsOf(i, numbers, terms[:0])
		for _, t := range terms {
			if err := postings.Add(posting{t, i}); err != nil {
				return err
			}
		}
	}
	transducer, weights := w.Spool(search.SectionTerms, 1), w.Spool(search.SectionWeights, 1)
	out, lists := w.Spool(search.SectionPostings, 1), w.Spool(search.SectionLists, 4)
	fst, err := vellum.New(transducer, nil)
	if err != nil {
		return err
	}
	term, list, data := uint32(0), []uint32(nil), []byte(nil)
	flush := func() error {
		text := b.terms.Bytes(sorted[term])
		data = search.AppendList(data[:0], list)
		if out.Len()+int64(len(data)) > math.MaxUint32 {
			return errTooLarge
		}
		err := cmp.Or(fst.Insert(text, uint64(term)), region.Append(lists, uint32(out.Len())),
			region.Append(weights, weightOf(string(text), len(list), b.names.Len())))
		_, failed := out.Write(data)
		list, term = list[:0], term+1
		return cmp.Or(err, failed)
	}
	err = postings.Each(func(p *posting) (err error) {
		for err == nil && term < p.term {
			err = flush()
		}
		if len(list) == 0 || list[len(list)-1] != p.name {
			list = append(list, p.name)
		}
		return err
	})
	for err == nil && int(term) < len(sorted) {
		err = flush()
	}
	return cmp.Or(err, region.Append(lists, uint32(out.Len())), fst.Close())
}

const (
	// leastWeight is the weight of the commonest words, fillerWeight that of words that queries leave out.
	leastWeight, fillerWeight = 40, 16
)

// weightOf returns the weight of a term that n of all names have: it is less the more names there are.
func weightOf(term string, n, all int) uint8 {
	if words.Filler(term) {
		if len(term) == 1 { // it may be a direction: E Main Street
			return leastWeight
		}
		return fillerWeight
	}
	rarity := 1 - math.Log1p(float64(n-1))/math.Log1p(float64(all))
	return uint8(leastWeight + math.Round(rarity*(math.MaxUint8-leastWeight)))
}

// compareHouses orders the houses of a document by number; of several with the same one, those that are nothing else
// first.
func (b *builder) compareHouses(x, y onDocument) int {
	bare := 0
	if x.bare != y.bare {
		if bare = 1; x.bare {
			bare = -1
		}
	}
	return cmp.Or(cmp.Compare(x.document, y.document), cmp.Compare(x.number, y.number),
		bytes.Compare(b.rests.Bytes(x.rest), b.rests.Bytes(y.rest)), bare, cmp.Compare(x.feature, y.feature))
}
