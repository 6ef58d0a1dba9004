package queries

import (
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/paulmach/orb"
	"golang.org/x/text/unicode/norm"
)

// short are abbreviations of street types and directions, by the words that they are for.
var short = map[string]string{
	"street": "st", "avenue": "ave", "road": "rd", "drive": "dr", "lane": "ln", "court": "ct", "boulevard": "blvd",
	"place": "pl", "circle": "cir", "highway": "hwy", "parkway": "pkwy", "terrace": "ter", "square": "sq",
	"north": "n", "south": "s", "east": "e", "west": "w", "northeast": "ne", "northwest": "nw", "southeast": "se",
	"southwest": "sw", "saint": "st", "straße": "str", "strasse": "str", "rua": "r", "avenida": "av",
	"travessa": "tv", "praça": "pç", "praceta": "pct", "estrada": "estr", "largo": "lg", "doutor": "dr",
}

// words are those of a text, in lower case and without punctuation and marks.
func words(text string) []string {
	text = strings.ReplaceAll(norm.NFKD.String(strings.ToLower(text)), "ß", "ss")
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r) || isDropped(r):
			return -1
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			return r
		}
		return ' '
	}, text)
	return strings.Fields(text)
}

// isDropped reports whether people leave out a character without a blank instead.
func isDropped(r rune) bool { return strings.ContainsRune(".'’ʼ`´", r) }

// plain is a text in which equally good spellings are the same.
func plain(text string) string {
	all := words(text)
	for i, w := range all {
		if s := short[w]; s != "" {
			all[i] = s
		} else if stem, ok := strings.CutSuffix(w, "strasse"); ok {
			all[i] = stem + "str"
		}
	}
	return strings.Join(all, " ")
}

// abbreviate shortens the words of a text that have abbreviations.
func abbreviate(r *rand.Rand, text string) string {
	parts := strings.Split(text, " ")
	for i, w := range parts {
		word := strings.Trim(w, ",.")
		tail := w[strings.Index(w, word)+len(word):]
		lower := strings.ToLower(word)
		s := short[lower]
		stem, german := strings.CutSuffix(lower, "strasse")
		if !german {
			stem, german = strings.CutSuffix(lower, "straße")
		}
		switch {
		case s != "":
			if s = strings.ToUpper(s[:1]) + s[1:]; r.IntN(2) == 0 {
				s += "."
			}
			parts[i] = s + tail
		case german && stem != "":
			parts[i] = word[:len(stem)] + "str." + tail
		}
	}
	return strings.Join(parts, " ")
}

// inNumbers finds punctuation between digits.
var inNumbers = regexp.MustCompile(`[0-9](\pP)[0-9]`)

// dress changes a text in what does not matter: the case, punctuation but that in numbers, and the blank after a comma.
func dress(r *rand.Rand, text string) string {
	switch k := r.IntN(20); {
	case k < 8:
		inNumber := inNumbers.FindAllStringSubmatchIndex(text, -1)
		var b strings.Builder
		for i, c := range text {
			switch {
			case slices.ContainsFunc(inNumber, func(at []int) bool { return at[2] == i }):
				b.WriteRune(c)
			case isDropped(c):
			case unicode.IsPunct(c) && c != '&':
				b.WriteRune(' ')
			default:
				b.WriteRune(c)
			}
		}
		text = strings.Join(strings.Fields(b.String()), " ")
	case k == 8:
		text = strings.ReplaceAll(text, ", ", ",")
	}
	switch k := r.IntN(20); {
	case k < 8:
		return strings.ToLower(text)
	case k < 11:
		return strings.ToUpper(text)
	case k < 14:
		return strings.Map(func(c rune) rune {
			if r.IntN(2) == 0 {
				return unicode.ToUpper(c)
			}
			return unicode.ToLower(c)
		}, text)
	}
	return text
}

