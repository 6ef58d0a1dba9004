package words

import (
	_ "embed"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed letters.txt
var lettersTable string

// letters replaces letters by Latin ones.
var letters = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for line := range lines(lettersTable) {
		fields := strings.Fields(line)
		if len(fields) == 1 {
			fields = append(fields, "")
		}
		pairs = append(pairs, fields...)
	}
	return strings.NewReplacer(append(pairs, ethiopic()...)...)
})

// ethiopic returns the syllables of Ethiopic and their Latin forms. A row of the block has a consonant with 8 vowels.
func ethiopic() []string {
	consonants := strings.Fields(
		"h l h m s r s sh q qw q qw b v t ch h hw n ny a k kw kh kw w a z zh y d d j g gw g t ch p ts ts f p")
	vowels := [8]string{"e", "u", "i", "a", "e", "", "o", "wa"}
	var pairs []string
	for row, consonant := range consonants {
		for column, vowel := range vowels {
			latin := consonant + vowel
			if consonant == "a" { // Glottal stops, which are not written: the vowel only, and "a" for the first.
				latin = [8]string{"a", "u", "i", "a", "e", "i", "o", "wa"}[column]
			}
			pairs = append(pairs, string(rune(0x1200+8*row+column)), latin)
		}
	}
	return pairs
}

// Latin returns a normalized token in Latin letters if it is in Cyrillic, Greek, Arabic, Hebrew or Ethiopic, else "".
// The letters are those of maps and signs in English, as far as one table for all languages of a script goes: улица is
// ulitsa, αθηνα is athina, شارع is shara. Vowels that are not written stay out.
func Latin(token string) string {
	if ascii(token) {
		return ""
	}
	latin := letters().Replace(token)
	for i := range len(latin) {
		if latin[i] >= utf8.RuneSelf {
			return ""
		}
	}
	return latin
}
