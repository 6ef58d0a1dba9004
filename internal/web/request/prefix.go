// Package endpoint tells whether a request is for the path at which an endpoint stands. An endpoint answers at its
// path and nowhere else, so that a rule about that path, on this server or in front of it, holds for every way
// in.
package request

import (
	"fmt"
	"net/url"
	"path"
	"strings"
)

// Prefix is the path at which an endpoint stands, without a slash at its end; "" is the top of a site.
type Prefix string

// ParsePrefix reads a prefix in a configuration: a path that begins with a slash, as it is after decoding. A slash at
// its end says nothing. The error names what is wrong.
func ParsePrefix(text string) (Prefix, error) {
	trimmed := strings.TrimSuffix(text, "/")
	switch {
	case !strings.HasPrefix(text, "/"):
		return "", fmt.Errorf("%q does not begin with a slash", text)
	case strings.ContainsAny(text, "?#%*{}\\"):
		return "", fmt.Errorf(
			"%q is not a plain path; wildcards, placeholders and percent-encoding belong in matchers", text)
	case trimmed != "" && path.Clean(trimmed) != trimmed:
		return "", fmt.Errorf("%q has empty segments or dots; requests would never have this path", text)
	}
	return Prefix(trimmed), nil
}

// Path is the path of the endpoint itself: "/" at the top of a site.
func (p Prefix) Path() string {
	if p == "" {
		return "/"
	}
	return string(p)
}

// Below returns what follows the prefix in a path: "" at the prefix itself, else a text that begins with a slash. ok is
// false for a path that is elsewhere.
//
// The comparison is exact. A path with a letter of the other case, doubled slashes, dot segments or characters that are
// percent-encoded without need is the path of nothing: a rule that compares texts would not see that it is the same.
func (p Prefix) Below(u *url.URL) (rest string, ok bool) {
	if u.RawPath != "" { // the encoding is not the one that the decoded path needs
		return "", false
	}
	rest, ok = strings.CutPrefix(u.Path, string(p))
	switch {
	case !ok || rest != "" && rest[0] != '/':
		return "", false
	case p == "" && rest == "/": // the top of a site has no other form
		rest = ""
	}
	return rest, true
}
