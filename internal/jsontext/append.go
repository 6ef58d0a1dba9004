package jsontext

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// pairs are the numbers 00 to 99, two digits each.
const pairs = "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849" +
	"5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899"

// AppendFixed appends a number with exactly this many decimals, 0 to 9, rounded to the nearest; a zero has no sign. The
// number must be finite.
func AppendFixed(dst []byte, value float64, decimals int) []byte {
	scaled := math.Abs(value) * powersOfTen[decimals]
	if scaled >= 1<<52 {
		return strconv.AppendFloat(dst, value, 'f', decimals, 64)
	}
	n := uint64(scaled + 0.5)
	// Written from its end, two digits at a time, with at least one digit before the point.
	const longest = 17 // 16 digits and the point
	var text [longest]byte
	at := longest
	for ; decimals > 1; decimals -= 2 {
		at -= 2
		copy(text[at:], pairs[2*(n%100):][:2])
		n /= 100
	}
	if decimals == 1 {
		at--
		text[at] = '0' + byte(n%10)
		n /= 10
	}
	if at < longest {
		at--
		text[at] = '.'
	}
	for ; n >= 100; n /= 100 {
		at -= 2
		copy(text[at:], pairs[2*(n%100):][:2])
	}
	if n >= 10 {
		at -= 2
		copy(text[at:], pairs[2*n:][:2])
	} else {
		at--
		text[at] = '0' + byte(n)
	}
	if value < 0 && scaled >= 0.5 {
		dst = append(dst, '-')
	}
	return append(dst, text[at:]...)
}

// AppendRounded appends a number rounded to at most this many decimals, 0 to 9, without trailing zeros. The number must
// be finite.
func AppendRounded(dst []byte, value float64, decimals int) []byte {
	start := len(dst)
	dst = AppendFixed(dst, value, decimals)
	if decimals == 0 {
		return dst
	}
	end := len(dst)
	for end > start && dst[end-1] == '0' {
		end--
	}
	if dst[end-1] == '.' {
		end--
	}
	return dst[:end]
}

// plain tells whether the first eight bytes of a string are ASCII that needs no escape: a look at all of them at once.
func plain[T string | []byte](s T) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	_ = s[7]
	v := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	quote, backslash := v^'"'*ones, v^'\\'*ones
	// A byte less than n has its high bit set by the subtraction of n, unless it had one before; a borrow from the byte
	// below can only be where that one is found already.
	return (v|(v-' '*ones)|(quote-ones)&^quote|(backslash-ones)&^backslash)&highs == 0
}

// AppendString appends a string in quotes. Bytes that are not UTF-8 become U+FFFD. Nothing is escaped but what JSON
// wants: the text is not meant to stand inside HTML.
func AppendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		for len(s)-i >= 8 && plain(s[i:]) {
			i += 8
		}
		if i == len(s) {
			break
		}
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\ufffd"...)
				start = i + 1
			}
			i += size
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}
