// Package tagging knows what tags of OpenStreetMap mean to searches and addresses.
package placefile

import (
	"slices"
	"strings"
)

// cityPlaces and suburbPlaces are the values of place that can be an address's city and suburb, best first.
var (
	CityPlaces   = []string{"city", "town", "municipality", "village", "hamlet"}
	SuburbPlaces = []string{"borough", "suburb", "quarter", "neighbourhood", "subdivision"}
)

// MainKeys say what an object is. An object that has several is one feature under each; where no category is asked for,
// it appears under the first.
var MainKeys = []string{
	"amenity", "shop", "tourism", "leisure", "historic", "office", "craft", "highway", "railway", "natural", "landuse",
	"place", "boundary", "building",
}

// Kind is one way to say what a feature is.
type Kind struct{ Key, Value string }

// MaxKinds is how many ways there may be to say what an object is. Some have five.
const MaxKinds = 32

// AppendKinds adds what the values of some keys say that an object is; a value that is a list is several. tag returns
// the value of a key.
func AppendKinds(kinds []Kind, tag func(key string) string, keys []string) []Kind {
	for _, key := range keys {
		for value := range strings.SplitSeq(tag(key), ";") {
			k := Kind{key, strings.TrimSpace(value)}
			if k.Value != "" && len(kinds) < MaxKinds && !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
		}
	}
	return kinds
}

// Normalize is the form that terms are compared in.
func Normalize(term string) string { return strings.ToLower(strings.TrimSpace(term)) }
