package request

import "strings"

// RemoveParameter removes every occurrence of a parameter from a query; every other byte stays as it is. The result is the query
// itself, without an allocation, if the parameter is not in it.
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

// RemoveFromURI is Remove for what follows the question mark of a request's target; a question mark with nothing left
// behind it goes too. A number sign is a byte like any other there.
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

// RemoveFromReferer is RemoveFromURI for a URL that may have a fragment, from which the parameter is removed too.
func RemoveFromReferer(uri, parameter string) string {
	uri, fragment, has := strings.Cut(uri, "#")
	uri = RemoveFromURI(uri, parameter)
	if has {
		uri += "#" + RemoveParameter(fragment, parameter)
	}
	return uri
}
