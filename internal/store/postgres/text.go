package postgres

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// PostgreSQL's text holds no zero byte and nothing but UTF-8, while stores keep every string as it is. Bytes that
// cannot stand are written \xHH, and a backslash is doubled: other text, which is nearly all, can be read with psql
// as it is.

func toText(s string) string {
	if utf8.ValidString(s) && !strings.ContainsAny(s, "\x00\\") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == 0 || r == utf8.RuneError && size == 1:
			const hex = "0123456789abcdef"
			b.WriteString(`\x`)
			b.WriteByte(hex[s[i]>>4])
			b.WriteByte(hex[s[i]&15])
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// toTexts is toText for each of a list.
func toTexts(list []string) []string {
	texts := make([]string, len(list))
	for i, s := range list {
		texts[i] = toText(s)
	}
	return texts
}

// fromText is the inverse of toText. What toText cannot have made stays as it is.
func fromText(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, `\`)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		s = rest
		switch {
		case strings.HasPrefix(s, `\`):
			b.WriteByte('\\')
			s = s[1:]
		case strings.HasPrefix(s, "x") && len(s) >= 3:
			if v, err := strconv.ParseUint(s[1:3], 16, 8); err == nil {
				b.WriteByte(byte(v))
				s = s[3:]
				continue
			}
			b.WriteByte('\\')
		default:
			b.WriteByte('\\')
		}
	}
}
