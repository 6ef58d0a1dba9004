package dataset

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/paulmach/osm"
	"golang.org/x/text/unicode/norm"
)

// scripts are how the letters a to z are written. In Ethiopic a consonant and the vowel behind it are one letter.
var scripts = map[string]string{
	"Cyrillic": "а б к д е ф г х и й к л м н о п щ р с т у в ж ы я з",
	"Greek":    "α β κ δ ε φ γ η ι ζ κ λ μ ν ο π θ ρ σ τ υ β ω ξ ψ ζ",
	"Arabic":   "ا ب ك د ي ف ج ه ي ج ك ل م ن و ب ق ر س ت و ف و خ ي ز",
	"Ethiopic": "አ በ ከ ደ አ ፈ ገ ሀ አ ጀ ከ ለ መ ነ አ ፐ ቀ ረ ሰ ተ አ ቨ ወ ሸ የ ዘ",
}

// names are the keys of what Script rewrites. It drops names in other languages.
var names = []string{"name", "addr:street", "addr:city", "addr:place", "addr:suburb", "alt_name", "old_name",
	"official_name", "loc_name", "short_name", "is_in"}

// Script is for Rewrite: it writes all names in another script, letter by letter, and drops those in other languages.
func Script(name string) (func(osm.Object) bool, error) {
	table := strings.Fields(scripts[name])
	if len(table) == 0 {
		return nil, fmt.Errorf("no script %q", name)
	}
	rewrite := func(tags osm.Tags) osm.Tags {
		tags = slices.DeleteFunc(tags, func(t osm.Tag) bool {
			return strings.HasPrefix(t.Key, "name:") || strings.Contains(t.Key, "_name:") || t.Key == "int_name"
		})
		for i := range tags {
			if slices.Contains(names, tags[i].Key) {
				tags[i].Value = write(table, tags[i].Value)
			}
		}
		return tags
	}
	return func(o osm.Object) bool {
		switch o := o.(type) {
		case *osm.Node:
			o.Tags = rewrite(o.Tags)
		case *osm.Way:
			o.Tags = rewrite(o.Tags)
		case *osm.Relation:
			o.Tags = rewrite(o.Tags)
		}
		return true
	}, nil
}

// vowels are the forms of an Ethiopic letter for the vowel behind it, counted from that in the table.
var vowels = map[rune]rune{'u': 1, 'i': 2, 'a': 3, 'e': 4, 'o': 6}

const silent = 5 // the form without a vowel

// write writes a text in letters for a to z. Marks are lost.
func write(table []string, text string) string {
	var b strings.Builder
	letters := []rune(norm.NFKD.String(strings.ReplaceAll(text, "ß", "ss")))
	letters = slices.DeleteFunc(letters, func(r rune) bool { return unicode.Is(unicode.Mn, r) })
	for i := 0; i < len(letters); i++ {
		lower := unicode.ToLower(letters[i])
		if lower < 'a' || lower > 'z' {
			b.WriteRune(letters[i])
			continue
		}
		letter := table[lower-'a']
		if lower != letters[i] {
			letter = strings.ToUpper(letter)
		}
		if first := []rune(letter)[0]; unicode.Is(unicode.Ethiopic, first) {
			form := cmp.Or(vowels[lower], silent)
			if vowels[lower] == 0 && i+1 < len(letters) && vowels[unicode.ToLower(letters[i+1])] != 0 {
				i++
				form = vowels[unicode.ToLower(letters[i])]
			}
			letter = string(first + form)
		}
		b.WriteString(letter)
	}
	return b.String()
}
