package places

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/compiler/places/classes"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// writeFeatures writes the entries.
func (c *compiler) writeFeatures() (err error) {
	entries := c.entries.Slice()
	for i := range entries {
		err = cmp.Or(err, c.writeFeature(&entries[i]), c.importance.Append(entries[i].importance))
	}
	return err
}

func (c *compiler) writeFeature(e *entry) error {
	g, text := c.geometryOf(e), c.texts.Text
	address := placefile.Address{Street: text(e.Street), Suburb: text(e.Suburb), Hamlet: text(e.Hamlet),
		City: text(e.City), County: text(e.County), State: text(e.State), Postcode: text(e.Postcode)}
	r := placefile.Record{Ref: e.ref, Geometry: &g, Extent: float32(e.extent), Name: text(e.name),
		IsStreet: e.road != placefile.NoStreet, HouseNumber: text(cmp.Or(e.HouseNumber, e.HouseName)),
		Names: c.strings(c.pairs.Slice()[e.pairs+uint32(e.nKinds):][:e.nNames])}
	if r.IsStreet {
		address.Street = "" // which is its name
	}
	if e.is(isUnnamed) { // house number and street, or place
		r.Name = strings.TrimSpace(r.HouseNumber + " " + cmp.Or(address.Street, text(e.Place)))
	}
	if e.area != 0 {
		r.Area = &c.areaOf(e).Area
	}
	return c.out.Add(&r, c.strings(c.kindsOf(e)), &address)
}

func (c *compiler) strings(pairs []classes.Pair) []placefile.Kind {
	out := make([]placefile.Kind, len(pairs))
	for i, p := range pairs {
		out[i] = placefile.Kind{Key: c.texts.Text(p.Key), Value: c.texts.Text(p.Value)}
	}
	return out
}

// writeTrees writes the fixed trees, and the settlements near each tile.
func (c *compiler) writeTrees() error {
	entries := c.entries.Slice()
	general, _ := slices.BinarySearchFunc(entries, groupSpecial, func(e entry, g int) int {
		return cmp.Compare(int(e.group), g)
	})
	err := c.out.Trees(uint32(general))
	for _, kind := range [...]classes.PlaceKind{classes.PlaceCity, classes.PlaceSuburb, classes.PlaceSettlement,
		classes.PlaceHamlet, classes.PlaceDwelling} {
		for _, n := range c.settlements.Slice() {
			if e := &entries[n]; e.place&kind != 0 {
				name, failed := c.out.Text(c.texts.Text(e.name))
				err = cmp.Or(err, failed, c.out.Settle(&placefile.Settlement{Box: e.box, Ref: e.ref, Name: name,
					Extent: float32(e.extent), Feature: n, Place: c.out.PlaceNumber(c.placeOf(e))}))
			}
		}
		err = cmp.Or(err, c.out.Settlements())
	}
	if err != nil {
		return err
	}
	return c.out.Nearby(func(n uint32) (*placefile.Area, float32) {
		return &c.areaOf(&entries[n]).Area, float32(entries[n].extent)
	}, func(n uint32) geometry.Geometry { return c.geometryOf(&entries[n]) })
}

// posting is a feature with one of its words, as an index into the sorted words.
type posting struct{ word, entry uint32 }

// writeTerms writes a tree for each key and value, in alphabetical order.
func (c *compiler) writeTerms() error {
	words := c.reader.Alphabet()
	rank := make(map[uint32]uint32, len(words))
	for i, w := range words {
		rank[w] = uint32(i)
	}
	sorter := scratch.NewSorter(c.dir, "terms", c.dir.SortMemory(), func(a, b posting) int {
		return cmp.Or(cmp.Compare(a.word, b.word), cmp.Compare(a.entry, b.entry))
	})
	entries := c.entries.Slice()
	for n := range entries {
		for _, k := range c.kindsOf(&entries[n]) {
			for _, w := range [...]uint32{k.Key, k.Value} {
				if err := sorter.Add(posting{rank[c.reader.Word(w)], uint32(n)}); err != nil {
					return err
				}
			}
		}
	}
	items := scratch.NewArray[uint32](c.dir, "items") // of the current word
	word := uint32(0)
	write := func() error {
		if items.Len() == 0 {
			return nil
		}
		err := c.out.Term(c.texts.Text(words[word]), items.Slice())
		items.Truncate(0)
		return err
	}
	err := sorter.Each(func(p *posting) (err error) {
		if p.word != word {
			err = write()
			word = p.word
		}
		if list := items.Slice(); len(list) > 0 && list[len(list)-1] == p.entry {
			return err // from another tag
		}
		return cmp.Or(err, items.Append(p.entry))
	})
	return cmp.Or(err, write(), items.Free())
}
