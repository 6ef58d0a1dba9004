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

// MainKeys are the keys of categories. An object is found under each that it has; without a category filter it appears
// under the first.
var MainKeys = []string{
	"amenity", "shop", "tourism", "leisure", "historic", "office", "craft", "highway", "railway", "natural", "landuse",
	"place", "boundary", "building",
}

// Kind is a category of a feature.
type Kind struct{ Key, Value string }

// MaxKinds limits the kinds of an object. Some have five.
const MaxKinds = 32

// AppendKinds appends an object's kinds under some keys, one for each element of a list value. tag returns the value of
// a key.
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

// Normalize returns the form in which terms are compared.
func Normalize(term string) string { return strings.ToLower(strings.TrimSpace(term)) }