// mistype makes one typo in one word of at least 4 letters: a wrong, missing, doubled or swapped letter. It returns the
// text and the word before and after, or "" if there is no such word.
func mistype(r *rand.Rand, text string) (typed, from, to string) {
	type part struct{ start, end int }
	letters := []rune(text)
	var parts []part
	for i := 0; i < len(letters); {
		j := i
		plainLetters := true
		for ; j < len(letters) && !unicode.IsSpace(letters[j]) && letters[j] != ','; j++ {
			plainLetters = plainLetters && unicode.IsLetter(letters[j])
		}
		if plainLetters && j-i >= 4 {
			parts = append(parts, part{i, j})
		}
		i = j + 1
	}
	if len(parts) == 0 {
		return "", "", ""
	}
	p := parts[r.IntN(len(parts))]
	word := letters[p.start:p.end]
	for {
		changed := edit(r, word, r.IntN(4))
		if a, b := strings.Join(words(string(word)), ""), strings.Join(words(string(changed)), ""); a != b {
			return string(slices.Concat(letters[:p.start], changed, letters[p.end:])), a, b
		}
	}
}

// edit makes a typo of one of four kinds.
func edit(r *rand.Rand, word []rune, kind int) []rune {
	at := r.IntN(len(word))
	switch kind {
	case 0: // wrong
		changed := slices.Clone(word)
		changed[at] = another(r, word[at])
		return changed
	case 1: // missing
		return slices.Delete(slices.Clone(word), at, at+1)
	case 2: // doubled
		return slices.Insert(slices.Clone(word), at, word[at])
	default: // swapped
		changed := slices.Clone(word)
		at = min(at, len(word)-2)
		changed[at], changed[at+1] = changed[at+1], changed[at]
		return changed
	}
}

// alphabets are the letters that typos are made of. Other scripts have none, and a letter is doubled there.
var alphabets = []string{"abcdefghijklmnopqrstuvwxyz", "абвгдежзийклмнопрстуфхцчшщыэюя", "αβγδεζηθικλμνξοπρστυφχψω",
	"ابتثجحخدذرزسشصضطظعغفقكلمنهوي", "ሀለመሰረሸቀበተቸነአከወዘየደጀገጠጨፈ"}

// another is another letter of the same script.
func another(r *rand.Rand, letter rune) rune {
	for _, a := range alphabets {
		all := []rune(a)
		for _, table := range []*unicode.RangeTable{unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Arabic,
			unicode.Ethiopic} {
			if unicode.Is(table, letter) && unicode.Is(table, all[0]) {
				return all[r.IntN(len(all))]
			}
		}
	}
	return letter
}

// halve cuts the last word of a text to half of its letters, at least 3. It returns "" if that word is too short or no
// word.
func halve(text string) string {
	letters := []rune(text)
	start := len(letters)
	for start > 0 && unicode.IsLetter(letters[start-1]) {
		start--
	}
	n := len(letters) - start
	keep := max(3, (n+1)/2)
	if keep >= n || start > 0 && letters[start-1] != ' ' {
		return ""
	}
	return string(letters[:start+keep])
}

// oneEdit reports whether two words differ by at most one wrong, missing, additional or swapped letter.
func oneEdit(a, b string) bool {
	x, y := []rune(a), []rune(b)
	if len(x) > len(y) {
		x, y = y, x
	}
	if len(y)-len(x) > 1 {
		return false
	}
	i := 0
	for i < len(x) && x[i] == y[i] {
		i++
	}
	rest, other := x[i:], y[i:]
	switch {
	case len(x) < len(y):
		return slices.Equal(rest, other[1:])
	case len(rest) == 0 || slices.Equal(rest[1:], other[1:]):
		return true
	}
	return len(rest) > 1 && rest[0] == other[1] && rest[1] == other[0] && slices.Equal(rest[2:], other[2:])
}

// closest is the point of a segment nearest to a point, on a map that is true around that point.
func closest(a, b, p orb.Point) orb.Point {
	narrow := math.Cos(p[1] * math.Pi / 180)
	dx, dy := (b[0]-a[0])*narrow, b[1]-a[1]
	if dx == 0 && dy == 0 {
		return a
	}
	t := ((p[0]-a[0])*narrow*dx + (p[1]-a[1])*dy) / (dx*dx + dy*dy)
	t = min(max(t, 0), 1)
	return orb.Point{a[0] + t*(b[0]-a[0]), a[1] + t*(b[1]-a[1])}
}
