package geocoding

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geo/country"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Index answers reverse geocoding from the places of a region file. It is safe for concurrent use while the caller
// holds a reference to the file. Its results outlive the file.
type Index struct {
	file        *region.File
	blocks      region.View[placefile.Block]
	records     region.View[byte]
	kinds       region.View[byte]
	addresses   region.View[byte]
	text        placefile.Text
	trees       region.View[placefile.Tree]
	terms       region.View[placefile.Term]
	leaves      region.View[placefile.Leaf]
	items       region.View[byte]
	settlements region.View[placefile.Settlement]
	places      region.View[placefile.Place]
	levels      region.View[geo.Box]
	runs        region.View[placefile.Run]
	contexts    placefile.Text

	scratch sync.Pool                       // *search
	country atomic.Pointer[country.Country] // the last one: a region has few
}

// Open finds the places in a region file. It reads only the section table, so its cost does not depend on the size of
// the file. Without places all answers are empty.
func Open(f *region.File) (*Index, error) {
	x := &Index{file: f}
	x.scratch.New = func() any { return new(search) }
	for _, err := range []error{
		open(f, &x.blocks, placefile.SectionBlocks), open(f, &x.records, placefile.SectionRecords),
		open(f, &x.kinds, placefile.SectionKinds), open(f, &x.addresses, placefile.SectionAddresses),
		open(f, &x.text.View, placefile.SectionText), open(f, &x.trees, placefile.SectionTrees),
		open(f, &x.terms, placefile.SectionTerms), open(f, &x.leaves, placefile.SectionLeaves),
		open(f, &x.settlements, placefile.SectionSettled), open(f, &x.places, placefile.SectionPlaces),
		open(f, &x.items, placefile.SectionItems), open(f, &x.levels, placefile.SectionLevels),
		open(f, &x.runs, placefile.SectionRuns), open(f, &x.contexts.View, placefile.SectionContexts),
	} {
		if err != nil {
			return nil, err
		}
	}
	if n := x.trees.Len(); n > 0 && n < placefile.FixedTrees {
		return nil, fmt.Errorf("%s: the places have %d search trees, not %d or more", f.Path(), n, placefile.FixedTrees)
	}
	return x, nil
}

func open[T any](f *region.File, v *region.View[T], section string) (err error) {
	*v, err = region.Section[T](f, section)
	return err
}

// empty reports whether the region has no places.
func (x *Index) empty() bool { return x.trees.Len() == 0 }

// feature is the part of a feature that every visit needs.
type feature struct {
	placefile.Head
	at   int    // of its record
	data []byte // of the record; all of it, mostly
	box  geo.Box
}

// recordBytes is more than most records take.
const recordBytes = 320

// feature reads the beginning of a feature's record.
func (x *Index) feature(n uint32) (f feature) {
	b := x.blocks.At(int(n / placefile.Fanout))
	i := int(n % placefile.Fanout)
	f.at, f.box = int(b.At)+int(b.Offsets[i])<<b.Unit, b.Box(i)
	f.data = slice(&x.records, f.at, recordBytes)
	f.Head = placefile.ReadHead(f.data, b.Shift)
	f.box.MinX, f.box.MinY = f.box.MinX+int32(f.Dx), f.box.MinY+int32(f.Dy)
	return f
}

// geometry returns the geometry of a feature.
func (x *Index) geometry(f *feature) geometry.Geometry {
	return geometry.Of(f.Shape(), f.box, &x.records, f.at+f.Geometry, f.data[min(f.Geometry, len(f.data)):])
}

// details reads at least n bytes of the details of a feature, or all of them.
func (x *Index) details(f *feature, n int) placefile.Reader {
	if f.Details+n <= len(f.data) {
		return placefile.Reader{Data: f.data[f.Details:]}
	}
	return placefile.Reader{Data: slice(&x.records, f.at+f.Details, n)}
}

// slice returns up to n bytes of a section from an offset on.
func slice(v *region.View[byte], from, n int) []byte {
	return v.Range(from, min(from+n, v.Len()))
}
