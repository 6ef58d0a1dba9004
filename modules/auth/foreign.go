package auth

import (
	"net/http"
	"strings"
)

// exposed are the headers of responses that pages of other origins may read, beside those that browsers show to all:
// when to come again, and what a rate limit allows.
const exposed = "Retry-After, RateLimit, RateLimit-Policy"

// withdraw removes the headers in which an upstream says what is not its to say: what caches that are named apart from
// all others may keep (RFC 9213), and which pages may read the response. What the site's own header directives had set
// before stays.
func (o *response) withdraw(h http.Header) {
	for name := range h {
		switch {
		case !mayBeForeign(name):
		case forSharedCaches(name):
			delete(h, name)
		case forPages(name) && !o.inner:
			if own, has := o.own[name]; has {
				h[name] = own
			} else {
				delete(h, name)
			}
		}
	}
}

// remember notes what of a header's kind that withdraw removes stands there before the next handler runs.
func (o *response) remember(h http.Header) {
	if _, server := h["Server"]; server && len(h) == 1 {
		return // as Caddy begins each response: to look its names through would take longer than this
	}
	for name, values := range h {
		if !forPages(name) {
			continue
		}
		if o.own == nil {
			o.own = make(http.Header)
		}
		o.own[name] = values[:len(values):len(values)] // an upstream's values are appended
	}
}

// mayBeForeign reports whether a header's name begins or ends so that forPages or forSharedCaches may be true of it.
// Few do, and this takes a fraction of the time.
func mayBeForeign(name string) bool {
	if name == "" {
		return false
	}
	switch name[len(name)-1] | 0x20 {
	case 'l', 's':
		return true
	}
	return name[0]|0x20 == 'a'
}

func forPages(name string) bool {
	const prefix = "Access-Control-"
	return len(name) > len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
}

// forSharedCaches reports whether a header is Cache-Control for some caches alone: one of RFC 9213's, whose names all
// end alike (CDN-Cache-Control), or of those that are older.
func forSharedCaches(name string) bool {
	const suffix = "-Cache-Control"
	if at := len(name) - len(suffix); at > 0 && strings.EqualFold(name[at:], suffix) {
		return true
	}
	return strings.EqualFold(name, "Surrogate-Control") || strings.EqualFold(name, "Edge-Control") ||
		strings.EqualFold(name, "X-Accel-Expires")
}
