package jsontext

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// AppendFixed appends a number with exactly this many decimals, 0 to 9, rounded to the nearest; a zero has no sign. The
// number must be finite.
func AppendFixed(dst []byte, value float64, decimals int) []byte {
	scaled := math.Round(value * powersOfTen[decimals])
	if math.Abs(scaled) >= 1<<53 {
		return strconv.AppendFloat(dst, value, 'f', decimals, 64)
	}
	n := int64(scaled)
	if n < 0 {
		dst = append(dst, '-')
		n = -n
	}
	unit := int64(powersOfTen[decimals])
	dst = strconv.AppendInt(dst, n/unit, 10)
	if decimals == 0 {
		return dst
	}
	at := len(dst)
	dst = strconv.AppendInt(dst, unit+n%unit, 10) // a 1 and then the decimals, its leading zeros with them
	dst[at] = '.'
	return dst
}

// AppendRounded appends a number rounded to at most this many decimals, 0 to 9, without trailing zeros. The number must be
// finite.
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
func plain(s string) bool {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	_ = s[7]
	v := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	quote, backslash := v^'"'*ones, v^'\\'*ones
	// A byte less than n has its high bit set by the subtraction of n, unless it had one before; a borrow from the byte below can
	// only be where that one is found already.
	return (v|(v-' '*ones)|(quote-ones)&^quote|(backslash-ones)&^backslash)&highs == 0
}

// AppendString appends a string in quotes. Bytes that are not UTF-8 become U+FFFD. Nothing is escaped but what JSON wants:
// the text is not meant to stand inside HTML.
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
