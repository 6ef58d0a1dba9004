package bearer

import (
	"net/url"
	"strings"
)

// FromQuery returns the value of a query parameter, decoded; "" if it is absent or empty.
func FromQuery(query, parameter string) (value string, err error) {
	found := false
	for rest := query; rest != ""; {
		var pair string
		pair, rest, _ = strings.Cut(rest, "&")
		name, raw, _ := strings.Cut(pair, "=")
		if !named(name, parameter) {
			continue
		}
		if found {
			return "", ErrRepeated
		}
		found = true
		if len(raw) > encoded*maxLength {
			return "", ErrTooLong
		}
		if value, err = url.QueryUnescape(raw); err != nil {
			return "", ErrMalformed
		}
		if len(value) > maxLength {
			return "", ErrTooLong
		}
	}
	return value, nil
}

// encoded is how many bytes a byte may take in a query: a percent sign and two digits.
const encoded = 3

// named reports whether a name in a query, percent-encoded or not, is this parameter's.
func named(name, parameter string) bool {
	if name == parameter {
		return true
	}
	if len(name) > encoded*len(parameter) || !strings.ContainsAny(name, "%+") {
		return false
	}
	decoded, err := url.QueryUnescape(name)
	return err == nil && decoded == parameter
}

// StripQuery removes every occurrence of a parameter from a query; every other byte stays as it is. The result is the query
// itself, without an allocation, if the parameter is not in it.
func StripQuery(query, parameter string) string {
	at := 0
	for {
		pair, _, more := strings.Cut(query[at:], "&")
		name, _, _ := strings.Cut(pair, "=")
		if named(name, parameter) {
			break
		}
		if !more {
			return query
		}
		at += len(pair) + 1
	}
	var kept strings.Builder
	kept.Grow(len(query))
	first := true
	for pair := range strings.SplitSeq(query, "&") {
		if name, _, _ := strings.Cut(pair, "="); named(name, parameter) {
			continue
		}
		if !first {
			kept.WriteByte('&')
		}
		kept.WriteString(pair)
		first = false
	}
	return kept.String()
}

// StripURI is StripQuery for what follows the question mark of a request's target; a question mark with nothing left behind it
// goes too. A number sign is a byte like any other there.
func StripURI(uri, parameter string) string {
	head, query, _ := strings.Cut(uri, "?")
	stripped := StripQuery(query, parameter)
	switch {
	case len(stripped) == len(query):
		return uri
	case stripped == "":
		return head
	}
	return head + "?" + stripped
}

// StripReferer is StripURI for a URL that may have a fragment, where the parameter is removed too.
func StripReferer(uri, parameter string) string {
	uri, fragment, has := strings.Cut(uri, "#")
	uri = StripURI(uri, parameter)
	if has {
		uri += "#" + StripQuery(fragment, parameter)
	}
	return uri
}
