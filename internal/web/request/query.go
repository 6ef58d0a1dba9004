package request

// Unlike net/url, the functions for queries decode and allocate only what is needed, and a + that is not encoded can be
// part of a number.

import (
	"errors"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/base/text"
)

// QueryValue is the encoded value of a query parameter.
type QueryValue struct {
	Raw     string
	Present bool
}

// ScanQuery finds parameters in a query, and sets values[i] to the value of names[i]. Names are compared after
// decoding. Other parameters are skipped. repeated is the first name that appears more than once, or "".
func ScanQuery(query string, names []string, values []QueryValue) (repeated string) {
	clear(values)
	for rest := query; rest != ""; {
		var pair string
		pair, rest, _ = strings.Cut(rest, "&")
		raw, value, _ := strings.Cut(pair, "=")
		i := indexOf(names, raw)
		if i < 0 {
			continue
		}
		if values[i].Present {
			return names[i]
		}
		values[i] = QueryValue{Raw: value, Present: true}
	}
	return ""
}

// Either returns the index of a parameter that has two names: alias if that name is present. ok is false if both are.
func Either(values []QueryValue, name, alias int) (index int, ok bool) {
	if values[alias].Present {
		return alias, !values[name].Present
	}
	return name, true
}

// indexOf returns the index of the name that an encoded name equals, or -1.
func indexOf(names []string, raw string) int {
	for i, name := range names {
		if raw == name {
			return i
		}
	}
	if strings.ContainsAny(raw, escapes) {
		for i, name := range names {
			if decodesTo(raw, name) {
				return i
			}
		}
	}
	return -1
}

// escapes are the characters that decoding changes.
const escapes = "%+"

// encoded is the maximum number of bytes for a byte in a query: a percent sign and two digits.
const encoded = 3

// named reports whether a pair of a query has this name.
func named(pair, name string) bool {
	raw, _, _ := strings.Cut(pair, "=")
	return raw == name || strings.ContainsAny(raw, escapes) && decodesTo(raw, name)
}

// decodesTo reports whether the decoded form of a name equals another name.
func decodesTo(raw, name string) bool {
	if len(raw) < len(name) || len(raw) > encoded*len(name) {
		return false
	}
	decoded, err := appendDecoded(make([]byte, 0, 32), raw, plusIsSpace)
	return err == nil && string(decoded) == name
}

// ErrEscape means that a percent sign is not followed by two hexadecimal digits.
var ErrEscape = errors.New("a percent-encoding is not well-formed")

// ErrQueryTooLong means that a value is longer than the caller accepts.
var ErrQueryTooLong = errors.New("is too long")

// Text returns the decoded value of at most longest bytes, with a + as a space. The error is ErrEscape or
// ErrQueryTooLong. A value that is far too long is not read.
func (v QueryValue) Text(longest int) (string, error) {
	if len(v.Raw) > encoded*longest {
		return "", ErrQueryTooLong
	}
	if len(v.Raw) <= longest && !strings.ContainsAny(v.Raw, escapes) {
		return v.Raw, nil
	}
	text, err := appendDecoded(nil, v.Raw, plusIsSpace)
	if err == nil && len(text) > longest {
		err = ErrQueryTooLong
	}
	if err != nil {
		return "", err
	}
	return string(text), nil
}

// AppendNumbers appends the decoded value of a parameter that contains numbers between other characters. A + is a
// space, except in an exponent (1e+2).
func (v QueryValue) AppendNumbers(dst []byte) ([]byte, error) {
	return appendDecoded(dst, v.Raw, plusInExponent)
}

// Number reads a value that is one number in JSON's grammar. A leading + is allowed, encoded or not. ok is false for
// anything else, and for a number that is too large for a float64.
func (v QueryValue) Number() (number float64, ok bool) {
	const longest = 256 // a float64 has no use for more digits
	if len(v.Raw) > encoded*longest {
		return 0, false
	}
	decoded, err := appendDecoded(make([]byte, 0, longest), v.Raw, plusIsPlus)
	if err != nil {
		return 0, false
	}
	return text.ParseNumber(decoded)
}

// plus is the meaning of a + in a query.
type plus uint8

const (
	plusIsSpace plus = iota
	plusIsPlus
	plusInExponent
)

func appendDecoded(dst []byte, raw string, mode plus) ([]byte, error) {
	start := len(dst)
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch c {
		case '%':
			if i+2 >= len(raw) {
				return dst, ErrEscape
			}
			high, low := unhex(raw[i+1]), unhex(raw[i+2])
			if high|low > 15 {
				return dst, ErrEscape
			}
			c = high<<4 | low
			i += 2
		case '+':
			if mode == plusIsSpace || mode == plusInExponent && !endsInExponent(dst[start:]) {
				c = ' '
			}
		}
		dst = append(dst, c)
	}
	return dst, nil
}

// endsInExponent reports whether a text ends in a digit and an e.
func endsInExponent(text []byte) bool {
	n := len(text)
	return n >= 2 && text[n-1]|0x20 == 'e' && text[n-2]-'0' <= 9
}

// unhex returns the value of a hexadecimal digit, more than 15 for anything else.
func unhex(c byte) byte {
	switch {
	case c-'0' <= 9:
		return c - '0'
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10
	}
	return 0xff
}
