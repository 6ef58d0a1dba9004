package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Token is a word of a text.
type Token struct {
	// Text is normalized: folded, without marks and punctuation. Append of it gives this one token. It may share memory
	// with the text.
	Text string
	// From and To are the bytes of the original text.
	From, To int
	// Number says that the token starts with a digit, as house numbers and postcodes do: 12, 12a, 12-14, 12/3, 19901,
	// 12345-678, 1st.
	Number bool
	// Breaks says that a comma, semicolon or newline separates it from the previous token of the text.
	Breaks bool
}

// Append appends the tokens of a text.
//
//   - Letters are folded: NFKD, case, no marks; ß is ss, æ is ae, ø is o, and so on. So ö is o; of the spelling "oe",
//     see [Variants]. Korean syllables are decomposed, so that a half-typed one is a prefix.
//   - An apostrophe inside a word is removed: O'Neil is oneil, d'Or is dor.
//   - Dots between single letters are removed: U.S. is us.
//   - Other punctuation splits words, except in house numbers: 12-14 and 12/3 are one token. 12/a and 12-a are 12a.
//   - "&" is the token "and".
//   - Each letter of Han, Kana, Thai, Lao, Khmer and Myanmar, which have no blanks, is a token, with its marks.
func Append(tokens []Token, text string) []Token {
	var array [192]int32
	s, offsets := fold(text, array[:0])
	first, breaks := len(tokens), false
	for i := 0; i < len(s); {
		class, size := classify(s[i:])
		var word string
		j := i + size
		switch class {
		case comma:
			breaks = true
			fallthrough
		case other:
			i = j
			continue
		case ampersand:
			word = "and"
		case single:
			j += marks(s[j:])
			word = s[i:j]
		default:
			word, j = scan(s, i)
		}
		from, to := original(text, offsets, i, j)
		tokens = append(tokens, Token{
			Text: word, From: from, To: to, Number: class == number, Breaks: breaks && len(tokens) > first,
		})
		i, breaks = j, false
	}
	return tokens
}

// scan returns the word that begins at s[i], a letter or digit, and its end.
func scan(s string, i int) (string, int) {
	j := i + run(s[i:])
	if j == len(s) || s[j] == ' ' { // As most words.
		return s[i:j], j
	}
	initial, house, first := lastLetter(s[i:]) == j-i, part(s[i:]) == j-i, s[j]
	var joined []byte // The word, if it is not s[i:j].
	for j < len(s) {
		skip, n := 1, 0 // The bytes from j that are left out, and those then that belong to the word.
		switch c := s[j]; {
		case c == '\'' && first == '\'':
			n = run(s[j+1:])
		case c == '.' && first == '.' && initial:
			n = lastLetter(s[j+1:])
		case house && (c == '-' || c == '/'):
			if n = part(s[j+1:]); n > 0 {
				skip, n = 0, n+1
			} else if isDigit(s[j-1]) { // 12/a
				n = lastLetter(s[j+1:])
			}
		}
		if n == 0 {
			break
		}
		if skip > 0 && joined == nil {
			joined = append(joined, s[i:j]...)
		}
		if joined != nil {
			joined = append(joined, s[j+skip:j+skip+n]...)
		}
		j += skip + n
	}
	if joined != nil {
		return string(joined), j
	}
	return s[i:j], j
}

type class byte

const (
	other class = iota
	comma
	ampersand
	number // a digit
	alpha  // a letter, or a mark that was not dropped
	single // a letter of a script without blanks
)

var classes = func() (table [utf8.RuneSelf]class) {
	for c := range byte(utf8.RuneSelf) {
		switch {
		case isDigit(c):
			table[c] = number
		case 'a' <= c && c <= 'z':
			table[c] = alpha
		}
	}
	table[','], table[';'], table['\n'], table['\r'], table['&'] = comma, comma, comma, comma, ampersand
	return table
}()

// scriptsWithoutBlanks are those of class single.
var scriptsWithoutBlanks = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// classify returns the class and size of the first rune of a folded text.
func classify(s string) (class, int) {
	if s[0] < utf8.RuneSelf {
		return classes[s[0]], 1
	}
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r == 'ー' || r >= 0x0E00 && unicode.In(r, scriptsWithoutBlanks...):
		return single, size
	case !unicode.IsLetter(r) && !unicode.In(r, unicode.M, unicode.N):
		return other, size
	}
	return alpha, size
}

// marks returns the length of the marks that a text begins with.
func marks(s string) int { return len(s) - len(strings.TrimLeftFunc(s, unicode.IsMark)) }

// digits returns the number of digits that a text begins with.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }

// run returns the length of the letters and digits that a text begins with.
func run(s string) int {
	n := 0
	for n < len(s) {
		c, size := class(0), 1
		if b := s[n]; b < utf8.RuneSelf {
			c = classes[b]
		} else {
			c, size = classify(s[n:])
		}
		if c != number && c != alpha {
			break
		}
		n += size
	}
	return n
}

// lastLetter returns the length of the letter that a text begins with, if no word goes on after it. Or 0.
func lastLetter(s string) int {
	if s == "" {
		return 0
	}
	if c, size := classify(s); c == alpha && ends(s[size:]) {
		return size
	}
	return 0
}

// part returns the length of a part of a house number: digits, and up to one letter, if no word goes on after it. Or 0.
func part(s string) int {
	n := digits(s)
	if n == 0 {
		return 0
	}
	if n += lastLetter(s[n:]); !ends(s[n:]) {
		return 0
	}
	return n
}

// ends reports whether no word goes on here.
func ends(s string) bool { return s == "" || s[0] != '\'' && run(s) == 0 }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// HouseNumber splits a normalized house number into a number of 1 to 6 digits and the rest, so that both make up the
// token: 12a is 12 and a, 12-14 is 12 and -14, 12/3 is 12 and /3. The rest is empty, or a letter or bis, ter, quater,
// and further parts. ok is false for other tokens, such as 1st.
func HouseNumber(token string) (number int, rest string, ok bool) {
	n := digits(token)
	if n == 0 || n > 6 {
		return 0, "", false
	}
	for _, digit := range token[:n] {
		number = 10*number + int(digit-'0')
	}
	rest = token[n:]
	word := rest[:run(rest)]
	switch word {
	case "", "bis", "ter", "quater":
	default:
		if lastLetter(word) != len(word) {
			return 0, "", false
		}
	}
	for parts := rest[len(word):]; parts != ""; parts = parts[1+n:] {
		if n = part(parts[1:]); n == 0 || parts[0] != '-' && parts[0] != '/' {
			return 0, "", false
		}
	}
	return number, rest, true
}
