package access

import (
	"net/http"
	"strings"
)

// foremost are the headers that say most about who asks. They come before all others where not all can be kept.
var foremost = []string{"User-Agent", "Referer", "Origin", "X-Forwarded-For", "Content-Type", "Content-Length"}

// headers returns what may be logged of headers: twice MaxLength of names and values together.
func (f *RedactFilter) headers(h http.Header, credentials bool) http.Header {
	if f.harmless(h, credentials) {
		return h
	}
	room := 2 * f.MaxLength
	shown := make(http.Header)
	keep := func(name string, values []string) {
		if _, has := shown[name]; has || values == nil {
			return
		}
		room -= len(name) + len(`"":[],`)
		if credentials || !hidden(name) {
			values = f.texts(values, &room)
		}
		shown[f.text(name, f.MaxLength)] = values
	}
	for _, name := range foremost {
		keep(name, h[name])
	}
	for name, values := range h {
		if room <= 0 {
			break
		}
		keep(name, values)
	}
	if rest := len(h) - len(shown); rest > 0 {
		shown["…"] = []string{more(rest)}
	}
	return shown
}

// harmless reports whether headers can be logged as they are, as nearly always.
func (f *RedactFilter) harmless(h http.Header, credentials bool) bool {
	room := 2 * f.MaxLength
	for name, values := range h {
		room -= len(name)
		if hidden(name) && !credentials {
			continue
		}
		for _, value := range values {
			if room -= len(value); room < 0 || len(value) > f.MaxLength || f.text(value, f.MaxLength) != value {
				return false
			}
		}
	}
	return room >= 0
}

// hidden reports whether Caddy writes REDACTED in place of a header's value.
func hidden(name string) bool {
	return strings.EqualFold(name, "Cookie") || strings.EqualFold(name, "Set-Cookie") ||
		strings.EqualFold(name, "Authorization") || strings.EqualFold(name, "Proxy-Authorization")
}
