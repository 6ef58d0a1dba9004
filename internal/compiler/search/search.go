// Package search compiles the search index of a region from its places: documents, their names and where they are. The
// format is that of package internal/search, which reads it. Start with Write.
//
//   - collect.go reads the places, and makes a document of each, except that
//   - streets.go merges the ways of a street, and
//   - houses.go gives houses to their streets;
//   - write.go writes the sections.
package search

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/search"
	"github.com/mapsedge/caddy-maps/internal/search/words"
)

// builder compiles an index. What grows with the extract is in temporary files.
type builder struct {
	dir        *scratch.Dir
	places     *geocoding.Index
	importance []uint8

	terms    *scratch.Texts
	names    *scratch.Texts // each a byte of search.NameKind and the numbers of its terms
	rests    *scratch.Texts // of house numbers
	pairs    *scratch.Array[pair]
	contexts *scratch.StringTable
	tokens   []words.Token
	key      []byte

	entities   uint32
	byFeature  map[uint32]entity
	byText     map[string]uint32
	categories map[string]uint8        // by key=value: index + 1
	used       [math.MaxUint8 + 1]bool // categories of some document

	postcodes map[uint32]*postcode      // by entity
	cities    map[square]map[string]int // how many addresses in a square name a city

	documents *scratch.Array[document]
	lines     *scratch.Sorter[line]
	lists     *scratch.Array[byte] // of names
	houses    *scratch.Array[house]
	assigned  *scratch.Sorter[onDocument]
}

// document is a document being compiled.
type document struct {
	search.Document
	box geo.Box // of all its features
}

// entity is an area or a settlement, with its usual name.
type entity struct {
	number uint32
	name   string
}

// postcode is where a postcode is.
type postcode struct {
	search.Document
	box geo.Box
}

// pair is a name and something that has it.
type pair struct {
	name   uint32
	entity bool
	number uint32 // of an entity or a document
}

// Write adds the search index of a region after its places, whose features have some importance each, and frees
// importance. The same places make the same sections. Temporary files are in dir, which must stay until the region is
// committed.
func Write(ctx context.Context, w *region.Writer, dir *scratch.Dir, importance *scratch.Array[uint8]) (err error) {
	defer func() { err = errors.Join(err, importance.Free()) }()
	draft, err := w.Draft("geo.")
	if err != nil {
		return err
	}
	defer draft.Release()
	places, err := geocoding.Open(draft)
	if err != nil || importance.Len() == 0 {
		return err
	}
	b, err := newBuilder(dir, places, importance.Slice())
	if err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{b.collect, b.nameCategories, b.addPostcodes, b.mergeLines,
		b.assignHouses} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return b.write(w)
}

func newBuilder(dir *scratch.Dir, places *geocoding.Index, importance []uint8) (*builder, error) {
	b := &builder{
		dir: dir, places: places, importance: importance, byFeature: map[uint32]entity{}, byText: map[string]uint32{},
		categories: map[string]uint8{}, postcodes: map[uint32]*postcode{},
		cities:    map[square]map[string]int{},
		pairs:     scratch.NewArray[pair](dir, "search-pairs"),
		documents: scratch.NewArray[document](dir, "search-documents"),
		lines:     scratch.NewSorter(dir, "search-lines", dir.SortMemory(), compareLines),
		houses:    scratch.NewArray[house](dir, "search-houses"),
	}
	b.lists = scratch.NewArray[byte](dir, "search-lists")
	b.assigned = scratch.NewSorter(dir, "search-assigned", dir.SortMemory(), b.compareHouses)
	var failed error
	texts := func(name string) *scratch.Texts {
		t, err := scratch.NewTexts(dir, "search-"+name)
		failed = errors.Join(failed, err)
		return t
	}
	b.terms, b.names, b.rests = texts("terms"), texts("names"), texts("rests")
	var err error
	b.contexts, err = scratch.NewStringTable(dir, "search-contexts")
	if failed = errors.Join(failed, err); failed != nil {
		return nil, failed
	}
	for i, c := range words.Categories() {
		b.categories[c.Key+"="+c.Value] = uint8(i + 1)
		// The documents of a category are those of a name of its own.
		if _, err := b.names.Add(string([]byte{byte(search.NameCategory) + 1, byte(i)})); err != nil {
			return nil, err
		}
	}
	b.entities = uint32(len(words.Categories()))
	return b, nil
}

// middleOf returns the middle of a box.
func middleOf(b *geo.Box) geometry.Coord {
	return geometry.Coord{X: int32((int64(b.MinX) + int64(b.MaxX)) / 2), Y: int32((int64(b.MinY) + int64(b.MaxY)) / 2)}
}

// addPostcodes adds a document for each postcode, in the middle of what has it.
func (b *builder) addPostcodes(context.Context) error {
	for _, entity := range slices.Sorted(maps.Keys(b.postcodes)) {
		p := b.postcodes[entity]
		middle := middleOf(&p.box)
		p.X, p.Y = middle.X, middle.Y
		if err := b.addDocument(&document{p.Document, p.box}, []uint32{p.Name}); err != nil {
			return err
		}
	}
	return nil
}

// nameCategories adds the names of categories that some document has.
func (b *builder) nameCategories(context.Context) error {
	for i, c := range words.Categories() {
		if !b.used[i+1] {
			continue
		}
		for _, text := range c.Names {
			n, err := b.name(search.NameCategory, text)
			if err = cmp.Or(err, b.pairs.Append(pair{name: n - 1, entity: true, number: uint32(i)})); err != nil {
				return err
			}
		}
	}
	return nil
}

// newEntity returns a new entity.
func (b *builder) newEntity() uint32 {
	b.entities++
	return b.entities - 1
}
