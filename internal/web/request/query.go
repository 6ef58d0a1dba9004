// Package urlquery reads the parameters of a URL's query in place, removes them, and hides them from logs. It is there
// beside net/url for the requests that come by the thousands: nothing is decoded or allocated that nobody asks for,
// long traces included, and a + that was not percent-encoded can be part of a number.
package request

import (
	"errors"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/base/text"
)

// QueryValue is the value of one parameter, as it stands in the query.
type QueryValue struct {
	Raw     string
	Present bool
}

// ScanQuery finds parameters in a query: values[i] becomes that of names[i]. Names are compared after decoding; parameters
// of other names are passed over. repeated is the first name that stands more than once, "" if none does.
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

// indexOf returns which of some names a name of a query is; -1 for none.
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

// escapes are the characters that decoding makes others of.
const escapes = "%+"

// encoded is how many bytes a byte may take in a query: a percent sign and two digits.
const encoded = 3

// named reports whether a pair of a query is of this name, with or without a value.
func named(pair, name string) bool {
	raw, _, _ := strings.Cut(pair, "=")
	return raw == name || strings.ContainsAny(raw, escapes) && decodesTo(raw, name)
}

// decodesTo reports whether a name of a query is another one when it has been decoded.
func decodesTo(raw, name string) bool {
	if len(raw) < len(name) || len(raw) > encoded*len(name) {
		return false
	}
	decoded, err := appendDecoded(make([]byte, 0, 32), raw, plusIsSpace)
	return err == nil && string(decoded) == name
}

// ErrEscape says that a percent sign is not followed by two hexadecimal digits.
var ErrEscape = errors.New("a percent-encoding is not well-formed")

// ErrQueryTooLong says that a value is longer than its reader takes.
var ErrQueryTooLong = errors.New("is too long")

// Text returns the decoded value of at most longest bytes, a + standing for a space as forms have it. The error is
// ErrEscape or ErrTooLong; a value that is far too long is not looked at.
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

// AppendNumbers appends the decoded value of a parameter that holds numbers between other characters: a + is a space,
// but in an exponent (1e+2) it is a +.
func (v QueryValue) AppendNumbers(dst []byte) ([]byte, error) {
	return appendDecoded(dst, v.Raw, plusInExponent)
}

// Number reads a value that is one number in JSON's grammar, a leading + allowed, encoded or not. ok is false for
// anything else and for a number too large for a float64.
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

// plus says what a + in the query stands for.
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
