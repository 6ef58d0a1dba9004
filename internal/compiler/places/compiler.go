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

// compiler compiles places. First it makes entries of the features in their own order, and a map of the streets; then
// it puts the entries into their final order, finds out what they do not say of their addresses, and writes them.
type compiler struct {
	data    *objects.Data
	dir     *scratch.Dir
	files   []interface{ Free() error } // all that no section is in
	texts   *classes.Texts
	reader  *classes.Reader
	streets *streets.Map
	wild    []uint32          // keys of what lies in the landscape
	house   []classes.Pair    // what a house is that is nothing else
	ends    map[uint64]uint32 // of lines of interpolation: the street of the line that a house is on, by its ref

	found       *scratch.Array[entry] // in the order of the extract
	order       *scratch.Sorter[ordered]
	entries     *scratch.Array[entry]
	shapes      *scratch.Array[byte]
	pairs       *scratch.Array[classes.Pair] // of each entry: what it is, and its names in other languages
	entrances   *scratch.Array[geometry.Coord]
	areas       *scratch.Array[area]
	settlements *scratch.Array[uint32] // entries
	named       []uint32               // settlements in the order of their names
	access      *scratch.Array[streets.Access]
	// What entries say themselves, for others to find:
	buildings, numbered, doors *streets.Index[uint32]
	houses                     *streets.Index[neighbour]

	out *sections.Writer
}

// Write adds the places of an extract to a region: everything that can be found, and the areas and settlements that
// serve addresses. The tiles that these areas touch are added to d.Tiles. The same data makes the same sections. What
// grows with the data is kept in dir, which must stay until the region is committed.
func Write(w *region.Writer, d *objects.Data, dir *scratch.Dir) error {
	d.Progress.Start("places", 1)
	c, err := newCompiler(d, dir)
	if err != nil {
		return err
	}
	for _, step := range []func() error{c.gather, c.addHouses, c.sort, c.findContexts, c.findAccess, c.derive,
		c.writeFeatures, c.writeTrees, c.writeTerms, c.free} {
		if err := step(); err != nil {
			return err
		}
	}
	c.out.Finish(w)
	return nil
}

func newCompiler(d *objects.Data, dir *scratch.Dir) (*compiler, error) {
	texts := &classes.Texts{Texts: d.Texts}
	c := &compiler{data: d, dir: dir, texts: texts, reader: classes.New(texts), streets: streets.NewMap(dir),
		order: scratch.NewSorter(dir, "order", dir.SortMemory(), compareOrder), ends: map[uint64]uint32{}}
	var err error
	c.out, err = sections.New(dir)
	c.files = append(c.files, c.streets)
	c.found = newArray[entry](c, "found")
	c.entries = newArray[entry](c, "entries")
	c.shapes = newArray[byte](c, "shapes")
	c.pairs = newArray[classes.Pair](c, "pairs")
	c.entrances = newArray[geometry.Coord](c, "doors")
	c.areas = newArray[area](c, "areas")
	c.settlements = newArray[uint32](c, "settlements")
	c.access = newArray[streets.Access](c, "access")
	c.buildings, c.numbered = newIndex[uint32](c, "buildings"), newIndex[uint32](c, "numbered")
	c.doors, c.houses = newIndex[uint32](c, "doors"), newIndex[neighbour](c, "houses")
	for _, k := range wild {
		c.wild = append(c.wild, texts.Number(k))
	}
	c.house = []classes.Pair{{Key: texts.Number("place"), Value: texts.Number("house")}}
	return c, cmp.Or(err, texts.Err)
}

func newArray[T any](c *compiler, name string) *scratch.Array[T] {
	a := scratch.NewArray[T](c.dir, name)
	c.files = append(c.files, a)
	return a
}

func newIndex[T any](c *compiler, name string) *streets.Index[T] {
	x := streets.NewIndex[T](c.dir, name)
	c.files = append(c.files, x)
	return x
}

// free removes the files that no section is in.
func (c *compiler) free() (err error) {
	for _, f := range c.files {
		err = cmp.Or(err, f.Free())
	}
	return err
}
