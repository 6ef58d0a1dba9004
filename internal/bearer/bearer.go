// Package bearer finds bearer tokens in requests (RFC 6750).
package bearer

import (
	"errors"
	"net/http"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/urlquery"
)

// Errors of Find. Their texts are for the log.
var (
	// ErrRepeated: a header or parameter that carries a token appears more than once.
	ErrRepeated = errors.New("repeated credential")
	// ErrTwo: the header and a parameter, or two parameters, carry a token.
	ErrTwo = errors.New("two credentials")
	// ErrMalformed: the parameter cannot be decoded.
	ErrMalformed = errors.New("malformed credential")
	// ErrTooLong: the token is longer than any that a service of this kind takes. Nothing of it has been looked at.
	ErrTooLong = errors.New("longer than 4 KiB")
)

// Errors are all of them.
var Errors = []error{ErrRepeated, ErrTwo, ErrMalformed, ErrTooLong}

const (
	scheme = "bearer"

	// maxLength is the length of the longest token, in bytes. A request may hold a far longer one, and decoding it or
	// hashing it to look it up would be work that anybody can ask for.
	maxLength = 4096
)

// FromQuery returns the value of a query parameter, decoded; "" if it is absent or empty.
func FromQuery(query, parameter string) (token string, err error) {
	var value [1]urlquery.Value
	if urlquery.Scan(query, []string{parameter}, value[:]) != "" {
		return "", ErrRepeated
	}
	token, err = value[0].Text(maxLength)
	switch err {
	case urlquery.ErrTooLong:
		return "", ErrTooLong
	case urlquery.ErrEscape:
		return "", ErrMalformed
	}
	return token, nil
}

// FromHeader returns the token of the Authorization header; "" if there is none, or another scheme than Bearer.
func FromHeader(h http.Header) (token string, err error) {
	token, _, err = readHeader(h)
	return token, err
}

// readHeader also tells whether the header carries credentials of another scheme.
func readHeader(h http.Header) (token string, other bool, err error) {
	values := h["Authorization"]
	switch len(values) {
	case 0:
		return "", false, nil
	case 1:
	default:
		return "", false, ErrRepeated
	}
	value := strings.TrimSpace(values[0])
	name, rest, _ := strings.Cut(value, " ")
	if !strings.EqualFold(name, scheme) {
		return "", value != "", nil
	}
	token = strings.TrimLeft(rest, " ")
	if len(token) > maxLength {
		return "", false, ErrTooLong
	}
	return token, false, nil
}

// Find returns the one token of a request: that of the Authorization header or of one of the query parameters. It is ""
// if there is none.
func Find(h http.Header, query string, parameters []string) (token string, err error) {
	token, other, err := readHeader(h)
	if err != nil {
		return "", err
	}
	for _, parameter := range parameters {
		inQuery, err := FromQuery(query, parameter)
		switch {
		case err != nil:
			return "", err
		case inQuery == "":
		case token != "" || other: // credentials of another scheme may be for another service
			return "", ErrTwo
		default:
			token = inQuery
		}
	}
	return token, nil
}
