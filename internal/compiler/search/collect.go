package search

import (
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/base/pipeline"
	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/search"
	"github.com/mapsedge/caddy-maps/internal/search/words"
)

// place is a feature with what surrounds it.
type place struct {
	geocoding.Feature
	number uint32 // of the feature
	at     geometry.Coord
	around geocoding.Surroundings

	hasNumber bool // the number of the house is one
}

// block is how many features are read at a time.
const block = 2048

// collect reads all features.
func (b *builder) collect(ctx context.Context) error {
	if err := b.countCities(); err != nil {
		return err
	}
	return pipeline.Ranges(ctx, len(b.importance), block, func(from, to int) (found []place, err error) {
		defer region.Recover(&err, region.FaultsPanic())
		for n := from; n < to; n++ {
			p := place{Feature: b.places.Feature(uint32(n)), number: uint32(n)}
			if len(p.Name) == 0 && len(p.Number) == 0 {
				continue
			}
			at := p.Geometry.Inner()
			p.at, p.around = geometry.NewCoord(at), b.places.Surroundings(at)
			found = append(found, p)
		}
		return found, nil
	}, func(found []place) error {
		for i := range found {
			if err := b.add(&found[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// add adds a feature: as a house, a part of a line, or a document.
func (b *builder) add(p *place) error {
	layer := b.places.Layer(&p.Feature)
	around, err := b.context(p, layer)
	if err != nil {
		return err
	}
	if len(p.Number) > 0 {
		named, err := b.addHouse(p, around)
		for range b.places.Names(&p.Feature) { // such as addr:housename
			named = true
		}
		if err != nil || !named {
			return err
		}
	}
	if len(p.Name) == 0 { // a house with a name, or with a number in words
		layer = geocoding.LayerHouse
	}
	d := document{search.Document{X: p.at.X, Y: p.at.Y, Feature: p.number, Context: around,
		Importance: b.importance[p.number], Layer: uint8(layer)}, p.Geometry.Box}
	for key, value := range b.places.Kinds(&p.Feature) {
		if d.Category == 0 {
			d.Category = b.categories[string(key)+"="+string(value)]
		}
	}
	b.used[d.Category] = true
	names, err := b.namesOf(p)
	if err != nil || len(names) == 0 {
		return err
	}
	d.Name = names[0]
	if p.Geometry.Shape == geometry.Line {
		return b.addLine(p, &d, names)
	}
	return b.addDocument(&d, names)
}

// addDocument adds a document with its names.
func (b *builder) addDocument(d *document, names []uint32) error {
	n := uint32(b.documents.Len())
	err := b.documents.Append(*d)
	for _, name := range names {
		err = cmp.Or(err, b.pairs.Append(pair{name: name, number: n}))
	}
	if d.Category > 0 {
		err = cmp.Or(err, b.pairs.Append(pair{name: uint32(d.Category - 1), number: n}))
	}
	return err
}

// namesOf returns the numbers of a feature's names, the usual one first.
func (b *builder) namesOf(p *place) (names []uint32, err error) {
	name := p.Name
	if len(name) == 0 && !p.hasNumber {
		name = p.Number
	}
	add := func(kind search.NameKind, text string) {
		if err != nil || len(names) == math.MaxUint8 {
			return
		}
		var n uint32
		if n, err = b.name(kind, text); n != 0 && !slices.Contains(names, n-1) {
			names = append(names, n-1)
		}
		if kind == search.NameUsual && err == nil {
			kind = search.NameOther
			if latin := b.latin(text); latin != "" {
				if n, err = b.name(kind, latin); n != 0 {
					names = append(names, n-1)
				}
			}
		}
	}
	add(search.NameUsual, string(name))
	usual := len(names) > 0
	for _, other := range b.places.Names(&p.Feature) {
		for text := range strings.SplitSeq(string(other), ";") {
			if usual || len(names) == 0 {
				add(search.NameOther, text)
			}
		}
	}
	return names, err
}

// latin returns a text in Latin letters if it is in another alphabet, else "".
func (b *builder) latin(text string) string {
	if isASCII(text) {
		return ""
	}
	var latin []string
	for _, t := range words.Append(nil, text) {
		if l := words.Latin(t.Text); l != "" {
			t.Text = l
			latin = append(latin, l)
			continue
		}
		latin = append(latin, t.Text)
	}
	if l := strings.Join(latin, " "); l != strings.Join(strings.Fields(text), " ") && !isASCII(text) && isASCII(l) {
		return l
	}
	return ""
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}

// maxNameTerms limits the words of a name. The rest cannot be found.
const maxNameTerms = 32

// name returns the number of a name + 1, or 0 if a text has no words.
func (b *builder) name(kind search.NameKind, text string) (uint32, error) {
	b.tokens = words.Append(b.tokens[:0], text)
	b.key = append(b.key[:0], byte(kind))
	for _, t := range b.tokens[:min(len(b.tokens), maxNameTerms)] {
		n, err := b.terms.Add(t.Text)
		if err != nil {
			return 0, err
		}
		b.key = binary.AppendUvarint(b.key, uint64(n))
	}
	if len(b.key) == 1 {
		return 0, nil
	}
	return b.names.Add(string(b.key))
}

// context returns the offset of a feature's context: of what is larger than the feature.
func (b *builder) context(p *place, layer geocoding.Layer) (uint32, error) {
	var entities []uint32
	var failed error
	note := func(entity uint32, err error) {
		failed = cmp.Or(failed, err)
		if err == nil && !slices.Contains(entities, entity) {
			entities = append(entities, entity)
		}
	}
	a := &p.around
	for _, area := range [...]struct {
		geocoding.Layer
		feature uint32
		own     []byte
	}{{geocoding.LayerCountry, a.CountryArea, nil}, {geocoding.LayerState, a.State, p.Own.State},
		{geocoding.LayerCounty, a.County, p.Own.County}, {geocoding.LayerCity, a.City, p.Own.City},
		{geocoding.LayerDistrict, a.Suburb, p.Own.Suburb}, {geocoding.LayerDistrict, a.Hamlet, p.Own.Hamlet}} {
		if layer != geocoding.LayerOther && area.Layer >= layer || area.feature == p.number+1 {
			continue
		}
		name := ""
		if area.feature != 0 {
			e, err := b.entityOf(area.feature - 1)
			name = e.name
			note(e.number, err)
		}
		if len(area.own) > 0 && string(area.own) != name {
			note(b.textEntity(string(area.own)))
		}
	}
	city := ""
	if a.City == 0 && (layer == geocoding.LayerOther || layer > geocoding.LayerCity) {
		city = b.cityAt(p.at)
	}
	for _, text := range [...]string{city, a.Country.Name, a.Country.Alpha2, a.Country.Code} {
		if text != "" {
			note(b.textEntity(text))
		}
	}
	if len(p.Own.Street) > 0 && (len(p.Name) > 0 || p.Number[0] > '9') { // or a house whose number is a name
		note(b.textEntity(string(p.Own.Street)))
	}
	code := p.Own.Postcode
	if len(code) == 0 {
		code = a.Postcode
	}
	var post uint32
	if len(code) > 0 {
		post, failed = b.textEntity(string(code))
		note(post, nil)
	}
	if failed != nil {
		return 0, failed
	}
	slices.Sort(entities)
	var country [3]byte
	copy(country[:], a.Country.Code)
	at, err := b.contexts.AddBytes(search.AppendContext(nil, country, entities))
	if err == nil && at > math.MaxUint32 {
		err = errTooLarge
	}
	if len(p.Own.Postcode) > 0 && err == nil {
		err = b.notePostcode(p, post, uint32(at))
	}
	return uint32(at), err
}

// notePostcode notes that a feature has a postcode of its own.
func (b *builder) notePostcode(p *place, entity, context uint32) error {
	code := b.postcodes[entity]
	if code == nil {
		name, err := b.name(search.NameUsual, string(p.Own.Postcode))
		if err != nil || name == 0 {
			return err
		}
		code = &postcode{search.Document{Feature: p.number, Name: name - 1, Context: context,
			Importance: postcodeImportance, Layer: uint8(geocoding.LayerLocality),
			Part: uint8(geocoding.PartPostcode)}, geo.EmptyBox}
		b.postcodes[entity] = code
	}
	code.box.Extend(p.at.Box())
	return nil
}

// postcodeImportance is that of a postcode, see package classes.
const postcodeImportance = 76

// entityOf returns the entity of an area or settlement.
func (b *builder) entityOf(feature uint32) (entity, error) {
	e, known := b.byFeature[feature]
	if known {
		return e, nil
	}
	f := b.places.Feature(feature)
	e = entity{b.newEntity(), string(f.Name)}
	b.byFeature[feature] = e
	names, err := b.namesOf(&place{Feature: f})
	for _, name := range names {
		err = cmp.Or(err, b.pairs.Append(pair{name: name, entity: true, number: e.number}))
	}
	return e, err
}

// textEntity returns the entity of a part of an address that is no feature, or of one that has another name there.
func (b *builder) textEntity(text string) (uint32, error) {
	entity, known := b.byText[text]
	if known {
		return entity, nil
	}
	entity = b.newEntity()
	b.byText[text] = entity
	n, err := b.name(search.NameUsual, text)
	if n != 0 {
		err = cmp.Or(err, b.pairs.Append(pair{name: n - 1, entity: true, number: entity}))
	}
	return entity, err
}

// comparePairs orders by names, and the entities of a name before its documents.
func comparePairs(a, b pair) int {
	entities := 0
	if a.entity != b.entity {
		if entities = 1; a.entity {
			entities = -1
		}
	}
	return cmp.Or(cmp.Compare(a.name, b.name), entities, cmp.Compare(a.number, b.number))
}

func (b *builder) sortPairs() { slices.SortFunc(b.pairs.Slice(), comparePairs) }
