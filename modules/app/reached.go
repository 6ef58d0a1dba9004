package app

import (
	"net/http"
	"strings"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// ExternalOrigin returns the scheme and the host, with its port if it has one, of the address that the client used. If
// the request comes from a trusted proxy, its X-Forwarded headers count. trusted reports whether it does.
func ExternalOrigin(r *http.Request) (scheme, host string, trusted bool) {
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

// Forwarded is the first value of a header to which each proxy adds one: that of the proxy nearest to the client.
func Forwarded(h http.Header, name string) string {
	value, _, _ := strings.Cut(h.Get(name), ",")
	return strings.TrimSpace(value)
}

// isHost reports whether a text can be a host with an optional port.
func isHost(text string) bool {
	return text != "" && strings.Trim(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz0123456789.-_:[]") == ""
}
