// Package classes interprets the tags of features: their kinds, names and addresses, and their roles in the addresses
// of others. It knows no geometry and no other features. Begin at Reader.Classify.
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

// otherKeys make the kinds of a named object without main keys and house number, such as a river or a bridge. Only
// requests for its category find it.
var otherKeys = []string{
	"waterway", "man_made", "aeroway", "aerialway", "public_transport", "healthcare", "club", "emergency", "military",
	"power", "telecom", "geological", "mountain_pass", "golf", "attraction", "playground", "cemetery", "barrier",
	"junction", "bridge", "tunnel", "ruins", "building:part",
}

// knownKeys are those that are asked for: placefile.MainKeys, otherKeys, and those that say the rest that matters of an
// object, beside its names in other languages.
var knownKeys = slices.Concat(placefile.MainKeys, otherKeys)

// maxKnownKeys limits their number.
const maxKnownKeys = 80

// key is an index into knownKeys.
type key uint8

// keyOf returns a key, and adds it to knownKeys.
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
	keyPopulation, keyWikidata        = keyOf("population"), keyOf("wikidata")
	keyCapital                        = keyOf("capital")
	keyHouseNumber, keyHouseName      = keyOf("addr:housenumber"), keyOf("addr:housename")
	keyRegister, keyStreetNumber      = keyOf("addr:conscriptionnumber"), keyOf("addr:streetnumber")

	streetKeys   = keysOf("addr:street")
	placeKeys    = keysOf("addr:place")
	suburbKeys   = keysOf("addr:suburb addr:quarter addr:neighbourhood")
	hamletKeys   = keysOf("addr:hamlet")
	cityKeys     = keysOf("addr:city addr:town addr:village addr:municipality")
	countyKeys   = keysOf("addr:county")
	stateKeys    = keysOf("addr:state addr:province")
	nameKeys     = keysOf("alt_name short_name official_name loc_name int_name old_name")
	postcodeKeys = keysOf("addr:postcode postal_code")
	countryKeys  = keysOf("ISO3166-1:alpha3 ISO3166-1:alpha2 ISO3166-1 country_code_iso3166_1_alpha_2")
)

// Texts is the texts of an extract, to which more are added. Err is the first error of adding.
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

// Reader interprets tags, which are numbers of texts.
type Reader struct {
	texts     *Texts
	keys      map[uint32]key // by text
	numbers   [maxKnownKeys]uint32
	languages map[uint32]uint32 // the languages of name:xx keys; 0 for other keys
	words     map[uint32]uint32 // the search terms of keys and values

	// The current object:
	values [maxKnownKeys]uint32
	Names  []Pair // in other languages, and other names
	Kinds  []Pair
}

// otherName is the language of names that are in no other language.
const otherName = "_"

// Pair is a key and a value, or a language and a name, by the numbers of their texts.
type Pair struct{ Key, Value uint32 }

// New makes a reader of tags with texts in a table, to which it adds some.
func New(texts *Texts) *Reader {
	l := &Reader{texts: texts, keys: map[uint32]key{}, languages: map[uint32]uint32{}, words: map[uint32]uint32{}}
	for i, s := range knownKeys {
		l.numbers[i] = l.texts.Number(s)
		l.keys[l.numbers[i]] = key(i)
	}
	return l
}

// read makes an object with some tags the current one.
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

// addNames adds the other names of the object: names by other keys, the number of a road, the code of a state, and the
// name of a house with a number.
func (l *Reader) addNames(c *Class) {
	add := func(name uint32) {
		if name != 0 && name != c.Name {
			l.Names = append(l.Names, Pair{l.texts.Number(otherName), name})
		}
	}
	for _, k := range nameKeys {
		add(l.values[k])
	}
	if l.has(keyHighway) {
		add(l.values[keyRef])
	}
	if _, code, ok := bytes.Cut(l.value(keySubdivision), []byte("-")); ok && c.Serves {
		add(l.texts.Number(string(code)))
	}
	if c.Address.HouseNumber != 0 {
		add(c.Address.HouseName)
	}
}

// has reports whether the object has a key.
func (l *Reader) has(k key) bool { return l.values[k] != 0 }

// value returns the object's value of a key.
func (l *Reader) value(k key) []byte { return l.texts.Bytes(l.values[k]) }

// trimmed returns the number of a text without surrounding blanks.
func (l *Reader) trimmed(n uint32) uint32 {
	text := l.texts.Bytes(n)
	if trimmed := bytes.TrimSpace(text); len(trimmed) != len(text) {
		return l.texts.Number(string(trimmed))
	}
	return n
}

// first returns the first value of some keys that is not blank.
func (l *Reader) first(keys []key) uint32 {
	for _, k := range keys {
		if n := l.trimmed(l.values[k]); n != 0 {
			return n
		}
	}
	return 0
}

// addKinds adds the kinds of the object by the keys [from, to).
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

// Word returns the search term of a key or value.
func (l *Reader) Word(n uint32) uint32 {
	w, known := l.words[n]
	if !known {
		w = l.texts.Number(placefile.Normalize(l.texts.Text(n)))
		l.words[n] = w
	}
	return w
}

// Street returns a number for a street's name that is the same for different spellings: that of its letters and digits
// in lower case. It is 0 only for no name.
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

// language matches language tags (BCP 47), and not other suffixes of name, such as etymology and prefix.
var language = regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{1,8})*$`)

// Alphabet returns all search terms, sorted by their texts.
func (l *Reader) Alphabet() []uint32 {
	words := slices.Collect(maps.Values(l.words))
	slices.Sort(words)
	words = slices.Compact(words)
	slices.SortFunc(words, func(a, b uint32) int { return bytes.Compare(l.texts.Bytes(a), l.texts.Bytes(b)) })
	return words
}

// OnePostcode returns a postcode, or 0 for a list of postcodes, which belong to different parts.
func (l *Reader) OnePostcode(code uint32) uint32 {
	if code != 0 && bytes.ContainsAny(l.texts.Bytes(code), ",;") {
		return 0
	}
	return code
}

// IsBuilding reports whether a key is building.
func (l *Reader) IsBuilding(key uint32) bool { return key == l.numbers[keyBuilding] }
