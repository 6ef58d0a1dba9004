package places

import (
	"cmp"

	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/compiler/places/classes"
	"github.com/mapsedge/caddy-maps/internal/compiler/places/sections"
	"github.com/mapsedge/caddy-maps/internal/compiler/places/streets"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
	"github.com/mapsedge/caddy-maps/internal/geocoding/tagging"
	"github.com/mapsedge/caddy-maps/internal/mapdata"
)

// compiler compiles places. First it goes through the features in their own order, which tells what is to become an
// entry, and which streets there are; then it makes the entries in their final order, finds out what they do not say
// of their addresses, and finds the areas around each tile.
type compiler struct {
	data    *objects.Data
	dir     *scratch.Dir
	texts   *classes.Texts
	reader  *classes.Reader
	streets *streets.Map
	ranges  *scratch.Array[classes.OwnTags] // what interpolation lines say of their houses' addresses
	houses  *scratch.Array[lineHouse]
	ends    []lineEnd
	order   *scratch.Sorter[ordered]
	wild    []uint32       // keys of what lies in the landscape
	house   []classes.Pair // what a house is that is nothing else

	store  *store
	survey survey
	out    *sections.Writer
}

// ordered is where an entry will be, and the object that it is made of.
type ordered struct {
	order  uint64
	ref    uint64
	source uint64 // where it begins among the features; or the number of a house, and isHouse
	group  uint8
	_      [7]uint8
}

func compareOrder(a, b ordered) int {
	return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.order, b.order), cmp.Compare(a.ref, b.ref),
		cmp.Compare(a.source, b.source))
}

// lineEnd is a house at a line of interpolation, and the street that the line is on.
type lineEnd struct {
	ref    uint64
	street uint32 // text
}

// isHouse marks the source of a house of an interpolation line.
const isHouse = 1 << 63

func newCompiler(d *objects.Data, dir *scratch.Dir) (*compiler, error) {
	out, err := sections.New(dir)
	if err != nil {
		return nil, err
	}
	texts := &classes.Texts{Texts: d.Texts}
	c := &compiler{data: d, dir: dir, texts: texts, reader: classes.New(texts),
		streets: streets.NewMap(dir), ranges: scratch.NewArray[classes.OwnTags](dir, "lines"),
		houses: scratch.NewArray[lineHouse](dir, "linehouses"),
		order:  scratch.NewSorter(dir, "order", dir.SortMemory(), compareOrder), store: newStore(dir), out: out}
	for _, k := range wild {
		c.wild = append(c.wild, texts.Number(k))
	}
	c.house = []classes.Pair{{Key: texts.Number("place"), Value: texts.Number("house")}}
	return c, texts.Err
}

// sort goes through the features, and the houses of lines.
func (c *compiler) sort() error {
	for i, r := range c.data.Features.All {
		class := c.reader.Classify(r)
		kinds := c.reader.Kinds
		if c.texts.Err != nil {
			return c.texts.Err
		}
		if len(kinds) == 0 && !class.Serves {
			continue
		}
		box := r.Geometry.Box
		ref := placefile.NewRef(r.Kind, r.ID)
		o := ordered{order: box.Order(), ref: ref, source: uint64(i), group: groupOf(&class, len(kinds), box)}
		if err := cmp.Or(c.enqueue(o, kinds), c.addStreet(ref, &class, &r.Geometry)); err != nil {
			return err
		}
	}
	if err := cmp.Or(c.streets.Seal(), c.addHouses()); err != nil {
		return err
	}
	for i, h := range c.houses.Slice() {
		box := h.at.Box()
		o := ordered{order: box.Order(), ref: placefile.NewRef(mapdata.KindWay, h.way), source: isHouse | uint64(i)}
		if err := c.enqueue(o, c.house); err != nil {
			return err
		}
	}
	return c.texts.Err
}

// enqueue takes a feature on.
func (c *compiler) enqueue(o ordered, kinds []classes.Pair) error {
	for _, k := range kinds {
		c.reader.Word(k.Key)
		c.reader.Word(k.Value)
	}
	return c.order.Add(o)
}

// addStreet takes a feature on as a street that houses may be on, if it is one.
func (c *compiler) addStreet(ref uint64, class *classes.Class, g *geometry.Geometry) error {
	if class.Road <= tagging.OnlyRoad {
		return nil
	}
	s := streets.Street{Ref: ref, Name: class.Name, Number: c.reader.Street(class.Name),
		Postcode: class.Postcode, Kind: class.Road}
	return c.streets.Add(s, g)
}
