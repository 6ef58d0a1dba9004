package access

import (
	"net/http"
	"strings"
)

// priorityHeaders say most about the client. They are kept first if not all headers fit.
var priorityHeaders = []string{"User-Agent", "Referer", "Origin", "X-Forwarded-For", "Content-Type", "Content-Length"}

// headers returns the headers that may be logged: at most twice MaxLength of names and values together.
func (f *RedactFilter) headers(h http.Header, credentials bool) http.Header {
	if f.loggable(h, credentials) {
		return h
	}
	room := 2 * f.MaxLength
	shown := make(http.Header)
	keep := func(name string, values []string) {
		if _, has := shown[name]; has || values == nil {
			return
		}
		room -= len(name) + len(`"":[],`)
		if credentials || !isCredential(name) {
			values = f.texts(values, &room)
		}
		shown[f.text(name, f.MaxLength)] = values
	}
	for _, name := range priorityHeaders {
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

// loggable reports whether headers can be logged unchanged, as most can.
func (f *RedactFilter) loggable(h http.Header, credentials bool) bool {
	room := 2 * f.MaxLength
	for name, values := range h {
		room -= len(name)
		if isCredential(name) && !credentials {
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

// isCredential reports whether Caddy logs a header's value as REDACTED.
func isCredential(name string) bool {
	return strings.EqualFold(name, "Cookie") || strings.EqualFold(name, "Set-Cookie") ||
		strings.EqualFold(name, "Authorization") || strings.EqualFold(name, "Proxy-Authorization")
}
