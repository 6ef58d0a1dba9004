package search

import (
	"encoding/binary"

	"github.com/mapsedge/caddy-maps/internal/geo"
)

// The sections of a region file for search. Documents, names and terms are numbered from 0.
const (
	SectionTerms     = "search.terms"     // bytes: a finite state transducer of package vellum from terms to their numbers
	SectionWeights   = "search.weights"   // bytes: of each term, its weight
	SectionLists     = "search.lists"     // []uint32: of each term, where its list begins, and the end of the last one
	SectionPostings  = "search.postings"  // bytes: lists of names, see AppendList
	SectionOffsets   = "search.offsets"   // []uint32: of each name, where its record begins, and the end of the last one
	SectionNames     = "search.names"     // bytes: records of names, see Name.Append
	SectionDocuments = "search.documents" // []Document: along a Hilbert curve
	SectionBounds    = "search.bounds"    // []Bound: the nodes of a tree over the documents, level by level, see geo.Tree
	SectionContexts  = "search.contexts"  // bytes: see AppendContext
	SectionHouses    = "search.houses"    // bytes: houses of streets and places, see House
)

// Document is what a search finds: a place, a street, a point of interest. Houses are parts of their streets.
type Document struct {
	X, Y       int32 // a position on it, in 1e-7 degrees
	Feature    uint32
	Name       uint32 // the usual one
	Context    uint32 // where it begins in the contexts
	Houses     uint32 // where they begin in the houses; 0 if there are none
	Importance uint8  // 0 to 255
	Layer      uint8  // geocoding.Layer
	Category   uint8  // index in words.Categories + 1, 0 for none
	Part       uint8  // geocoding.Part: of the feature's address, if the document is not the feature
}

// Bound is what documents have in common.
type Bound struct {
	Box        geo.Box
	Importance uint32 // the greatest
}

// Name is a name and what has it. Names of categories have no documents: those of category i are the documents of name
// i, which has no terms.
type Name struct {
	Kind  NameKind
	Terms []uint32 // in the order of the words
	// Entities are the parts of contexts that have the name, ascending.
	Entities []uint32
	// Documents are those that have the name, ascending.
	Documents []uint32
	// Importance is the greatest of the documents, HasHouses says that some of them have houses.
	Importance uint8
	HasHouses  bool
}

// NameKind tells usual names from others.
type NameKind uint8

const (
	NameUsual    NameKind = iota
	NameOther             // in another language, old, short …
	NameCategory          // of a category
)

// nameHasHouses is a bit beside the kind of a name.
const nameHasHouses = 1 << 7

// Append appends the record of a name.
func (n *Name) Append(data []byte) []byte {
	head := byte(n.Kind)
	if n.HasHouses {
		head |= nameHasHouses
	}
	data = append(data, head, n.Importance)
	data = binary.AppendUvarint(data, uint64(len(n.Terms)))
	for _, t := range n.Terms {
		data = binary.AppendUvarint(data, uint64(t))
	}
	return AppendList(AppendList(data, n.Entities), n.Documents)
}

// AppendList appends a list of ascending numbers: how many there are, then the differences.
func AppendList(data []byte, list []uint32) []byte {
	data = binary.AppendUvarint(data, uint64(len(list)))
	last := uint32(0)
	for _, v := range list {
		data = binary.AppendUvarint(data, uint64(v-last))
		last = v
	}
	return data
}

// AppendContext appends where documents are: the alpha-3 code of the country, or zeros, and the ascending numbers of
// entities: areas, settlements, postcodes and streets that an address may name. Those below the number of
// words.Categories are categories, which no context has.
func AppendContext(data []byte, country [3]byte, entities []uint32) []byte {
	return AppendList(append(data, country[:]...), entities)
}

// House is a numbered house.
type House struct {
	Number  uint32
	Rest    string // of the number: the "a" of 12a
	Feature uint32
	Context uint32 // where its context begins if it is not that of the document, else 0
}

// AppendHouses appends the houses of a document, ordered by number and rest.
func AppendHouses(data []byte, houses []House) []byte {
	data = binary.AppendUvarint(data, uint64(len(houses)))
	number, feature := uint32(0), int64(0)
	for _, h := range houses {
		data = binary.AppendUvarint(data, uint64(h.Number-number))
		head := byte(len(h.Rest))
		if h.Context != 0 {
			head |= houseHasContext
		}
		data = append(append(data, head), h.Rest...)
		data = binary.AppendVarint(data, int64(h.Feature)-feature)
		if h.Context != 0 {
			data = binary.AppendUvarint(data, uint64(h.Context))
		}
		number, feature = h.Number, int64(h.Feature)
	}
	return data
}

const (
	// MaxHouseRest is the most bytes of the rest of a house number.
	MaxHouseRest = 31
	// houseHasContext is a bit beside the length of the rest.
	houseHasContext = 1 << 7
)
