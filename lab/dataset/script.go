package dataset

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/paulmach/osm"
	"golang.org/x/text/unicode/norm"
)

// scripts are how the letters a to z are written.
var scripts = map[string]string{
	"Cyrillic": "а б к д е ф г х и й к л м н о п щ р с т у в ж ы я з",
	"Greek":    "α β κ δ ε φ γ η ι ζ κ λ μ ν ο π θ ρ σ τ υ β ω ξ ψ ζ",
	"Arabic":   "ا ب ك د ي ف ج ه ي ج ك ل م ن و ب ق ر س ت و ف و خ ي ز",
	"Ethiopic": "አ ብ ክ ድ ኤ ፍ ግ ህ ኢ ጅ ክ ል ም ን ኦ ፕ ቅ ር ስ ት ኡ ቭ ው ሽ ይ ዝ",
}

// names are the keys of what Script rewrites. It drops names in other languages.
var names = []string{"name", "addr:street", "addr:city", "addr:place", "addr:suburb", "alt_name", "old_name",
	"official_name", "loc_name", "short_name", "is_in"}

// Script is for Rewrite: it writes all names in another script, letter by letter, and drops those in other languages.
func Script(name string) (func(osm.Object) bool, error) {
	table := strings.Fields(scripts[name])
	if table == nil {
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

// write writes a text in letters for a to z. Marks are lost.
func write(table []string, text string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ReplaceAll(text, "ß", "ss")) {
		switch lower := unicode.ToLower(r); {
		case unicode.Is(unicode.Mn, r):
		case lower < 'a' || lower > 'z':
			b.WriteRune(r)
		case lower != r:
			b.WriteString(strings.ToUpper(table[lower-'a']))
		default:
			b.WriteString(table[lower-'a'])
		}
	}
	return b.String()
}
