// Package bearer finds bearer tokens in requests (RFC 6750).
package request

import (
	"errors"
	"net/http"
	"strings"
)

// Errors of Find. Their texts are for the log.
var (
	// ErrRepeated: a header or parameter that carries a token appears more than once.
	ErrRepeatedToken = errors.New("repeated credential")
	// ErrTwo: the header and a parameter, or two parameters, carry a token.
	ErrTwoTokens = errors.New("two credentials")
	// ErrMalformed: the parameter cannot be decoded.
	ErrMalformedToken = errors.New("malformed credential")
	// ErrTooLong: the token is longer than any that a service of this kind takes. Nothing of it has been looked at.
	ErrTokenTooLong = errors.New("longer than 4 KiB")
)

// Errors are all of them.
var Errors = []error{ErrRepeatedToken, ErrTwoTokens, ErrMalformedToken, ErrTokenTooLong}

const (
	scheme = "bearer"

	// maxLength is the length of the longest token, in bytes. A request may hold a far longer one, and decoding it or
	// hashing it to look it up would be work that anybody can ask for.
	maxLength = 4096
)

// QueryToken returns the value of a query parameter, decoded; "" if it is absent or empty.
func QueryToken(query, parameter string) (token string, err error) {
	var value [1]QueryValue
	if ScanQuery(query, []string{parameter}, value[:]) != "" {
		return "", ErrRepeatedToken
	}
	token, err = value[0].Text(maxLength)
	switch err {
	case ErrQueryTooLong:
		return "", ErrTokenTooLong
	case ErrEscape:
		return "", ErrMalformedToken
	}
	return token, nil
}

// HeaderToken returns the token of the Authorization header; "" if there is none, or another scheme than Bearer.
func HeaderToken(h http.Header) (token string, err error) {
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
		return "", false, ErrRepeatedToken
	}
	value := strings.TrimSpace(values[0])
	name, rest, _ := strings.Cut(value, " ")
	if !strings.EqualFold(name, scheme) {
		return "", value != "", nil
	}
	token = strings.TrimLeft(rest, " ")
	if len(token) > maxLength {
		return "", false, ErrTokenTooLong
	}
	return token, false, nil
}

// FindToken returns the one token of a request: that of the Authorization header or of one of the query parameters. It is ""
// if there is none.
func FindToken(h http.Header, query string, parameters []string) (token string, err error) {
	token, other, err := readHeader(h)
	if err != nil {
		return "", err
	}
	for _, parameter := range parameters {
		inQuery, err := QueryToken(query, parameter)
		switch {
		case err != nil:
			return "", err
		case inQuery == "":
		case token != "" || other: // credentials of another scheme may be for another service
			return "", ErrTwoTokens
		default:
			token = inQuery
		}
	}
	return token, nil
}
