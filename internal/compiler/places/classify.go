package places

import (
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/extract"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/tagging"
)

// class is what an object's tags make of it.
type class struct {
	name     uint32 // text
	address  ownTags
	general  bool // found without a category
	unnamed  bool // its name is its house number and street
	area     areaTags
	serves   bool // as an area for addresses or the fallback
	place    placeKind
	road     tagging.RoadKind // that it is itself
	postcode uint32           // of a road
}

// ownTags is what an object says of its own address, or what was found out for it, by the numbers of texts.
type ownTags struct{ houseNumber, street, place, suburb, hamlet, city, county, state, postcode uint32 }

// onStreet tells whether an address says where its house number belongs.
func (a *ownTags) onStreet() bool { return a.street != 0 || a.place != 0 }

// classify tells what an object is: l.kinds and the class. It is of no use where it has no kinds and does not serve.
func (l *lexicon) classify(r *extract.FeatureRecord) (c class) {
	l.read(r.Tags)
	l.kinds = l.kinds[:0]
	s := shapeOf(r.Shape)
	c.name, c.address = l.values[keyName], l.address()
	if c.name != 0 || c.address.houseNumber != 0 {
		c.general = true
		l.addKinds(0, len(tagging.MainKeys))
		switch {
		case len(l.kinds) == 0 && c.address.houseNumber != 0:
			l.kinds = append(l.kinds, textPair{l.numbers[keyPlace], l.texts.add("house")})
		case len(l.kinds) == 0:
			l.addKinds(len(tagging.MainKeys), len(tagging.MainKeys)+len(otherKeys))
			c.general = false
		}
		c.unnamed = len(l.kinds) > 0 && c.name == 0
	}
	if s == geometry.Area {
		if l.has(keyBoundary) || l.has(keyPlace) {
			c.general = false
		}
		c.area = l.readArea()
		c.serves = c.area.serves(c.name != 0)
	}
	if c.name != 0 {
		c.place = placeKindOf(string(l.value(keyPlace)))
		if s != geometry.Point {
			c.road = l.roadKind()
		}
	}
	if c.road != tagging.NoStreet {
		c.postcode = l.onePostcode(c.address.postcode)
	}
	return c
}

// address reads what the object says of its address.
func (l *lexicon) address() ownTags {
	return ownTags{
		houseNumber: l.houseNumber(),
		street:      l.first(streetKeys),
		place:       l.first(placeKeys),
		suburb:      l.first(suburbKeys),
		hamlet:      l.first(hamletKeys),
		city:        l.first(cityKeys),
		county:      l.first(countyKeys),
		state:       l.first(stateKeys),
		postcode:    l.first(postcodeKeys),
	}
}

// houseNumber is addr:housenumber. Where houses have a number of the land register, and maybe one of the street, it is
// both.
func (l *lexicon) houseNumber() uint32 {
	if n := l.trimmed(l.values[keyHouseNumber]); n != 0 {
		return n
	}
	register, street := l.trimmed(l.values[keyRegister]), l.trimmed(l.values[keyStreetNumber])
	switch {
	case register == 0:
		return street
	case street == 0:
		return register
	}
	return l.texts.add(l.texts.text(register) + "/" + l.texts.text(street))
}

// placeKind is what a value of place is to addresses.
type placeKind uint8

const (
	placeSettlement placeKind = 1 << iota // what the fallback may answer with
	placeCity                             // can be an address's city
	placeSuburb                           // can be an address's suburb
	placeHamlet
	placeDwelling // less than a hamlet
	placeMunicipality
)

func placeKindOf(place string) (k placeKind) {
	if place == "" {
		return 0
	}
	for flag, is := range map[placeKind]bool{
		placeSettlement: !slices.Contains(notSettlements, place), placeCity: slices.Contains(cityNodes, place),
		placeSuburb: slices.Contains(tagging.SuburbPlaces, place), placeHamlet: place == "hamlet",
		placeDwelling: slices.Contains(dwellings, place), placeMunicipality: place == "municipality",
	} {
		if is {
			k |= flag
		}
	}
	return k
}
