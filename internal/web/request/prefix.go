package request

import (
	"fmt"
	"net/url"
	"path"
	"strings"
)

// Prefix is the path of an endpoint without a trailing slash; "" is the root of a site. An endpoint responds only at
// exactly this path, so that rules for the path, in Caddy or in a proxy, cannot be bypassed.
type Prefix string

// ParsePrefix parses a prefix of a configuration: a decoded path that begins with a slash. A trailing slash is ignored.
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

// Path returns the path of the endpoint: "/" at the root of a site.
func (p Prefix) Path() string {
	if p == "" {
		return "/"
	}
	return string(p)
}

// Below returns the part of a path after the prefix: "" at the prefix itself, and otherwise a text that begins with a
// slash. ok is false for other paths.
//
// The comparison is exact: a path with another case, doubled slashes, dot segments or unnecessary percent-encoding does
// not match, since rules that compare paths would not match it either.
func (p Prefix) Below(u *url.URL) (rest string, ok bool) {
	if u.RawPath != "" { // with unnecessary percent-encoding
		return "", false
	}
	rest, ok = strings.CutPrefix(u.Path, string(p))
	switch {
	case !ok || rest != "" && rest[0] != '/':
		return "", false
	case p == "" && rest == "/": // the root of a site
		rest = ""
	}
	return rest, true
}
