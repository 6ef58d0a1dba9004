package geocoding

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/geocoding/geometry"
	"github.com/mapsedge/caddy-maps/internal/geocoding/placefile"
)

// Limits of a list of languages.
const (
	maxLanguages    = 16
	maxLanguageText = 512
)

// ParseLanguages reads a list of languages like the header Accept-Language: BCP 47 tags with optional weights, such as
// "de-AT, de;q=0.9, en;q=0.5". It returns the tags in order of preference, up to a "*". The error has no parameter
// name.
func ParseLanguages(text string) (languages []string, err error) {
	if len(text) > maxLanguageText {
		return nil, fmt.Errorf("is longer than %d characters", maxLanguageText)
	}
	type weighted struct {
		tag    string
		weight float64
	}
	var list []weighted
	for item := range strings.SplitSeq(text, ",") {
		tag, parameter, weighs := strings.Cut(item, ";")
		if tag = strings.TrimSpace(tag); tag == "" && !weighs {
			continue
		}
		w := weighted{tag, 1}
		if weighs {
			name, value, _ := strings.Cut(parameter, "=")
			w.weight, err = strconv.ParseFloat(strings.TrimSpace(value), 64)
			if !strings.EqualFold(strings.TrimSpace(name), "q") || err != nil || !(w.weight >= 0 && w.weight <= 1) {
				return nil, fmt.Errorf("has the weight %q, which is not q= and a number from 0 to 1", strings.TrimSpace(parameter))
			}
		}
		if tag != "*" && !isLanguageTag(tag) {
			return nil, fmt.Errorf("has %q, which is no language tag", tag)
		}
		if len(list) == maxLanguages {
			return nil, fmt.Errorf("has more than %d languages", maxLanguages)
		}
		list = append(list, w)
	}
	slices.SortStableFunc(list, func(a, b weighted) int { return cmp.Compare(b.weight, a.weight) })
	for _, w := range list {
		if w.tag == "*" || w.weight == 0 {
			break
		}
		languages = append(languages, w.tag)
	}
	return languages, nil
}

// isLanguageTag reports whether a text has the form of a BCP 47 tag: letters, then subtags of letters and digits.
func isLanguageTag(tag string) bool {
	for i, part := range strings.Split(tag, "-") {
		if len(part) < 1 || len(part) > 8 || i == 0 && len(part) < 2 {
			return false
		}
		for _, r := range part {
			if letter := r|0x20 >= 'a' && r|0x20 <= 'z'; !letter && (i == 0 || r < '0' || r > '9') {
				return false
			}
		}
	}
	return true
}

// nameOf returns the name of a label in the first available language, else its default name.
func (s *search) nameOf(l label, languages []string) []byte {
	if len(languages) > 0 && l.feature != 0 {
		f := s.x.feature(l.feature - 1)
		r := s.x.details(&f, placefile.DetailBytes)
		d := f.ReadDetails(&r, &s.x.text)
		if name := s.x.translated(&f, &d, languages); len(name) > 0 {
			return name
		}
	}
	return l.name
}

// translated returns the name of a feature in the first available language; nil if there is none. It follows the lookup
// of RFC 4647: de-AT falls back to de.
func (x *Index) translated(f *feature, d *placefile.Details, languages []string) []byte {
	if d.Names == 0 {
		return nil
	}
	for _, language := range languages {
		for tag := language; tag != ""; tag = shorter(tag) {
			for l, name := range x.names(f, d) {
				if strings.EqualFold(string(l), tag) {
					return name
				}
			}
		}
	}
	return nil
}

// names yields the languages and the names of a feature beside its usual one.
func (x *Index) names(f *feature, d *placefile.Details) iter.Seq2[[]byte, []byte] {
	return func(yield func(language, name []byte) bool) {
		if d.Names == 0 {
			return
		}
		r := x.details(f, d.Names+placefile.NameBytes)
		r.At = d.Names
		length := r.Uint()
		if length > placefile.MaxNames*placefile.NameBytes {
			geometry.Corrupt("a feature has too many names")
		}
		from, end := r.At, r.At+int(length)
		r = x.details(f, end)
		r.Data, r.At = r.Data[:min(end, len(r.Data))], from
		for r.At < len(r.Data) {
			if l, name := r.String(&x.text), r.String(&x.text); !yield(l, name) {
				return
			}
		}
	}
}

// shorter removes the last subtag, and a single letter before it.
func shorter(tag string) string {
	i := strings.LastIndexByte(tag, '-')
	if i < 0 {
		return ""
	}
	if i >= 2 && tag[i-2] == '-' {
		i -= 2
	}
	return tag[:i]
}
