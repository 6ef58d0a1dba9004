package app

import (
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// Reached returns the scheme and the host, with its port if it has one, under which a client has reached the site: by
// what trusted proxies before this server say, and by the request itself without them. trusted tells whether the
// request comes from such a proxy.
func Reached(r *http.Request) (scheme, host string, trusted bool) {
	scheme, host = "http", r.Host
	if r.TLS != nil {
		scheme = "https"
	}
	if trusted, _ = caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool); !trusted {
		return scheme, host, false
	}
	switch forwarded := Forwarded(r.Header, "X-Forwarded-Proto"); forwarded {
	case "http", "https":
		scheme = forwarded
	}
	if forwarded := Forwarded(r.Header, "X-Forwarded-Host"); isHost(forwarded) {
		host = forwarded
	}
	return scheme, host, true
}

// Forwarded is what the proxy that is farthest from this server says in a header that each may add to.
func Forwarded(h http.Header, name string) string {
	value, _, _ := strings.Cut(h.Get(name), ",")
	return strings.TrimSpace(value)
}

// isHost reports whether a text may be the host of an address, with a port or without.
func isHost(text string) bool {
	return text != "" && strings.Trim(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz0123456789.-_:[]") == ""
}
