package geocoding

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/mapsedge/caddy-maps/internal/country"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Index answers reverse geocoding from the places of a region file. It is safe for concurrent use; whoever uses it holds a
// reference to the file. What it returns is no part of the file and outlives it.
type Index struct {
	file      *region.File
	features  region.View[feature]
	boxes     region.View[box]
	coords    region.View[coord]
	chunks    region.View[chunk]
	pairs     region.View[pair]
	names     region.View[translation]
	addresses region.View[ownAddress]
	places    region.View[place]
	areas     region.View[area]
	trees     region.View[tree]
	items     region.View[uint32]
	branches  region.View[box]
	terms     region.View[term]
	roots     region.View[root]
	nodes     region.View[uint32]
	cells     region.View[uint32]
	contexts  region.View[enclosing]
	text      region.View[byte]

	scratch sync.Pool                       // *search
	country atomic.Pointer[country.Country] // the one that was looked up last: a region has few
}

// Open finds the places in a region file. It reads no more than the section table, so that it costs the same whatever the
// file's size. A file without places opens too: it knows countries only, and answers with no results.
func Open(f *region.File) (*Index, error) {
	x := &Index{file: f}
	x.scratch.New = func() any { return new(search) }
	for _, err := range []error{
		open(f, &x.features, sectionFeatures), open(f, &x.boxes, sectionBoxes), open(f, &x.coords, sectionCoords),
		open(f, &x.chunks, sectionChunks), open(f, &x.pairs, sectionPairs), open(f, &x.names, sectionNames), open(f, &x.addresses, sectionAddresses),
		open(f, &x.places, sectionPlaces), open(f, &x.areas, sectionAreas), open(f, &x.trees, sectionTrees),
		open(f, &x.items, sectionItems), open(f, &x.branches, sectionBranches), open(f, &x.terms, sectionTerms),
		open(f, &x.text, sectionText),
		open(f, &x.roots, sectionRoots), open(f, &x.nodes, sectionNodes), open(f, &x.cells, sectionCells),
		open(f, &x.contexts, sectionContexts),
	} {
		if err != nil {
			return nil, err
		}
	}
	if n := x.trees.Len(); n > 0 && n < fixedTrees {
		return nil, fmt.Errorf("%s: the places have %d search trees, not %d or more", f.Path(), n, fixedTrees)
	}
	return x, nil
}

func open[T any](f *region.File, v *region.View[T], section string) (err error) {
	*v, err = region.Section[T](f, section)
	return err
}

// empty tells that the region has no places.
func (x *Index) empty() bool { return x.trees.Len() == 0 }

// geometry returns what a feature looks like.
func (x *Index) geometry(i uint32) geometry {
	run := x.features.Range(int(i), int(i)+2)
	f, next := &run[0], &run[1]
	g := geometry{shape: f.Shape, box: *x.boxes.At(int(i))}
	if f.Shape == shapePoint {
		return g
	}
	g.coords = x.coords.Range(int(f.Coords), int(next.Coords))
	if f.Chunks >= next.Chunks && len(g.coords) > chunkSegments+1 {
		foreign("a line is too long")
	}
	if f.Chunks < next.Chunks {
		g.chunks = x.chunks.Range(int(f.Chunks), int(next.Chunks))
		boxes := x.branches.Range(int(f.Branches), int(next.Branches))
		g.boxes, g.branches = boxes[:len(g.chunks)], boxes[len(g.chunks):]
	}
	return g
}
