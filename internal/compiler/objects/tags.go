package objects

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/compiler/tags"
)

// detailKeys are kept beside the main keys of package tags: names, addresses, and what places objects in administrative
// divisions.
var detailKeys = tags.Named(`
	name alt_name old_name short_name int_name loc_name official_name ref admin_level border_type postal_code capital
	population wikidata country_code country_code_iso3166_1_alpha_2 country_code_iso3166_1_alpha_3 is_in`)

// detailPrefixes are the namespaces kept whole.
var detailPrefixes = [...]string{"name:", "addr:", "is_in:", "ISO3166-1", "ISO3166-2"}

// addressKeys are those of which one makes an address.
var addressKeys = tags.Named("addr:housenumber addr:conscriptionnumber addr:streetnumber addr:housename")

// codeKeys make a boundary serve addresses, even without a name.
var codeKeys = tags.Named("postal_code ISO3166-1 ISO3166-1:alpha2 ISO3166-1:alpha3 ISO3166-2")

// isKept says whether a region keeps the tags of a key.
func isKept(key tags.Key, name string) bool {
	return tags.Main.Has(key) || detailKeys.Has(key) ||
		slices.ContainsFunc(detailPrefixes[:], func(p string) bool { return strings.HasPrefix(name, p) })
}

// isFeature says whether an object with these tags belongs into a region: it has a house number or a house's name, or a
// name and something that tells what it is, or it is a boundary that serves addresses without a name.
func isFeature(t *tags.Set) bool {
	return t.HasAny(addressKeys) || t.Has(tags.Name) && t.HasAny(tags.Main) || t.Has(tags.Boundary) && t.HasAny(codeKeys)
}

// Tags are key and value pairs, sorted by key: those that a region keeps.
type Tags []Tag

// Tag is one tag.
type Tag struct{ Key, Value string }

// TagNumbers is a tag by the numbers of its texts.
type TagNumbers struct{ Key, Value uint32 }

// Get returns a tag's value, or "".
func (t Tags) Get(key string) string {
	for _, tag := range t {
		if tag.Key == key {
			return tag.Value
		}
	}
	return ""
}

// with returns the tags and one more.
func (t Tags) with(tag Tag) Tags {
	i, _ := slices.BinarySearchFunc(t, tag.Key, func(t Tag, key string) int { return cmp.Compare(t.Key, key) })
	return slices.Insert(slices.Clone(t), i, tag)
}

// onStreet tells whether an address says where its house number belongs.
func (t Tags) onStreet() bool { return t.Get("addr:street") != "" || t.Get("addr:place") != "" }

// numberTags appends tags by the numbers of their texts.
func numberTags(numbers []TagNumbers, texts *scratch.Texts, tags Tags) ([]TagNumbers, error) {
	for i := range tags {
		key, err := texts.Add(tags[i].Key)
		if err != nil {
			return nil, err
		}
		value, err := texts.Add(tags[i].Value)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, TagNumbers{key, value})
	}
	return numbers, nil
}

// appendTags appends tags to a record. readTags reads them.
func appendTags(row []byte, tags []TagNumbers) []byte {
	row = binary.AppendUvarint(row, uint64(len(tags)))
	for _, t := range tags {
		row = binary.AppendUvarint(binary.AppendUvarint(row, uint64(t.Key)), uint64(t.Value))
	}
	return row
}

func readTags(r *scratch.Reader, tags []TagNumbers) []TagNumbers {
	for range r.Uvarint() {
		tags = append(tags, TagNumbers{uint32(r.Uvarint()), uint32(r.Uvarint())})
	}
	return tags
}

// textCache turns numbers of texts into strings. The texts that came first, which are those that most objects share, it
// keeps.
type textCache struct {
	texts *scratch.Texts
	first []string
}

// cachedTexts bounds how many texts are kept: there are no more keys and common values.
const cachedTexts = 1 << 14

func (c *textCache) text(number uint32) string {
	if number >= cachedTexts {
		return c.texts.Text(number)
	}
	for int(number) >= len(c.first) {
		c.first = append(c.first, c.texts.Text(uint32(len(c.first))))
	}
	return c.first[number]
}

func (c *textCache) tags(tags Tags, numbers []TagNumbers) Tags {
	for _, t := range numbers {
		tags = append(tags, Tag{c.text(t.Key), c.text(t.Value)})
	}
	return tags
}
