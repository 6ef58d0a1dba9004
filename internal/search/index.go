package search

import (
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/blevesearch/vellum"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Index answers searches from the search sections of a region file. It is safe for concurrent use while the caller
// holds a reference to the file. Its results outlive the file.
type Index struct {
	places    *geocoding.Index
	raw       region.View[byte] // the terms
	weights   region.View[byte]
	lists     region.View[uint32]
	postings  region.View[byte]
	offsets   region.View[uint32]
	names     region.View[byte]
	documents region.View[Document]
	bounds    region.View[Bound]
	contexts  region.View[byte]
	houses    region.View[byte]
	tree      geo.Tree

	terms   atomic.Pointer[vellum.FST]
	scratch sync.Pool // *searcher
}

// Open finds the search index in a region file whose places are open. It reads only the section table. Without an index
// all results are empty.
func Open(f *region.File, places *geocoding.Index) (*Index, error) {
	x := &Index{places: places}
	x.scratch.New = func() any { return newSearcher(x) }
	for _, err := range []error{
		open(f, &x.raw, SectionTerms), open(f, &x.weights, SectionWeights), open(f, &x.lists, SectionLists),
		open(f, &x.postings, SectionPostings), open(f, &x.offsets, SectionOffsets), open(f, &x.names, SectionNames),
		open(f, &x.documents, SectionDocuments), open(f, &x.bounds, SectionBounds),
		open(f, &x.contexts, SectionContexts), open(f, &x.houses, SectionHouses),
	} {
		if err != nil {
			return nil, err
		}
	}
	if n := x.weights.Len(); x.lists.Len() != n+1 && x.raw.Len() > 0 {
		return nil, fmt.Errorf("%s: the search index has %d lists for %d terms", f.Path(), x.lists.Len(), n)
	}
	x.tree = geo.NewTree(uint32(x.documents.Len()))
	return x, nil
}

func open[T any](f *region.File, v *region.View[T], section string) (err error) {
	*v, err = region.Section[T](f, section)
	return err
}

// Empty reports whether the region has no search index.
func (x *Index) Empty() bool { return x.raw.Len() == 0 }

// transducer returns the terms. The first call checks them.
func (x *Index) transducer() (*vellum.FST, error) {
	if t := x.terms.Load(); t != nil {
		return t, nil
	}
	t, err := vellum.Load(x.raw.All())
	if err != nil {
		return nil, err
	}
	x.terms.Store(t)
	return t, nil
}

// reader reads numbers from a section. Reading beyond its end panics, which region.Recover turns into an error.
type reader struct {
	data []byte
	at   int
}

func (r *reader) byte() byte {
	r.at++
	return r.data[r.at-1]
}

func (r *reader) uint() uint32 {
	if b := r.data[r.at]; b < 0x80 {
		r.at++
		return uint32(b)
	}
	v, n := binary.Uvarint(r.data[r.at:])
	if n <= 0 {
		panic(&region.DamageError{Problem: "a number of the search index has no end"})
	}
	r.at += n
	return uint32(v)
}

func (r *reader) int() int64 {
	v, n := binary.Varint(r.data[r.at:])
	if n <= 0 {
		panic(&region.DamageError{Problem: "a number of the search index has no end"})
	}
	r.at += n
	return v
}
