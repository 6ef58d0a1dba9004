package classes

import (
	"slices"

	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// Class is the meaning of an object's tags.
type Class struct {
	Name     uint32 // text
	Address  OwnTags
	General  bool // found without a category
	Unnamed  bool // its name is its house number and street
	Area     AreaTags
	Serves   bool // is an area for addresses or the fallback
	Place    PlaceKind
	Road     placefile.RoadKind // if it is a street
	Postcode uint32             // of a road

	// Importance is how likely the object is wanted, from 0 to 255.
	Importance uint8
}

// OwnTags is the address of an object, tagged or inferred, as numbers of texts.
type OwnTags struct {
	HouseNumber, HouseName, Street, Place, Suburb, Hamlet, City, County, State, Postcode uint32
}

// OnStreet reports whether an address has a street or a place.
func (a *OwnTags) OnStreet() bool { return a.Street != 0 || a.Place != 0 }

// Classify returns the class of an object, and sets l.Kinds and l.Names, which are valid until the next call. An object
// without kinds that does not serve is not needed.
func (l *Reader) Classify(r *objects.Feature) (c Class) {
	l.read(r.Tags)
	l.Kinds = l.Kinds[:0]
	c.Name, c.Address = l.values[keyName], l.address()
	isHouse := c.Address.HouseNumber != 0 || c.Address.HouseName != 0
	if c.Name != 0 || isHouse {
		c.General = true
		l.addKinds(0, len(placefile.MainKeys))
		switch {
		case len(l.Kinds) == 0 && isHouse:
			l.Kinds = append(l.Kinds, Pair{l.numbers[keyPlace], l.texts.Number("house")})
		case len(l.Kinds) == 0:
			l.addKinds(len(placefile.MainKeys), len(placefile.MainKeys)+len(otherKeys))
			c.General = false
		}
		c.Unnamed = len(l.Kinds) > 0 && c.Name == 0
	}
	if r.Geometry.Shape == geometry.Area {
		if l.has(keyBoundary) || l.has(keyPlace) {
			c.General = false
		}
		c.Area = l.readArea()
		c.Serves = c.Area.serves(c.Name != 0)
	}
	if c.Name != 0 {
		c.Place = placeKindOf(string(l.value(keyPlace)))
		if r.Geometry.Shape != geometry.Point {
			c.Road = l.roadKind()
		}
	}
	if c.Road != placefile.NoStreet {
		c.Postcode = l.OnePostcode(c.Address.Postcode)
	}
	l.addNames(&c)
	c.Importance = l.importance(&c, &r.Geometry)
	return c
}

// Address reads an address from tags.
func (l *Reader) Address(tags objects.Tags) OwnTags {
	l.read(tags)
	return l.address()
}

// address returns the address of the current object.
func (l *Reader) address() OwnTags {
	return OwnTags{
		HouseNumber: l.houseNumber(),
		HouseName:   l.trimmed(l.values[keyHouseName]),
		Street:      l.first(streetKeys),
		Place:       l.first(placeKeys),
		Suburb:      l.first(suburbKeys),
		Hamlet:      l.first(hamletKeys),
		City:        l.first(cityKeys),
		County:      l.first(countyKeys),
		State:       l.first(stateKeys),
		Postcode:    l.first(postcodeKeys),
	}
}

// houseNumber returns addr:housenumber, or else the numbers of the land register and of the street.
func (l *Reader) houseNumber() uint32 {
	if n := l.trimmed(l.values[keyHouseNumber]); n != 0 {
		return n
	}
	register, street := l.trimmed(l.values[keyRegister]), l.trimmed(l.values[keyStreetNumber])
	if register == 0 || street == 0 {
		return register | street
	}
	return l.texts.Number(l.texts.Text(register) + "/" + l.texts.Text(street))
}

// roadKind returns the kind of a street or square. Its name is the street of its address.
func (l *Reader) roadKind() placefile.RoadKind {
	kind := placefile.RoadKindOf(string(l.value(keyHighway)))
	if kind == placefile.NoStreet && string(l.value(keyPlace)) == "square" {
		return placefile.MainStreet
	}
	return kind
}

// PlaceKind is the roles in addresses of a value of place.
type PlaceKind uint8

const (
	PlaceSettlement PlaceKind = 1 << iota // can be an answer of the fallback
	PlaceCity                             // can be an address's city
	PlaceSuburb                           // can be an address's suburb
	PlaceHamlet
	PlaceDwelling // less than a hamlet
	PlaceMunicipality
)

func placeKindOf(place string) PlaceKind {
	switch place {
	case "", "continent", "country", "state", "region", "province", "district", "county", "archipelago", "ocean", "sea",
		"house", "houses", "postcode", "plot", "polder": // larger than where a point on land is, water, or a building
		return 0
	case "city", "town", "village":
		return PlaceSettlement | PlaceCity
	case "hamlet":
		return PlaceSettlement | PlaceHamlet
	case "isolated_dwelling", "farm", "croft":
		return PlaceSettlement | PlaceDwelling
	case "municipality":
		return PlaceSettlement | PlaceMunicipality
	}
	if slices.Contains(placefile.SuburbPlaces, place) {
		return PlaceSettlement | PlaceSuburb
	}
	return PlaceSettlement
}
