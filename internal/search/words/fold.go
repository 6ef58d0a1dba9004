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
	'’': "'", '‘': "'", '‛': "'", '`': "'", '´': "'", '′': "'", 'ʹ': "'", 'ʻ': "'", 'ʼ': "'", 'ʽ': "'", 'ˈ': "'",
	'׳': "'", '״': "'", 'ʾ': "'", 'ʿ': "'",
	'‐': "-", '‑': "-", '‒': "-", '–': "-", '—': "-", '―': "-", '−': "-", '⁄': "/", '∕': "/",
	'、': ",", '،': ",", '؛': ";", '\u2028': "\n", '\u2029': "\n", '\u0085': "\n",
}

// folded is a text after folding, before it is split.
type folded struct {
	text    string
	offsets []int32 // of each byte of text in the original, and the original's length; nil where they are the same
}

// original returns the range in the original of text[i:j]. It is never empty.
func (f *folded) original(i, j int, source string) (int, int) {
	if f.offsets == nil {
		return i, j
	}
	from, to := int(f.offsets[i]), int(f.offsets[j])
	if to <= from { // A part of a character that stands for several, such as ⑴.
		_, size := utf8.DecodeRuneInString(source[from:])
		to = from + size
	}
	return from, to
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

// fold folds case, decomposes (NFKD) and drops marks. It appends to offsets.
func fold(text string, offsets []int32) folded {
	if ascii(text) {
		return folded{text: strings.ToLower(text)}
	}
	var array [192]byte
	buffer := array[:0]
	for i, r := range text {
		before := len(buffer)
		switch {
		case 'A' <= r && r <= 'Z':
			buffer = append(buffer, byte(r)+'a'-'A')
		case r < utf8.RuneSelf && r != '`':
			buffer = append(buffer, byte(r))
		default:
			buffer = appendFolded(buffer, r)
		}
		for range len(buffer) - before {
			offsets = append(offsets, int32(i))
		}
	}
	return folded{text: string(buffer), offsets: append(offsets, int32(len(text)))}
}

// appendFolded appends the folded form of a rune: of none, one or several runes.
func appendFolded(buffer []byte, r rune) []byte {
	r = unicode.ToLower(r)
	if s, ok := special[r]; ok {
		return append(buffer, s...)
	}
	var from, to [utf8.UTFMax * 20]byte
	decomposed := norm.NFKD.Append(to[:0], utf8.AppendRune(from[:0], r)...)
	if bytes.ContainsRune(decomposed, '⁄') { // 12½ is 12 1/2, not 121/2.
		buffer = append(buffer, ' ')
	}
	for i := 0; i < len(decomposed); {
		d, size := utf8.DecodeRune(decomposed[i:])
		i += size
		d = unicode.ToLower(d)
		s, ok := special[d]
		switch {
		case ok:
			buffer = append(buffer, s...)
		case dropped(d):
		case d >= utf8.RuneSelf && unicode.IsDigit(d):
			buffer = append(buffer, '0'+digit(d))
		default:
			buffer = utf8.AppendRune(buffer, d)
		}
	}
	return buffer
}

// dropped reports whether a rune is a mark that changes no letter, or invisible. The marks of the scripts of India and of
// South East Asia are vowels, and stay.
func dropped(r rune) bool {
	if r < 0x300 {
		return r == 0xAD
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
