package geocoding

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/build/extract"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// Write adds the places of an extract to a region: everything that can be found, and the areas and settlements that serve
// addresses. The same data makes the same sections.
func Write(w *region.Writer, d *extract.Data) error {
	b := newBuilder()
	if err := b.build(d); err != nil {
		return err
	}
	if err := b.check(); err != nil {
		return err
	}
	b.write(w)
	return nil
}

// build fills the sections.
func (b *builder) build(d *extract.Data) error {
	b.cost = d.Cost
	for i := range d.Features {
		f := &d.Features[i]
		b.add(newRef(f.Kind, f.ID), f.Tags, classify(f), f)
	}
	v := newDeriver(b, d)
	if err := b.addHouses(v, d.Interpolations); err != nil {
		return err
	}
	v.complete()
	b.sort()
	for i := range b.entries {
		b.emit(&b.entries[i])
	}
	b.features = append(b.features, b.end())
	trees, err := b.addTrees()
	if err != nil {
		return err
	}
	b.addCells(trees, d.Tiles)
	return nil
}

// entry is a feature on its way into the region.
type entry struct {
	classification
	ref      uint64
	geometry geometry
	extent   float64
	area     areaTags
	serves   bool // as an area for addresses or the fallback
	place    string
	names    []keyValue

	road      roadKind // that it is itself
	postcode  string   // of a road
	entrances []coord  // of a building, those that people use
	// What deriver finds:
	onRoad           bool   // the street is that of a road, which is on
	on               uint32 // entry
	buildingPostcode string
	group            int
	order            uint64
}

// The groups that features are sorted by. A large box among small ones would make their common box large.
const (
	groupSmall = iota
	groupLarge
	groupSpecial
)

// largeBox is how far, in 1e-7 degrees, the box of a large feature reaches.
const largeBox = 200_000

// builder gathers the sections.
type builder struct {
	cost      *extract.Budget
	entries   []entry
	strings   *stringTable
	features  []feature
	boxes     []box
	coords    []coord
	chunks    []chunk
	branches  []box
	pairs     []pair
	names     []translation
	addresses []ownAddress
	places    []place
	areas     []area
	trees     []tree
	items     []uint32
	terms     []term
	roots     []root
	nodes     []uint32
	cells     []uint32
	contexts  []enclosing

	addressOf map[ownAddress]uint32
}

func newBuilder() *builder {
	return &builder{strings: newStringTable(), addressOf: map[ownAddress]uint32{}}
}

// add takes a feature on, unless it is of no use.
func (b *builder) add(ref uint64, tags extract.Tags, c classification, f *extract.Feature) {
	e := entry{classification: c, ref: ref}
	isArea := newShape(f.Geometry) == shapeArea
	if isArea {
		e.area = readArea(tags)
		e.serves = e.area.serves(tags.Get("name") != "")
	}
	if len(c.kinds) == 0 && !e.serves {
		return
	}
	var ok bool
	if e.geometry, ok = newGeometry(f.Geometry); !ok {
		return
	}
	if tags.Get("name") != "" {
		e.place = tags.Get("place")
	}
	e.extent = e.geometry.extent()
	e.names = languages(tags)
	if e.road = streetKind(tags, e.geometry.shape); e.road != noStreet {
		e.postcode = onePostcode(c.address.postcode)
	}
	for _, p := range f.Entrances {
		e.entrances = append(e.entrances, newCoord(p))
	}
	e.order = e.geometry.box.order()
	box := e.geometry.box
	switch {
	case !c.general || len(c.kinds) == 0:
		e.group = groupSpecial
	case int64(box.MaxX)-int64(box.MinX) > largeBox || int64(box.MaxY)-int64(box.MinY) > largeBox:
		e.group = groupLarge
	}
	b.entries = append(b.entries, e)
}

func (b *builder) sort() {
	slices.SortStableFunc(b.entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.order, b.order), cmp.Compare(a.ref, b.ref))
	})
}

// end is a feature that nothing belongs to, whose runs start where all others end.
func (b *builder) end() feature {
	return feature{Coords: uint32(len(b.coords)), Chunks: uint32(len(b.chunks)), Branches: uint32(len(b.branches)),
		Pairs: uint32(len(b.pairs)), Names: uint32(len(b.names))}
}

// emit appends the records of a feature.
func (b *builder) emit(e *entry) {
	f := b.end()
	f.Ref, f.Extent, f.Shape = e.ref, float32(e.extent), e.geometry.shape
	f.Name = b.strings.append(e.name)
	if e.road != noStreet {
		f.IsStreet = 1
	}
	for _, k := range e.kinds {
		b.pairs = append(b.pairs, pair{b.strings.add(k.key), b.strings.add(k.value)})
	}
	if len(e.kinds) > 0 {
		f.Kind = b.pairs[f.Pairs]
	}
	for _, n := range e.names {
		b.names = append(b.names, translation{b.strings.add(n.key), b.strings.add(n.value)})
	}
	if e.address != (addressTags{}) {
		f.Address = b.addAddress(&e.address)
	}
	b.coords = append(b.coords, e.geometry.coords...)
	b.chunks = append(b.chunks, e.geometry.chunks...)
	b.branches = append(append(b.branches, e.geometry.boxes...), e.geometry.branches...)
	b.boxes = append(b.boxes, e.geometry.box)
	b.features = append(b.features, f)
}

