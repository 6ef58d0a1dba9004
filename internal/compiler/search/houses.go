package search

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/search"
	"github.com/mapsedge/caddy-maps/internal/search/words"
)

// house is a house with a number, on a street or in a place.
type house struct {
	street  uint32 // name
	at      geometry.Coord
	number  uint32
	rest    uint32 // term
	feature uint32
	context uint32
	bare    bool // it is nothing but a house
}

// onDocument is a house of a document.
type onDocument struct {
	document uint32
	house
}

// maxHouseDistance is the greatest distance of a house from its street in metres. Farther ones are on another street of
// the same name, which the extract lacks.
const maxHouseDistance = 3000

// addHouse adds a feature as a house, and reports whether it is something else as well: it has a name, or a number that
// is none.
func (b *builder) addHouse(p *place, around uint32) (named bool, err error) {
	named = len(p.Name) > 0
	street := string(p.Own.Street)
	if p.IsStreet {
		street = string(p.Name)
	}
	for _, place := range [...][]byte{p.Own.Hamlet, p.Own.Suburb, p.Own.City} {
		if street == "" {
			street = string(place)
		}
	}
	n, err := b.name(search.NameUsual, street)
	if err != nil {
		return named, err
	}
	for number := range strings.FieldsFuncSeq(string(p.Number), func(r rune) bool { return r == ';' || r == ',' }) {
		b.tokens = words.Append(b.tokens[:0], number)
		if len(b.tokens) == 0 {
			continue
		}
		text := b.tokens[0].Text
		if len(b.tokens) == 2 && !b.tokens[1].Number { // 12 a, 12 bis
			text += b.tokens[1].Text
		} else if len(b.tokens) > 1 {
			continue
		}
		value, rest, ok := words.HouseNumber(text)
		if !ok || len(rest) > search.MaxHouseRest {
			continue
		}
		if p.hasNumber = true; n == 0 {
			continue
		}
		term, err := b.rests.Add(rest)
		if err != nil {
			return named, err
		}
		err = b.houses.Append(house{street: n - 1, at: p.at, number: uint32(value), rest: term, feature: p.number,
			context: around, bare: !named})
		if err != nil {
			return named, err
		}
	}
	return named || !p.hasNumber, nil
}

// assignHouses gives each house to the nearest document with the name of its street, and makes a document of streets
// that the extract has no ways of.
func (b *builder) assignHouses(ctx context.Context) error {
	for _, last := range [...]bool{false, true} {
		b.sortPairs()
		var err error
		for _, h := range b.houses.Slice() {
			d, found := b.find(&h)
			switch {
			case found:
				err = b.assigned.Add(onDocument{d, h})
			case !last:
				err = b.addHomeless(&h)
			}
			if err != nil {
				return err
			}
		}
		if last {
			break
		}
		if err := cmp.Or(b.assigned.Free(), b.mergeLines(ctx)); err != nil {
			return err
		}
	}
	return cmp.Or(b.houses.Free(), b.lists.Free())
}

// addHomeless adds a house as a part of a street that has no way.
func (b *builder) addHomeless(h *house) error {
	d := search.Document{X: h.at.X, Y: h.at.Y, Feature: h.feature, Name: h.street, Context: h.context,
		Importance: homelessImportance, Layer: uint8(geocoding.LayerStreet),
		Part: uint8(geocoding.PartStreet)}
	l := line{document: document{d, h.at.Box()}, names: uint64(b.lists.Len())}
	return cmp.Or(b.lists.Append(appendNames(nil, []uint32{h.street})...), b.lines.Add(l))
}

// homelessImportance is that of a street, see package classes.
const homelessImportance = 51

// find returns the document of a house: by the name of its street, or else by another spelling of it.
func (b *builder) find(h *house) (uint32, bool) {
	if d, ok := b.documentOf(h); ok {
		return d, true
	}
	for _, name := range b.spellings(h.street) {
		other := *h
		other.street = name
		if d, ok := b.documentOf(&other); ok {
			return d, true
		}
	}
	return 0, false
}

// spellings returns the names that are another one with abbreviations or full forms of its words.
func (b *builder) spellings(name uint32) (names []uint32) {
	var terms [][]uint32 // the choices for each word
	key := b.names.Bytes(name + 1)
	for rest := key[1:]; len(rest) > 0; {
		t, n := binary.Uvarint(rest)
		choices := []uint32{uint32(t)}
		for _, v := range words.Variants(b.terms.Text(uint32(t))) {
			if other := b.terms.Find(v); other != 0 {
				choices = append(choices, other)
			}
		}
		terms, rest = append(terms, choices), rest[n:]
	}
	var add func(key []byte, rest [][]uint32)
	add = func(key []byte, rest [][]uint32) {
		if len(rest) == 0 {
			if n := b.names.Find(string(key)); n != 0 && n-1 != name {
				names = append(names, n-1)
			}
			return
		}
		for _, t := range rest[0] {
			if len(names) < maxSpellings {
				add(binary.AppendUvarint(slices.Clone(key), uint64(t)), rest[1:])
			}
		}
	}
	add(key[:1], terms)
	return names
}

// maxSpellings limits the other spellings of a street.
const maxSpellings = 8

// documentOf returns the nearest document with the name of a house's street: a street, or else a place.
func (b *builder) documentOf(h *house) (best uint32, found bool) {
	pairs := b.pairs.Slice()
	i, _ := slices.BinarySearchFunc(pairs, pair{name: h.street}, comparePairs)
	nearest, street := math.Inf(1), false
	for _, p := range pairs[i:] {
		if p.name != h.street {
			break
		}
		if p.entity {
			continue
		}
		d := &b.documents.Slice()[p.number]
		at := geometry.Coord{X: min(max(h.at.X, d.box.MinX), d.box.MaxX), Y: min(max(h.at.Y, d.box.MinY), d.box.MaxY)}
		// Of two around the house, the one whose middle is nearer is smaller or fits better.
		metres := geometry.Distance(h.at, at)
		is := geocoding.Layer(d.Layer) == geocoding.LayerStreet
		if metres > maxHouseDistance || street && !is {
			continue
		}
		metres += geometry.Distance(h.at, geometry.Coord{X: d.X, Y: d.Y}) / 1000
		if is && !street || metres < nearest {
			best, found, nearest, street = p.number, true, metres, is
		}
	}
	return best, found
}
