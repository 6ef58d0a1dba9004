package words

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// special has letters that NFKD leaves as they are, and punctuation that counts as its form in ASCII.
var special = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'ł': "l", 'đ': "d", 'ð': "d", 'ħ': "h", 'ı': "i", 'þ': "th", 'ŧ': "t",
	'ŋ': "n", 'ƒ': "f", 'ə': "e", 'ς': "σ",
	// Arabic: the forms of alef, yeh, kaf and heh that writers exchange, and tatweel, which only stretches a word.
	'ٱ': "ا", 'ى': "ي", 'ی': "ي", 'ې': "ي", 'ک': "ك", 'ة': "ه", 'ہ': "ه", 'ھ': "ه", 'ە': "ه", 'ۀ': "ه", 'ـ': "",
	'’': "'", '‘': "'", '‛': "'", '`': "'", '′': "'", 'ʹ': "'", 'ʻ': "'", 'ʼ': "'", 'ʽ': "'", 'ˈ': "'",
	'׳': "'", '״': "'", 'ʾ': "'", 'ʿ': "'",
	'‐': "-", '‑': "-", '‒': "-", '–': "-", '—': "-", '―': "-", '−': "-", '⁄': "/", '∕': "/",
	'、': ",", '،': ",", '؛': ";", '\u2028': "\n", '\u2029': "\n", '\u0085': "\n",
}

// ascii reports whether a text has only ASCII, without a backquote, which is an apostrophe.
func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf || text[i] == '`' {
			return false
		}
	}
	return true
}

// fold folds case, decomposes (NFKD) and drops marks. It appends, for each byte of what it returns, the offset in the
// text, and the text's length. It appends nothing if they are the same.
func fold(text string, offsets []int32) (string, []int32) {
	if ascii(text) {
		return strings.ToLower(text), offsets
	}
	var array [192]byte
	buffer := array[:0]
	for i, r := range text {
		before := len(buffer)
		if r < utf8.RuneSelf {
			buffer = appendRune(buffer, r)
		} else {
			buffer = appendFolded(buffer, r, norm.NFKD.PropertiesString(text[i:]).Decomposition())
		}
		for range len(buffer) - before {
			offsets = append(offsets, int32(i))
		}
	}
	return string(buffer), append(offsets, int32(len(text)))
}

// original returns the bytes of the text that became the bytes from i to j by fold. There is at least one.
func original(text string, offsets []int32, i, j int) (from, to int) {
	if len(offsets) == 0 {
		return i, j
	}
	from, to = int(offsets[i]), int(offsets[j])
	if to <= from { // A part of a character that is folded to several, such as ⑴.
		_, size := utf8.DecodeRuneInString(text[from:])
		to = from + size
	}
	return from, to
}

// appendFolded appends the folded form of a rune: of none, one or several runes.
func appendFolded(buffer []byte, r rune, decomposed []byte) []byte {
	switch {
	case r == '´': // Its decomposition begins with a blank.
		return append(buffer, '\'')
	case 0xAC00 <= r && r <= 0xD7A3: // Hangul, which is decomposed by rule, not by table.
		for _, letter := range norm.NFKD.String(string(r)) {
			buffer = utf8.AppendRune(buffer, letter)
		}
		return buffer
	case decomposed == nil:
		return appendRune(buffer, r)
	case bytes.ContainsRune(decomposed, '⁄'): // 12½ is 12 1/2, not 121/2.
		buffer = append(buffer, ' ')
	}
	for len(decomposed) > 0 {
		d, size := utf8.DecodeRune(decomposed)
		buffer = appendRune(buffer, d)
		decomposed = decomposed[size:]
	}
	return buffer
}

// appendRune appends the folded form of a rune that has no decomposition.
func appendRune(buffer []byte, r rune) []byte {
	r = unicode.ToLower(r)
	if r < utf8.RuneSelf && r != '`' {
		return append(buffer, byte(r))
	}
	s, ok := special[r]
	switch {
	case ok:
		return append(buffer, s...)
	case unicode.IsLetter(r): // The most frequent case.
	case dropped(r):
		return buffer
	case r >= utf8.RuneSelf && unicode.IsDigit(r):
		return append(buffer, '0'+digit(r))
	}
	return utf8.AppendRune(buffer, r)
}

// dropped reports whether a rune is a mark that changes no letter, or invisible. The marks of the scripts of India and
// of South East Asia are vowels, and stay.
func dropped(r rune) bool {
	if r <= 0x36F { // The accents of European languages begin at 0x300.
		return r >= 0x300 || r == 0xAD
	}
	return unicode.In(r, unicode.Cf, unicode.Me) || unicode.Is(unicode.Mn, r) &&
		unicode.In(r, unicode.Inherited, unicode.Arabic, unicode.Hebrew, unicode.Cyrillic, unicode.Greek, unicode.Latin)
}

// digit returns the value of a decimal digit of another script. They come in blocks of ten.
func digit(r rune) byte {
	value := byte(0)
	for unicode.IsDigit(r - 1) {
		r--
		value++
	}
	return value % 10
}