// addAddress returns the record of an address, from 1. What many have, such as the parts of a street, is there once.
func (b *builder) addAddress(a *addressTags) uint32 {
	text := b.strings.add
	record := ownAddress{text(a.houseNumber), text(a.street), text(a.suburb), text(a.hamlet), text(a.city), text(a.county),
		text(a.state), text(a.postcode)}
	n, known := b.addressOf[record]
	if !known {
		b.addresses = append(b.addresses, record)
		n = uint32(len(b.addresses))
		b.addressOf[record] = n
	}
	return n
}

// fixedLists are the features of the fixed trees.
type fixedLists struct{ general, areas, cities, suburbs, hamlets []uint32 }

// addTrees builds the fixed trees, and one for each word that a key or a value is.
func (b *builder) addTrees() (*fixedLists, error) {
	var general, areas, cities, suburbs, hamlets, settlements, homes []uint32
	terms := map[string][]uint32{}
	for i := range b.entries {
		e, n := &b.entries[i], uint32(i)
		if e.group != groupSpecial {
			general = append(general, n)
		}
		if e.serves {
			areas = append(areas, n)
		}
		if e.isSettlement() {
			settlements = append(settlements, n)
			if slices.Contains(cityNodes, e.place) {
				cities = append(cities, n)
			}
			if slices.Contains(suburbPlaces, e.place) {
				suburbs = append(suburbs, n)
			}
			if e.place == "hamlet" {
				hamlets = append(hamlets, n)
			}
			if slices.Contains(dwellings, e.place) {
				homes = append(homes, n)
			}
		}
		for _, k := range e.kinds {
			for _, word := range [...]string{normalize(k.key), normalize(k.value)} {
				if list := terms[word]; len(list) == 0 || list[len(list)-1] != n {
					terms[word] = append(list, n)
				}
			}
		}
	}
	b.trees = append(b.trees, tree{First: wholeFeatures, Count: uint32(len(general)), Branches: uint32(len(b.branches))})
	b.branches = appendPyramid(b.branches, b.boxes[:len(general)])
	for _, items := range [...][]uint32{areas, cities, suburbs, settlements, hamlets, homes} {
		b.addTree(items)
	}
	b.addAreas(areas)
	if err := b.addPlaces(areas, settlements); err != nil {
		return nil, err
	}
	words := make([]string, 0, len(terms))
	for word := range terms {
		words = append(words, word)
	}
	slices.Sort(words)
	for _, word := range words {
		b.terms = append(b.terms, term{b.strings.add(word), uint32(len(b.trees))})
		b.addTree(terms[word])
	}
	return &fixedLists{general, areas, cities, suburbs, hamlets}, nil
}

func (e *entry) isSettlement() bool {
	return e.place != "" && len(e.kinds) > 0 && e.geometry.shape != shapeLine && !slices.Contains(notSettlements, e.place)
}

func (b *builder) addTree(items []uint32) {
	t := tree{First: uint32(len(b.items)), Count: uint32(len(items)), Boxes: uint32(len(b.branches))}
	b.items = append(b.items, items...)
	boxes := make([]box, len(items))
	for i, n := range items {
		boxes[i] = b.boxes[n]
	}
	b.branches = append(b.branches, boxes...)
	t.Branches = uint32(len(b.branches))
	b.branches = appendPyramid(b.branches, boxes)
	b.trees = append(b.trees, t)
}

// check refuses data that the numbers in the records cannot count.
func (b *builder) check() error {
	for name, n := range map[string]int{"features": len(b.features), "coordinates": len(b.coords), "tags": len(b.pairs),
		"names": len(b.names), "boxes": len(b.branches), "cells": 2 * len(b.cells)} {
		if n >= math.MaxUint32 {
			return fmt.Errorf("%d %s are more than a region holds (%d)", n, name, uint32(math.MaxUint32))
		}
	}
	return b.strings.check()
}

func (b *builder) write(w *region.Writer) {
	region.Add(w, sectionFeatures, b.features)
	region.Add(w, sectionBoxes, b.boxes)
	region.Add(w, sectionCoords, b.coords)
	region.Add(w, sectionChunks, b.chunks)
	region.Add(w, sectionPairs, b.pairs)
	region.Add(w, sectionNames, b.names)
	region.Add(w, sectionAddresses, b.addresses)
	region.Add(w, sectionPlaces, b.places)
	region.Add(w, sectionAreas, b.areas)
	region.Add(w, sectionTrees, b.trees)
	region.Add(w, sectionItems, b.items)
	region.Add(w, sectionBranches, b.branches)
	region.Add(w, sectionTerms, b.terms)
	region.Add(w, sectionRoots, b.roots)
	region.Add(w, sectionNodes, b.nodes)
	region.Add(w, sectionCells, b.cells)
	region.Add(w, sectionContexts, b.contexts)
	region.Add(w, sectionText, b.strings.text)
}
