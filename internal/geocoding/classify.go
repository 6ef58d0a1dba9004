package geocoding

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/build/extract"
)

// mainKeys say what an object is. An object that has several is one feature under each; where no category is asked for, it
// appears under the first.
var mainKeys = []string{
	"amenity", "shop", "tourism", "leisure", "historic", "office", "craft", "highway", "railway", "natural", "landuse",
	"place", "boundary", "building",
}

// otherKeys are looked at where a named object has none of the main keys and no house number: a river, a bridge. Such an
// object is found only by a category that asks for it.
var otherKeys = []string{
	"waterway", "man_made", "aeroway", "aerialway", "public_transport", "healthcare", "club", "emergency", "military",
	"power", "telecom", "geological", "mountain_pass", "golf", "attraction", "playground", "cemetery", "barrier",
	"junction", "bridge", "tunnel", "ruins", "building:part",
}

// keyValue is one way to say what a feature is.
type keyValue struct{ key, value string }

// classification is what an object's tags make of it.
type classification struct {
	kinds   []keyValue // in the order of mainKeys; a value that is a list is several
	name    string
	address addressTags
	general bool // found without a category
	unnamed bool // its name is its house number and street
}

// classify tells what an object is; no kinds, if it is nothing to be found.
func classify(f *extract.Feature) classification {
	c := classification{name: f.Tags.Get("name"), address: readAddress(f.Tags)}
	if c.name == "" && c.address.houseNumber == "" {
		return c
	}
	c.kinds = appendKinds(nil, f.Tags, mainKeys)
	c.general = true
	switch {
	case len(c.kinds) == 0 && c.address.houseNumber != "":
		c.kinds = []keyValue{{"place", "house"}}
	case len(c.kinds) == 0:
		c.kinds = appendKinds(nil, f.Tags, otherKeys)
		c.general = false
	}
	if len(c.kinds) > 0 && c.name == "" {
		c.unnamed = true // until its street is known
	}
	if newShape(f.Geometry) == shapeArea && (f.Tags.Get("boundary") != "" || f.Tags.Get("place") != "") {
		c.general = false
	}
	return c
}

// maxKinds is how many ways there may be to say what an object is. Some have five.
const maxKinds = 32

func appendKinds(kinds []keyValue, tags extract.Tags, keys []string) []keyValue {
	for _, key := range keys {
		for value := range strings.SplitSeq(tags.Get(key), ";") {
			k := keyValue{key, strings.TrimSpace(value)}
			if k.value != "" && len(kinds) < maxKinds && !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
		}
	}
	return kinds
}

// addressTags is what an object says of its own address.
type addressTags struct {
	houseNumber, street, place, suburb, hamlet, city, county, state, postcode string
}

func readAddress(tags extract.Tags) addressTags {
	first := func(keys ...string) string {
		for _, k := range keys {
			if v := strings.TrimSpace(tags.Get(k)); v != "" {
				return v
			}
		}
		return ""
	}
	return addressTags{
		houseNumber: houseNumber(tags),
		street:      first("addr:street"),
		place:       first("addr:place"),
		suburb:      first("addr:suburb", "addr:quarter", "addr:neighbourhood"),
		hamlet:      first("addr:hamlet"),
		city:        first("addr:city", "addr:town", "addr:village", "addr:municipality"),
		county:      first("addr:county"),
		state:       first("addr:state", "addr:province"),
		postcode:    first("addr:postcode", "postal_code"),
	}
}

// houseNumber is addr:housenumber. Where houses have a number of the land register, and maybe one of the street, it is
// both.
func houseNumber(tags extract.Tags) string {
	if number := strings.TrimSpace(tags.Get("addr:housenumber")); number != "" {
		return number
	}
	register, street := strings.TrimSpace(tags.Get("addr:conscriptionnumber")),
		strings.TrimSpace(tags.Get("addr:streetnumber"))
	if register != "" && street != "" {
		return register + "/" + street
	}
	return register + street
}

// line is the house number and the street, or the place of a house that is on none.
func (a *addressTags) line() string {
	return strings.TrimSpace(a.houseNumber + " " + cmp.Or(a.street, a.place))
}

// languages returns the names in other languages. name:etymology, name:prefix and the like are not names.
func languages(tags extract.Tags) []keyValue {
	var names []keyValue
	for _, t := range tags {
		if language, ok := strings.CutPrefix(t.Key, "name:"); ok && isLanguage(language) && t.Value != "" {
			names = append(names, keyValue{language, t.Value})
		}
	}
	return names
}

// isLanguage tells whether a suffix of name: is a language tag as in BCP 47: two or three letters, then subtags.
func isLanguage(s string) bool {
	for i, part := range strings.Split(s, "-") {
		if i == 0 && (len(part) < 2 || len(part) > 3) || len(part) == 0 || len(part) > 8 {
			return false
		}
		for _, r := range part {
			letter := r >= 'a' && r <= 'z' || i > 0 && (r >= 'A' && r <= 'Z' || r >= '0' && r <= '9')
			if !letter {
				return false
			}
		}
	}
	return true
}
