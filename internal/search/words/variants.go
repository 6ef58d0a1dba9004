package words

import (
	_ "embed"
	"iter"
	"slices"
	"strings"
	"sync"
)

//go:embed abbreviations.txt
var abbreviationsTable string

// lines yields the lines of a table without comments and empty lines.
func lines(table string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(table) {
			line, _, _ = strings.Cut(line, "#")
			if line = strings.TrimSpace(line); line != "" && !yield(line) {
				return
			}
		}
	}
}

type abbreviationTables struct {
	words    map[string][]string
	suffixes [][]string
	fillers  map[string]bool
}

var abbreviations = sync.OnceValue(func() *abbreviationTables {
	tables := &abbreviationTables{words: map[string][]string{}, fillers: map[string]bool{}}
	for line := range lines(abbreviationsTable) {
		group := strings.Fields(line)
		switch {
		case group[0] == "filler":
			for _, word := range group[1:] {
				tables.fillers[word] = true
			}
		case group[0] == "suffix":
			tables.suffixes = append(tables.suffixes, group[1:])
		default:
			for _, word := range group {
				for _, variant := range group {
					if variant != word && !slices.Contains(tables.words[word], variant) {
						tables.words[word] = append(tables.words[word], variant)
					}
				}
			}
		}
	}
	return tables
})

// Variants returns other spellings of a normalized token that mean the same: abbreviations and full forms both ways,
// such as street and saint for st, st for street; ordinals up to 20, such as 1st for first; hauptstrasse for hauptstr;
// and konig for koenig, as ö is folded to o. The token itself is not among them. The slice is shared: do not change it.
//
// Variants of variants are not variants: saint is none of street.
func Variants(token string) []string {
	tables := abbreviations()
	if variants, ok := tables.words[token]; ok {
		return variants
	}
	variants := tables.suffixVariants(nil, token)
	if plain := withoutUmlauts(token); plain != token {
		variants = tables.suffixVariants(append(variants, plain), plain)
	}
	return variants
}

// minStem is the shortest stem before a suffix, in bytes.
const minStem = 2

func (t *abbreviationTables) suffixVariants(variants []string, token string) []string {
	for _, group := range t.suffixes {
		for _, suffix := range group {
			stem, ok := strings.CutSuffix(token, suffix)
			if !ok || len(stem) < minStem {
				continue
			}
			for _, other := range group {
				if other != suffix {
					variants = append(variants, stem+other)
				}
			}
			break // Suffixes of a group are not suffixes of each other's words.
		}
	}
	return variants
}

// withoutUmlauts replaces ae, oe and ue, where they are not parts of eue, que and the like, by a, o and u.
func withoutUmlauts(token string) string {
	var array [64]byte
	plain := array[:0]
	for i := range len(token) {
		if token[i] == 'e' && i > 0 && strings.IndexByte("aou", token[i-1]) >= 0 &&
			(i == 1 || strings.IndexByte("aeiouq", token[i-2]) < 0) {
			continue
		}
		plain = append(plain, token[i])
	}
	if len(plain) == len(token) || len(token) < 4 {
		return token
	}
	return string(plain)
}

// Filler reports whether a normalized token carries next to no meaning in a name, so that a query may lack it:
// articles, prepositions and "and".
func Filler(token string) bool { return abbreviations().fillers[token] }
