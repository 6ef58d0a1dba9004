package request

import "strings"

// RemoveParameter removes every occurrence of a parameter from a query, and keeps every other byte. It returns the
// query itself, without an allocation, if the parameter is not in it.
func RemoveParameter(query, parameter string) string {
	at := 0
	for {
		pair, _, more := strings.Cut(query[at:], "&")
		if named(pair, parameter) {
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
		if named(pair, parameter) {
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

// RemoveFromURI is RemoveParameter for the query of a request's target. It removes the question mark, too, if nothing
// is left after it. A # is an ordinary character there.
func RemoveFromURI(uri, parameter string) string {
	head, query, _ := strings.Cut(uri, "?")
	left := RemoveParameter(query, parameter)
	switch {
	case len(left) == len(query):
		return uri
	case left == "":
		return head
	}
	return head + "?" + left
}

// RemoveFromReferer is RemoveFromURI for a URL that may have a fragment. It removes the parameter from the fragment,
// too.
func RemoveFromReferer(uri, parameter string) string {
	uri, fragment, has := strings.Cut(uri, "#")
	uri = RemoveFromURI(uri, parameter)
	if has {
		uri += "#" + RemoveParameter(fragment, parameter)
	}
	return uri
}
