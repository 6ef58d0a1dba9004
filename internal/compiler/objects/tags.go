package objects

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
)

// detailKeys are keys of names, addresses and administrative divisions. A region keeps their tags and those of
// tags.Main.
var detailKeys = tags.Named(`
	name alt_name old_name short_name int_name loc_name official_name ref admin_level border_type postal_code capital
	population wikidata country_code country_code_iso3166_1_alpha_2 country_code_iso3166_1_alpha_3 is_in`)

// detailPrefixes are prefixes of more keys that a region keeps.
var detailPrefixes = [...]string{"name:", "addr:", "is_in:", "ISO3166-1", "ISO3166-2"}

// addressKeys are the keys that make an address.
var addressKeys = tags.Named("addr:housenumber addr:conscriptionnumber addr:streetnumber addr:housename")

// codeKeys make a boundary a feature even without a name.
var codeKeys = tags.Named("postal_code ISO3166-1 ISO3166-1:alpha2 ISO3166-1:alpha3 ISO3166-2")

// isKept reports whether a region keeps the tags of a key.
func isKept(key tags.Key, name string) bool {
	return tags.Main.Has(key) || detailKeys.Has(key) ||
		slices.ContainsFunc(detailPrefixes[:], func(p string) bool { return strings.HasPrefix(name, p) })
}

// isFeature reports whether an object with these tags is a feature. It has a house number or a house name; or a name
// and a main key; or it is a boundary with a code for addresses.
func isFeature(t *tags.Set) bool {
	return t.HasAny(addressKeys) || t.Has(tags.Name) && t.HasAny(tags.Main) || t.Has(tags.Boundary) && t.HasAny(codeKeys)
}

// Tags are the tags that a region keeps, as numbers of texts.
type Tags []Tag

// Tag is one tag.
type Tag struct{ Key, Value uint32 }

// Get returns a tag's value, or 0.
func (t Tags) Get(key uint32) uint32 {
	for _, tag := range t {
		if tag.Key == key {
			return tag.Value
		}
	}
	return 0
}

// appendTags appends tags to a record. readTags reads them.
func appendTags(row []byte, tags Tags) []byte {
	row = binary.AppendUvarint(row, uint64(len(tags)))
	for _, t := range tags {
		row = binary.AppendUvarint(binary.AppendUvarint(row, uint64(t.Key)), uint64(t.Value))
	}
	return row
}

func readTags(r *scratch.Reader, tags Tags) Tags {
	for range r.Uvarint() {
		tags = append(tags, Tag{uint32(r.Uvarint()), uint32(r.Uvarint())})
	}
	return tags
}
