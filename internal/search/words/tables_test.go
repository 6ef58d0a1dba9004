package words

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestVariants(t *testing.T) {
	for token, want := range map[string]string{
		"st":           "street str saint",
		"street":       "st str",
		"n":            "north norte nord noord",
		"north":        "n",
		"nw":           "northwest",
		"1st":          "first",
		"twentieth":    "20th",
		"hauptstr":     "hauptstrasse",
		"hauptstrasse": "hauptstr",
		"kerkstr":      "kerkstraat",
		"r":            "rua rue",
		"rua":          "r",
		"av":           "avenue avenida",
		"ave":          "avenue avenida",
		"avenue":       "ave av",
		"dr":           "drive doctor",
		"koenig":       "konig",
		"koenigstr":    "koenigstrasse konigstr konigstrasse",
	} {
		got := Variants(token)
		for _, variant := range strings.Fields(want) {
			if !slices.Contains(got, variant) {
				t.Errorf("%s: got %q, want %s among them", token, got, variant)
			}
		}
	}
	for token, not := range map[string]string{"street": "saint", "saint": "street", "avenida": "avenue", "rue": "rua"} {
		if slices.Contains(Variants(token), not) {
			t.Errorf("%s has the variant %s", token, not)
		}
	}
	for _, token := range []string{"", "main", "queen", "neue", "foe", "21st", "str7"} {
		if got := Variants(token); len(got) > 0 {
			t.Errorf("%q: got %q, want none", token, got)
		}
	}
}

func TestFiller(t *testing.T) {
	for _, token := range strings.Fields("the of de da do la le der die und and et e y") {
		if !Filler(token) {
			t.Errorf("%s is no filler", token)
		}
	}
	for _, token := range []string{"main", "", "street", "filler"} {
		if Filler(token) {
			t.Errorf("%q is a filler", token)
		}
	}
}

func TestLatin(t *testing.T) {
	for text, want := range map[string]string{
		"Невский":      "nevskii",
		"улица":        "ulitsa",
		"Щёлково":      "shchelkovo",
		"Београд":      "beograd",
		"Київ":         "kiiv",
		"Αθήνα":        "athina",
		"Θεσσαλονίκη":  "thessaloniki",
		"Ακρόπολης":    "akropolis",
		"Πειραιάς":     "peiraias",
		"Μπουμπουλίνα": "bouboulina",
		"شارع":         "shara",
		"تهران":        "thran",
		"ירושלים":      "yrvshlym",
		"አዲስ":          "adis",
		"አበባ":          "abeba",
		"12а":          "12a",
		"main":         "",
		"12":           "",
		"東":            "",
		"हिन्दी":       "",
	} {
		tokens := Append(nil, text)
		if got := Latin(tokens[0].Text); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// normalized reports whether a word of a table is a token as Append makes it.
func normalized(word string) bool {
	tokens := Append(nil, word)
	return len(tokens) == 1 && tokens[0].Text == word
}

func TestAbbreviationsTable(t *testing.T) {
	groups, fillers := map[string]bool{}, map[string]bool{}
	for line := range lines(abbreviationsTable) {
		group := strings.Fields(line)
		if group[0] == "filler" {
			for _, word := range group[1:] {
				if !normalized(word) || fillers[word] {
					t.Errorf("%s is twice a filler, or not normalized", word)
				}
				fillers[word] = true
			}
			continue
		}
		if groups[line] {
			t.Errorf("twice: %s", line)
		}
		groups[line] = true
		if group[0] == "suffix" {
			group = group[1:]
		}
		if len(group) < 2 {
			t.Errorf("%s: a group of one", line)
		}
		for i, word := range group {
			if !normalized(word) || slices.Contains(group[:i], word) {
				t.Errorf("%s: %s is there twice, or not normalized", line, word)
			}
		}
	}
	if len(groups) < 300 || len(fillers) < 70 {
		t.Errorf("%d groups and %d fillers", len(groups), len(fillers))
	}
	for word, variants := range abbreviations().words {
		if len(variants) > 8 {
			t.Errorf("%s has %d variants, which makes each query for it slow: %q", word, len(variants), variants)
		}
		for _, variant := range variants {
			if variant == word || !slices.Contains(Variants(variant), word) {
				t.Errorf("%s is a variant of %s, but not the other way around", variant, word)
			}
		}
	}
}

func TestLettersTable(t *testing.T) {
	seen := map[string]bool{}
	for line := range lines(lettersTable) {
		fields := strings.Fields(line)
		if len(fields) > 2 || seen[fields[0]] || !normalized(fields[0]) {
			t.Errorf("%q is there twice, malformed or not normalized", line)
		}
		seen[fields[0]] = true
		if len(fields) == 2 && (!normalized(fields[1]) || strings.ContainsFunc(fields[1], func(r rune) bool { return r >= utf8.RuneSelf })) {
			t.Errorf("%q: not Latin", line)
		}
	}
	// What folding leaves of these alphabets is in the table.
	for _, letter := range "абвгдежзийклмнопрстуфхцчшщъыьэюяёєіїґђјљњћџѕқңғүұһөәαβγδεζηθικλμνξοπρσςτυφχψωابتثجحخدذرزسشصضطظعغفقكلمنهويءآأإؤئةىپچژگکیאבגדהוזחטיכךלמםנןסעפףצץקרשתሀሁሂሎማስቱፐ" {
		token, _ := fold(string(letter), nil)
		if latin := Latin("я" + token); !strings.HasPrefix(latin, "ya") {
			t.Errorf("%c has no Latin form", letter)
		}
	}
}

func TestCategories(t *testing.T) {
	seen := map[string]string{}
	for _, category := range Categories() {
		tag := category.Key + "=" + category.Value
		if seen[tag] != "" || category.Key == "" || category.Value == "" || strings.ContainsAny(tag, " :") {
			t.Errorf("%s is there twice or malformed", tag)
		}
		seen[tag] = tag
		for _, name := range category.Names {
			words := texts(name)
			if words == "" || name != strings.TrimSpace(name) {
				t.Errorf("%s: %q is no name", tag, name)
			}
			if other := seen[words]; other != "" {
				t.Errorf("%s: %s is also a name of %s", tag, name, other)
			}
			seen[words] = tag
		}
	}
	for words, tag := range map[string]string{
		"gas station": "amenity=fuel", "tankstelle": "amenity=fuel", "farmacia": "amenity=pharmacy", "pharmacy": "amenity=pharmacy",
		"bahnhof": "railway=station", "aeroporto": "aeroway=aerodrome", "u bahn": "railway=subway_entrance", "аптека": "amenity=pharmacy",
	} {
		if seen[words] != tag {
			t.Errorf("%s: got %q, want %s", words, seen[words], tag)
		}
	}
	if n := len(Categories()); n < 100 {
		t.Errorf("%d categories", n)
	}
}
