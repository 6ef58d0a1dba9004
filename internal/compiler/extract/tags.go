package extract

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/paulmach/osm"
)

// mainKeys are the keys that say what an object is. The first fourteen are those that the service ranks; the others
// make a named object worth finding too.
var mainKeys = setOf(
	"amenity", "shop", "tourism", "leisure", "historic", "office", "craft", "highway", "railway", "natural", "landuse",
	"place", "boundary", "building",
	"aerialway", "aeroway", "attraction", "barrier", "bridge", "building:part", "cemetery", "club", "emergency",
	"geological",
	"golf", "healthcare", "junction", "man_made", "military", "mountain_pass", "playground", "power", "public_transport",
	"route", "ruins", "telecom", "tunnel", "waterway",
)

// detailKeys are kept beside the main keys: names, addresses, and what places objects in administrative divisions.
var detailKeys = setOf(
	"name", "alt_name", "short_name", "int_name", "loc_name", "official_name", "ref", "admin_level", "border_type",
	"postal_code", "capital", "population", "country_code_iso3166_1_alpha_2", "country_code_iso3166_1_alpha_3",
	"country_code", "is_in",
)

// detailPrefixes are the namespaces kept whole.
var detailPrefixes = []string{"name:", "addr:", "is_in:", "ISO3166-1", "ISO3166-2"}

func setOf(keys ...string) map[string]string {
	m := make(map[string]string, len(keys))
	for _, k := range keys {
		m[k] = k
	}
	return m
}

func isKept(key string) bool {
	if mainKeys[key] != "" || detailKeys[key] != "" {
		return true
	}
	for _, p := range detailPrefixes {
		if strings.HasPrefix(key, p) {
			return true
		}
	}
	return false
}

// isFeature says whether an object with these tags belongs into a region: it has a house number, or a name and
// something that tells what it is, or it is a boundary that serves addresses without a name (postal codes, ISO codes).
func isFeature(tags osm.Tags) bool {
	var name, main, boundary, code bool
	for i := range tags {
		t := &tags[i]
		if t.Value == "" {
			continue
		}
		switch t.Key {
		case "addr:housenumber", "addr:conscriptionnumber", "addr:streetnumber":
			return true
		case "name":
			name = true
		case "boundary":
			boundary, main = true, true
		case "postal_code", "ISO3166-1", "ISO3166-1:alpha2", "ISO3166-1:alpha3", "ISO3166-2":
			code = true
		default:
			main = main || mainKeys[t.Key] != ""
		}
	}
	return name && main || boundary && code
}

// hasMainKey says whether the tags tell what an object is.
func hasMainKey(tags osm.Tags) bool {
	for i := range tags {
		if tags[i].Value != "" && mainKeys[tags[i].Key] != "" {
			return true
		}
	}
	return false
}

// The limits of one object's tags. OpenStreetMap takes 255 characters for a value; countries have some 400 names.
const (
	maxTags  = 1000
	maxValue = 4 * 255 // bytes
)

// trim takes away what no map has, in place: tags beyond maxTags, what is longer than maxValue of a value, and keys
// of that length. It copies nothing, since most tags are not kept.
func trim(tags osm.Tags) osm.Tags {
	tags = tags[:min(len(tags), maxTags)]
	for i := range tags {
		t := &tags[i]
		if len(t.Key) > maxValue {
			t.Key = ""
		}
		if len(t.Value) > maxValue {
			end := maxValue
			for end > maxValue-utf8.UTFMax && !utf8.RuneStart(t.Value[end]) {
				end--
			}
			t.Value = t.Value[:end]
		}
	}
	return tags
}

// valid makes text valid that is not, which PBF files do not exclude.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// appendKept appends the tags that a region keeps, sorted by key. Of a key given twice, which only broken files have,
// the first value stays.
func appendKept(kept Tags, tags osm.Tags) Tags {
	from := len(kept)
	for i := range tags {
		if tags[i].Value != "" && isKept(tags[i].Key) {
			kept = append(kept, Tag{Key: valid(tags[i].Key), Value: valid(tags[i].Value)})
		}
	}
	own := kept[from:]
	slices.SortStableFunc(own, func(a, b Tag) int { return strings.Compare(a.Key, b.Key) })
	own = slices.CompactFunc(own, func(a, b Tag) bool { return a.Key == b.Key })
	return kept[:from+len(own)]
}
