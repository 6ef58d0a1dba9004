package pages

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// What cannot be told is not from here.
func TestFromHere(t *testing.T) {
	tcp := func(address string) net.Addr {
		a, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, test := range []struct {
		name         string
		local        net.Addr
		remote, host string
		want         bool
	}{
		{"IPv4", tcp("127.0.0.1:8080"), "127.0.0.1:50000", "127.0.0.1:8080", true},
		{"IPv6", tcp("[::1]:8080"), "[::1]:50000", "[::1]:8080", true},
		{"mapped", tcp("127.0.0.1:80"), "[::ffff:127.0.0.1]:50000", "[::1]", true},
		{"by name", tcp("127.0.0.1:80"), "127.0.0.2:50000", "LocalHost", true},
		{"another machine", tcp("192.0.2.1:8080"), "192.0.2.2:50000", "192.0.2.1:8080", false},
		{"to an address that others reach", tcp("192.0.2.1:8080"), "127.0.0.1:50000", "localhost:8080", false},
		{"from a network", tcp("127.0.0.1:8080"), "192.0.2.2:50000", "localhost:8080", false},
		{"a name that was made to lead here", tcp("127.0.0.1:8080"), "127.0.0.1:50000", "app.example.com:8080", false},
		{"a name like the local one", tcp("127.0.0.1:8080"), "127.0.0.1:50000", "localhost.example.com", false},
		{"no host", tcp("127.0.0.1:8080"), "127.0.0.1:50000", "", false},
		{"a socket that is a file", &net.UnixAddr{Name: "/run/caddy.sock", Net: "unix"}, "@", "localhost", false},
		{"no local address", nil, "127.0.0.1:50000", "localhost", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/", nil)
			r.RemoteAddr, r.Host = test.remote, test.host
			if test.local != nil {
				r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, test.local))
			}
			if got := fromHere(r); got != test.want {
				t.Errorf("%v", got)
			}
		})
	}
}

// Behind a proxy the page's own origin is what the proxy says, if it may say so.
func TestOfOwnPageBehindProxy(t *testing.T) {
	for _, test := range []struct {
		forwarded, origin string
		trusted, want     bool
	}{
		{"maps.example.com", "https://maps.example.com", true, true},
		{"Maps.example.com, inner", "https://maps.example.com", true, true},
		{"maps.example.com", "https://maps.example.com", false, false},
		{"maps.example.com", "http://backend:8080", true, false},
		{"", "http://backend:8080", true, true},
	} {
		r := httptest.NewRequest(http.MethodPost, "http://backend:8080/", nil)
		vars := map[string]any{caddyhttp.TrustedProxyVarKey: test.trusted}
		r = r.WithContext(context.WithValue(r.Context(), caddyhttp.VarsCtxKey, vars))
		r.Header.Set("Origin", test.origin)
		if test.forwarded != "" {
			r.Header.Set("X-Forwarded-Host", test.forwarded)
		}
		if got := ofOwnPage(r); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}
