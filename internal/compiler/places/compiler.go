package places

import (
	"cmp"

	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/compiler/places/classes"
	"github.com/mapsedge/caddy-maps/internal/compiler/places/sections"
	"github.com/mapsedge/caddy-maps/internal/compiler/places/streets"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// compiler compiles places. It makes entries of the features and a map of the streets, sorts the entries, infers the
// missing parts of their addresses, and writes them.
type compiler struct {
	data    *objects.Data
	dir     *scratch.Dir
	texts   *classes.Texts
	reader  *classes.Reader
	streets *streets.Map
	wild    []uint32          // keys of features of the landscape
	house   []classes.Pair    // the kind of a house that has no other
	ends    map[uint64]uint32 // the streets of houses at the ends of interpolation lines, by ref

	order       *scratch.Sorter[entry]
	entries     *scratch.Array[entry]
	shapes      *scratch.Array[byte]
	pairs       *scratch.Array[classes.Pair] // of each entry: its kinds, and its names in other languages
	entrances   *scratch.Array[geometry.Coord]
	areas       *scratch.Array[area]
	settlements *scratch.Array[uint32] // entries
	named       []uint32               // settlements in the order of their names
	access      *scratch.Array[streets.Access]
	importance  *scratch.Array[uint8] // of each entry
	// Indexes of what entries have by themselves:
	buildings, numbered, doors *streets.Index[uint32]
	houses                     *streets.Index[neighbour]

	out *sections.Writer
}

// Write adds the places of an extract to a region: all features, and the areas and settlements of addresses. It adds
// the tiles of these areas to d.Tiles. The same data makes the same sections. Temporary files are in dir, which must
// stay until the region is committed. It returns the importance of each feature, from 0 to 255.
func Write(w *region.Writer, d *objects.Data, dir *scratch.Dir) (importance *scratch.Array[uint8], err error) {
	d.Progress.Start("places", 1)
	c, err := newCompiler(d, dir)
	if err != nil {
		return nil, err
	}
	for _, step := range []func() error{c.gather, c.addHouses, c.sort, c.findContexts, c.findAccess, c.derive,
		c.writeFeatures, c.writeTrees, c.writeTerms} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	c.out.Finish(w)
	return c.importance, free(c.entries, c.shapes, c.pairs, c.entrances, c.areas, c.settlements)
}

func newCompiler(d *objects.Data, dir *scratch.Dir) (*compiler, error) {
	texts := &classes.Texts{Texts: d.Texts}
	out, err := sections.New(dir)
	c := &compiler{
		data: d, dir: dir, texts: texts, reader: classes.New(texts), out: out,
		streets: streets.NewMap(dir), ends: map[uint64]uint32{},
		house:       []classes.Pair{{Key: texts.Number("place"), Value: texts.Number("house")}},
		order:       scratch.NewSorter(dir, "order", dir.SortMemory(), compareEntries),
		entries:     scratch.NewArray[entry](dir, "entries"),
		shapes:      scratch.NewArray[byte](dir, "shapes"),
		pairs:       scratch.NewArray[classes.Pair](dir, "pairs"),
		entrances:   scratch.NewArray[geometry.Coord](dir, "entrances"),
		areas:       scratch.NewArray[area](dir, "areas"),
		settlements: scratch.NewArray[uint32](dir, "settlements"),
		access:      scratch.NewArray[streets.Access](dir, "access"),
		importance:  scratch.NewArray[uint8](dir, "importance"),
		buildings:   streets.NewIndex[uint32](dir, "buildings"),
		numbered:    streets.NewIndex[uint32](dir, "numbered"),
		doors:       streets.NewIndex[uint32](dir, "doors"),
		houses:      streets.NewIndex[neighbour](dir, "houses"),
	}
	for _, k := range wild {
		c.wild = append(c.wild, texts.Number(k))
	}
	return c, cmp.Or(err, texts.Err)
}

// free removes files.
func free(files ...interface{ Free() error }) (err error) {
	for _, f := range files {
		err = cmp.Or(err, f.Free())
	}
	return err
}
