// Package tags holds the tags of OpenStreetMap objects. Keys that the compiler looks up have numbers (keys.go), so that
// a lookup compares no strings. What tags mean is for packages profile, objects and schema. Begin at Set.
package tags

import (
	"slices"
	"strings"

	"github.com/paulmach/osm"
)

// Key is the number of a key that the compiler looks up.
type Key uint8

// Other is the number of all other keys.
const Other Key = 0

// The keys by their numbers, and their numbers.
var (
	names   = []string{""}
	numbers = make(map[string]Key)
)

// Number returns the number of a key, and gives it one if it has none. It may be called only while packages are
// initialized.
func Number(name string) Key {
	key, ok := numbers[name]
	if !ok {
		if key = Key(len(names)); key == Other {
			panic("tags: too many keys")
		}
		names, numbers[name] = append(names, name), key
	}
	return key
}

// KeyOf returns the number of a key, or Other.
func KeyOf(name string) Key { return numbers[name] }

// String returns the key as it is written.
func (k Key) String() string { return names[k] }

// Set is the tags of one object. The zero Set is empty. It does not copy the strings.
type Set struct {
	tags osm.Tags
	keys []Key // of each tag
	has  Keys
}

// Limits of one object's tags. OpenStreetMap allows 255 characters for a value, and some countries have 400 names.
const (
	maxTags = 1000
	maxText = 4 * 255 // bytes
)

// Of returns the set of some tags.
func Of(tags osm.Tags) *Set {
	s := new(Set)
	for _, t := range tags {
		s.Add(KeyOf(t.Key), t.Key, t.Value)
	}
	return s
}

// Add adds a tag, given the number of its key. It ignores tags without a value, tags with a key that is there already,
// and tags beyond the limits. Values that are too long are truncated.
func (s *Set) Add(key Key, name, value string) {
	if len(value) > maxText {
		value = strings.ToValidUTF8(value[:maxText], "")
	}
	if value == "" || len(name) > maxText || len(s.tags) == maxTags {
		return
	}
	if key != Other && s.Has(key) || key == Other && s.Find(name) != "" {
		return
	}
	s.tags = append(s.tags, osm.Tag{Key: name, Value: value})
	s.keys = append(s.keys, key)
	s.has.Add(key)
}

// Reset removes all tags and keeps the memory of the lists.
func (s *Set) Reset() {
	if len(s.tags) > 0 {
		*s = Set{tags: s.tags[:0], keys: s.keys[:0]}
	}
}

// Len returns the number of tags.
func (s *Set) Len() int { return len(s.tags) }

// Has reports whether there is a tag with a key.
func (s *Set) Has(key Key) bool { return s.has.Has(key) }

// HasAny reports whether there is a tag with any of some keys.
func (s *Set) HasAny(keys *Keys) bool {
	for i, word := range keys {
		if s.has[i]&word != 0 {
			return true
		}
	}
	return false
}

// Get returns the value of a key, or "".
func (s *Set) Get(key Key) string {
	if !s.Has(key) {
		return ""
	}
	return s.tags[slices.Index(s.keys, key)].Value
}

// Is reports whether a key has any of some values.
func (s *Set) Is(key Key, values ...string) bool {
	return s.Has(key) && slices.Contains(values, s.Get(key))
}

// Find returns the value of any key, or "". Get is faster for keys with a number.
func (s *Set) Find(name string) string { return s.tags.Find(name) }

// All yields the tags in the order of the file, each with the number of its key.
func (s *Set) All(yield func(key Key, tag osm.Tag) bool) {
	for i := range s.tags {
		if !yield(s.keys[i], s.tags[i]) {
			return
		}
	}
}

// OSM returns the tags as those of package osm, which must not be changed.
func (s *Set) OSM() osm.Tags { return s.tags }

// Keys is a set of keys.
type Keys [256 / 64]uint64

// List returns the numbers of the keys in a text, in which they are separated by blanks.
func List(text string) (keys []Key) {
	for name := range strings.FieldsSeq(text) {
		keys = append(keys, Number(name))
	}
	return keys
}

// Named returns the set of the keys in a text, as List.
func Named(text string) *Keys { return KeysOf(List(text)...) }

// KeysOf returns the set of some keys.
func KeysOf(keys ...Key) *Keys {
	set := new(Keys)
	for _, k := range keys {
		set.Add(k)
	}
	return set
}

// Add adds a key.
func (k *Keys) Add(key Key) { k[key/64] |= 1 << (key % 64) }

// Has reports whether a key is in the set.
func (k *Keys) Has(key Key) bool { return k[key/64]>>(key%64)&1 != 0 }

// Main has the keys that tell what an object is.
var Main = Named(`
	amenity shop tourism leisure historic office craft highway railway natural landuse place boundary building
	aerialway aeroway attraction barrier bridge building:part cemetery club emergency geological golf healthcare
	junction man_made military mountain_pass playground power public_transport route ruins telecom tunnel waterway`)

// Valid replaces bytes that are not UTF-8, which PBF files may contain.
func Valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
