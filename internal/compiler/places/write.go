package places

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/compiler/places/classes"
	"github.com/mapsedge/caddy-maps/internal/compiler/places/sections"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
	"github.com/mapsedge/caddy-maps/internal/geocoding/tagging"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Write adds the places of an extract to a region: everything that can be found, and the areas and settlements that
// serve addresses. The tiles that these areas touch are added to d.Tiles. The same data makes the same sections. What
// grows with the data is kept in dir, which must stay until the region is committed.
func Write(w *region.Writer, d *objects.Data, dir *scratch.Dir) error {
	d.Progress.Start("places", 1)
	c, err := newCompiler(d, dir)
	if err != nil {
		return err
	}
	for _, step := range []func() error{c.sort, c.gather, c.findContexts, c.complete, c.writeFeatures,
		c.writeTrees, c.store.free} {
		if err := step(); err != nil {
			return err
		}
	}
	c.out.Finish(w)
	return nil
}

// complete finds out what entries do not say of their addresses.
func (c *compiler) complete() error {
	access, err := c.findAccess()
	if err != nil {
		return err
	}
	return cmp.Or(c.derive(access.Slice(), c.named()), access.Free(), c.streets.Free(),
		c.survey.buildings.Free(), c.survey.numbered.Free(), c.survey.doors.Free(), c.survey.houses.Free())
}

// writeFeatures writes the entries.
func (c *compiler) writeFeatures() error {
	entries := c.store.entries.Slice()
	for n := range entries {
		if err := c.writeFeature(uint32(n), &entries[n]); err != nil {
			return err
		}
	}
	return nil
}

func (c *compiler) writeFeature(n uint32, e *entry) error {
	a, text := &c.store.addresses.Slice()[n], c.texts.Text
	g := c.store.geometry(n)
	f := sections.Feature{Ref: e.ref, Geometry: &g, Extent: float32(e.extent), Kinds: c.strings(c.store.kindsOf(e)),
		Name: text(e.name), IsStreet: e.road != tagging.NoStreet, HouseNumber: text(cmp.Or(a.HouseNumber, a.HouseName)),
		Address: placefile.Address{Street: text(a.Street), Suburb: text(a.Suburb), Hamlet: text(a.Hamlet),
			City: text(a.City), County: text(a.County), State: text(a.State), Postcode: text(a.Postcode)},
		Names: c.strings(c.store.names.Slice()[e.names : e.names+uint32(e.nNames)])}
	if f.IsStreet {
		f.Address.Street = "" // that is its name
	}
	if e.is(isUnnamed) { // a house number, and the street, or the place of a house that is on none
		f.Name = strings.TrimSpace(f.HouseNumber + " " + cmp.Or(f.Address.Street, text(a.Place)))
	}
	if e.area != 0 {
		f.Area = &c.store.areas.Slice()[e.area-1]
	}
	return c.out.Add(&f)
}

func (c *compiler) strings(pairs []classes.Pair) []tagging.Kind {
	out := make([]tagging.Kind, len(pairs))
	for i, p := range pairs {
		out[i] = tagging.Kind{Key: c.texts.Text(p.Key), Value: c.texts.Text(p.Value)}
	}
	return out
}

// found is a feature that is found by a word.
type found struct{ word, entry uint32 } // the word's place in the alphabet

// writeTrees writes the fixed trees, and one for each word that a key or a value is.
func (c *compiler) writeTrees() error {
	entries := c.store.entries.Slice()
	general, _ := slices.BinarySearchFunc(entries, groupSpecial, func(e entry, g int) int {
		return cmp.Compare(int(e.group), g)
	})
	err := c.out.Trees(uint32(general))
	for _, kind := range [...]classes.PlaceKind{classes.PlaceCity, classes.PlaceSuburb, classes.PlaceSettlement,
		classes.PlaceHamlet, classes.PlaceDwelling} {
		var failed error // of a name
		tree := c.out.Settlements(func(yield func(placefile.Settlement) bool) {
			for _, n := range c.store.settlements.Slice() {
				e := &entries[n]
				if e.place&kind == 0 {
					continue
				}
				name, err := c.out.Text(c.texts.Text(e.name))
				failed = cmp.Or(failed, err)
				if !yield(placefile.Settlement{Box: c.store.bounds.Slice()[n], Ref: e.ref, Name: name, Extent: float32(e.extent),
					Feature: n, Place: c.out.PlaceNumber(c.placeOf(n))}) {
					return
				}
			}
		})
		err = cmp.Or(err, tree, failed)
	}
	if err != nil {
		return err
	}
	nearby := c.out.Nearby(func(n uint32) (*placefile.Area, float32) {
		return &c.store.areas.Slice()[entries[n].area-1], float32(entries[n].extent)
	}, c.store.geometry)
	return cmp.Or(nearby, c.writeTerms())
}

// writeTerms writes the trees of words, in the order of the alphabet.
func (c *compiler) writeTerms() error {
	words := c.reader.Alphabet()
	rank := make(map[uint32]uint32, len(words))
	for i, w := range words {
		rank[w] = uint32(i)
	}
	sorter := scratch.NewSorter(c.dir, "terms", c.dir.SortMemory(), func(a, b found) int {
		return cmp.Or(cmp.Compare(a.word, b.word), cmp.Compare(a.entry, b.entry))
	})
	entries := c.store.entries.Slice()
	for n := range entries {
		for _, k := range c.store.kindsOf(&entries[n]) {
			for _, w := range [...]uint32{c.reader.Word(k.Key), c.reader.Word(k.Value)} {
				if err := sorter.Add(found{rank[w], uint32(n)}); err != nil {
					return err
				}
			}
		}
	}
	items := scratch.NewArray[uint32](c.dir, "items") // of the word that is written
	word := uint32(0)
	write := func() error {
		if items.Len() == 0 {
			return nil
		}
		err := c.out.Term(c.texts.Text(words[word]), slices.Values(items.Slice()))
		items.Truncate(0)
		return err
	}
	err := sorter.Each(func(f *found) error {
		var err error
		if f.word != word {
			err = write()
		}
		word = f.word
		if list := items.Slice(); len(list) > 0 && list[len(list)-1] == f.entry {
			return err // several of its tags say the same
		}
		return cmp.Or(err, items.Append(f.entry))
	})
	return cmp.Or(err, write(), items.Free())
}
