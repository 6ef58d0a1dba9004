package request

import (
	"errors"
	"net/http"
	"strings"
)

// Errors of FindToken. Their texts are for the log.
var (
	// ErrRepeatedToken means that a header or parameter with a token appears more than once.
	ErrRepeatedToken = errors.New("repeated credential")
	// ErrTwoTokens means that there is a token both in the header and in a parameter, or in two parameters.
	ErrTwoTokens = errors.New("two credentials")
	// ErrMalformedToken means that the parameter cannot be decoded.
	ErrMalformedToken = errors.New("malformed credential")
	// ErrTokenTooLong means that the token is longer than all valid tokens. It was not read.
	ErrTokenTooLong = errors.New("longer than 4 KiB")
)

// Errors lists all errors of FindToken.
var Errors = []error{ErrRepeatedToken, ErrTwoTokens, ErrMalformedToken, ErrTokenTooLong}

const (
	scheme = "bearer"

	// maxLength is the maximum length of a token, in bytes. Longer ones are refused before the work of decoding or
	// hashing.
	maxLength = 4096
)

// QueryToken returns the decoded value of a query parameter; "" if it is missing or empty.
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

// HeaderToken returns the bearer token of the Authorization header; "" if there is none.
func HeaderToken(h http.Header) (token string, err error) {
	token, _, err = readHeader(h)
	return token, err
}

// readHeader also returns whether the header has credentials of another scheme.
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

// FindToken returns the token of a request, in the Authorization header or in one of the query parameters; "" if there
// is none.
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
