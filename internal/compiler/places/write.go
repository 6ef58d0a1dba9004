// Package places compiles what can be found, and what addresses are made of, into the sections of a region file.
package places

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/compiler/places/sections"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
	"github.com/mapsedge/caddy-maps/internal/geocoding/tagging"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Write adds the places of an extract to a region: everything that can be found, and the areas and settlements that
// serve addresses. The tiles that these areas touch are added to d.Tiles. The same data makes the same sections. What
// grows with the data is kept in dir, which must stay until the region is committed.
func Write(w *region.Writer, d *extract.Data, dir *scratch.Dir) error {
	d.Progress.Start("places", 1)
	c, err := newCompiler(d, dir)
	if err != nil {
		return err
	}
	for _, step := range []func() error{c.sort, c.gather, c.complete, c.findPlaces, c.writeFeatures, c.writeTrees, c.cover,
		c.divideAll, c.free} {
		if err := step(); err != nil {
			return err
		}
	}
	c.out.Finish(w)
	return nil
}

// free removes the files that no section is in.
func (c *compiler) free() error {
	return cmp.Or(c.store.free(), c.survey.areas.free(), c.texts.more.Free(), c.numbers.keys.Free())
}

// complete finds out what entries do not say of their addresses.
func (c *compiler) complete() error {
	access, err := c.findAccess()
	if err != nil {
		return err
	}
	settlements := scratch.NewArray[settlement](c.dir, "settlements")
	err = cmp.Or(
		c.survey.settlements.Each(func(s *settlement) error { return settlements.Append(*s) }),
		c.derive(access.Slice(), settlements.Slice()))
	return cmp.Or(err, access.Free(), settlements.Free(), c.streets.free(), c.survey.postal.free(),
		c.survey.buildings.free(), c.survey.numbered.free(), c.survey.doors.free(), c.survey.houses.free())
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
	a, text := &c.store.addresses.Slice()[n], c.texts.text
	g := c.store.geometry(n)
	f := sections.Feature{Ref: e.ref, Geometry: &g, Extent: float32(e.extent), Kinds: c.strings(c.store.kindsOf(e)),
		Name: text(e.name), IsStreet: e.road != tagging.NoStreet, HouseNumber: text(a.houseNumber),
		Address: placefile.Address{Street: text(a.street), Suburb: text(a.suburb), Hamlet: text(a.hamlet),
			City: text(a.city), County: text(a.county), State: text(a.state), Postcode: text(a.postcode)},
		Names: c.strings(c.store.names.Slice()[e.names : e.names+uint32(e.nNames)])}
	if f.IsStreet {
		f.Address.Street = "" // that is its name
	}
	if e.is(isUnnamed) { // a house number, and the street, or the place of a house that is on none
		f.Name = strings.TrimSpace(f.HouseNumber + " " + cmp.Or(f.Address.Street, text(a.place)))
	}
	if e.settlement != 0 {
		f.Place = &c.store.places.Slice()[e.settlement-1]
	}
	if e.area != 0 {
		f.Area = &c.store.areas.Slice()[e.area-1]
	}
	return c.out.Add(&f)
}

func (c *compiler) strings(pairs []textPair) []tagging.Kind {
	out := make([]tagging.Kind, len(pairs))
	for i, p := range pairs {
		out[i] = tagging.Kind{Key: c.texts.text(p.key), Value: c.texts.text(p.value)}
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
	err := cmp.Or(c.out.Trees(uint32(general)), c.out.Tree(slices.Values(c.survey.areas.items.Slice())))
	for _, kind := range [...]placeKind{placeCity, placeSuburb, placeSettlement, placeHamlet, placeDwelling} {
		err = cmp.Or(err, c.out.Tree(func(yield func(uint32) bool) {
			for _, n := range c.store.settlements.Slice() {
				if entries[n].place&kind != 0 && !yield(n) {
					return
				}
			}
		}))
	}
	return cmp.Or(err, c.writeTerms())
}

// writeTerms writes the trees of words, in the order of the alphabet.
func (c *compiler) writeTerms() error {
	words := c.lexicon.alphabet()
	rank := make(map[uint32]uint32, len(words))
	for i, w := range words {
		rank[w] = uint32(i)
	}
	sorter := scratch.NewSorter(c.dir, "terms", sortMemory(c.dir), func(a, b found) int {
		return cmp.Or(cmp.Compare(a.word, b.word), cmp.Compare(a.entry, b.entry))
	})
	entries := c.store.entries.Slice()
	for n := range entries {
		for _, k := range c.store.kindsOf(&entries[n]) {
			for _, w := range [...]uint32{c.lexicon.word(k.key), c.lexicon.word(k.value)} {
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
		err := c.out.Term(c.texts.text(words[word]), slices.Values(items.Slice()))
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
