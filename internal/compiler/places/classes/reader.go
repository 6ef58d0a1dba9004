// Package classes reads tags: what an object is, what it is called, what it says of its own address, and its part in
// the addresses of others. Begin at Reader.Classify.
package classes

import (
	"bytes"
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/mapsedge/caddy-maps/internal/compiler/objects"
	"github.com/mapsedge/caddy-maps/internal/compiler/scratch"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// otherKeys are looked at where a named object has none of the main keys and no house number: a river, a bridge. Such
// an object is found only by a category that asks for it.
var otherKeys = []string{
	"waterway", "man_made", "aeroway", "aerialway", "public_transport", "healthcare", "club", "emergency", "military",
	"power", "telecom", "geological", "mountain_pass", "golf", "attraction", "playground", "cemetery", "barrier",
	"junction", "bridge", "tunnel", "ruins", "building:part",
}

// knownKeys are those that are asked for: placefile.MainKeys, otherKeys, and those that say the rest that matters of an
// object, beside its names in other languages.
var knownKeys = slices.Concat(placefile.MainKeys, otherKeys)

// maxKnownKeys is how many there may be.
const maxKnownKeys = 64

// A key is the index of a known key.
type key uint8

// keyOf returns a key, which becomes known.
func keyOf(s string) key {
	i := slices.Index(knownKeys, s)
	if i < 0 {
		i = len(knownKeys)
		knownKeys = append(knownKeys, s)
	}
	return key(i)
}

func keysOf(text string) (keys []key) {
	for s := range strings.FieldsSeq(text) {
		keys = append(keys, keyOf(s))
	}
	return keys
}

var (
	keyHighway, keyPlace, keyBoundary = keyOf("highway"), keyOf("place"), keyOf("boundary")
	keyBuilding, keyName, keyRef      = keyOf("building"), keyOf("name"), keyOf("ref")
	keyPostalCode, keyLevel           = keyOf("postal_code"), keyOf("admin_level")
	keySubdivision                    = keyOf("ISO3166-2")
	keyHouseNumber, keyHouseName      = keyOf("addr:housenumber"), keyOf("addr:housename")
	keyRegister, keyStreetNumber      = keyOf("addr:conscriptionnumber"), keyOf("addr:streetnumber")

	streetKeys   = keysOf("addr:street")
	placeKeys    = keysOf("addr:place")
	suburbKeys   = keysOf("addr:suburb addr:quarter addr:neighbourhood")
	hamletKeys   = keysOf("addr:hamlet")
	cityKeys     = keysOf("addr:city addr:town addr:village addr:municipality")
	countyKeys   = keysOf("addr:county")
	stateKeys    = keysOf("addr:state addr:province")
	postcodeKeys = keysOf("addr:postcode postal_code")
	countryKeys  = keysOf("ISO3166-1:alpha3 ISO3166-1:alpha2 ISO3166-1 country_code_iso3166_1_alpha_2")
)

// Texts has the texts of an extract, to which some more are added. It keeps the first error of that.
type Texts struct {
	*scratch.Texts
	Err error
}

// Number returns the number of a text.
func (t *Texts) Number(s string) uint32 {
	n, err := t.Add(s)
	t.Err = cmp.Or(t.Err, err)
	return n
}

// Reader reads tags, of which it knows the texts by their numbers.
type Reader struct {
	texts     *Texts
	keys      map[uint32]key // by text
	numbers   [maxKnownKeys]uint32
	languages map[uint32]uint32 // of keys that are names in a language; 0 of other keys
	words     map[uint32]uint32 // of texts that say what something is

	// What the object says that was read last:
	values [maxKnownKeys]uint32
	Names  []Pair // in other languages
	Kinds  []Pair
}

// Pair is a key and a value, or a language and a name, by the numbers of their texts.
type Pair struct{ Key, Value uint32 }

// New makes a reader of tags whose texts are in a table, to which it adds some.
func New(texts *Texts) *Reader {
	l := &Reader{texts: texts, keys: map[uint32]key{}, languages: map[uint32]uint32{}, words: map[uint32]uint32{}}
	for i, s := range knownKeys {
		l.numbers[i] = l.texts.Number(s)
		l.keys[l.numbers[i]] = key(i)
	}
	return l
}

// read takes the tags of an object.
func (l *Reader) read(tags objects.Tags) {
	clear(l.values[:])
	l.Names = l.Names[:0]
	for _, t := range tags {
		if k, ok := l.keys[t.Key]; ok {
			l.values[k] = t.Value
			continue
		}
		name, known := l.languages[t.Key]
		if !known {
			if s, ok := bytes.CutPrefix(l.texts.Bytes(t.Key), []byte("name:")); ok && language.Match(s) {
				name = l.texts.Number(string(s))
			}
			l.languages[t.Key] = name
		}
		if name != 0 && t.Value != 0 {
			l.Names = append(l.Names, Pair{name, t.Value})
		}
	}
}

// has tells whether the object has a key.
func (l *Reader) has(k key) bool { return l.values[k] != 0 }

// value is the text of a key of the object.
func (l *Reader) value(k key) []byte { return l.texts.Bytes(l.values[k]) }

// trimmed is the number of a text without blanks around it.
func (l *Reader) trimmed(n uint32) uint32 {
	text := l.texts.Bytes(n)
	if trimmed := bytes.TrimSpace(text); len(trimmed) != len(text) {
		return l.texts.Number(string(trimmed))
	}
	return n
}

// first is the number of the first of some keys' values that is not blank.
func (l *Reader) first(keys []key) uint32 {
	for _, k := range keys {
		if n := l.trimmed(l.values[k]); n != 0 {
			return n
		}
	}
	return 0
}

// addKinds adds what some keys, from one up to another, say that the object is.
func (l *Reader) addKinds(from, to int) {
	for k := from; k < to; k++ {
		n := l.values[k]
		if bytes.IndexByte(l.texts.Bytes(n), ';') < 0 {
			l.addKind(l.numbers[k], l.trimmed(n))
			continue
		}
		for s := range strings.SplitSeq(l.texts.Text(n), ";") {
			l.addKind(l.numbers[k], l.texts.Number(strings.TrimSpace(s)))
		}
	}
}

func (l *Reader) addKind(key, value uint32) {
	if k := (Pair{key, value}); value != 0 && len(l.Kinds) < placefile.MaxKinds && !slices.Contains(l.Kinds, k) {
		l.Kinds = append(l.Kinds, k)
	}
}

// Word is the number of a key or value in the form in which it is asked for.
func (l *Reader) Word(n uint32) uint32 {
	w, known := l.words[n]
	if !known {
		w = l.texts.Number(placefile.Normalize(l.texts.Text(n)))
		l.words[n] = w
	}
	return w
}

// Street is the number of what is the same of a street's name in different spellings: its letters and digits in lower
// case. It is 0 for no name only.
func (l *Reader) Street(name uint32) uint32 {
	if name == 0 {
		return 0
	}
	letters := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, l.texts.Text(name))
	return l.texts.Number("/" + strings.ReplaceAll(letters, "ß", "ss"))
}

// language is a language tag as in BCP 47, as far as names have them: name:etymology, name:prefix and the like are not
// names.
var language = regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{1,8})*$`)

// Alphabet returns all words that anything is found by, sorted by their texts.
func (l *Reader) Alphabet() []uint32 {
	words := slices.Collect(maps.Values(l.words))
	slices.Sort(words)
	words = slices.Compact(words)
	slices.SortFunc(words, func(a, b uint32) int { return bytes.Compare(l.texts.Bytes(a), l.texts.Bytes(b)) })
	return words
}

// OnePostcode is a postcode, and nothing where it is a list of several: these are of some part each.
func (l *Reader) OnePostcode(code uint32) uint32 {
	if code != 0 && bytes.ContainsAny(l.texts.Bytes(code), ",;") {
		return 0
	}
	return code
}

// IsBuilding tells whether a key is that of buildings.
func (l *Reader) IsBuilding(key uint32) bool { return key == l.numbers[keyBuilding] }
