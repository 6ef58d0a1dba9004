package pages

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Only a request whose connection and host are this machine's comes from here; an unclear one does not.
func TestFromHere(t *testing.T) {
	for _, test := range []struct {
		local, remote, host string
		want                bool
	}{
		{"127.0.0.1:8080", "127.0.0.1:50000", "127.0.0.1:8080", true},
		{"[::1]:8080", "[::1]:50000", "[::1]:8080", true},
		{"127.0.0.1:80", "[::ffff:127.0.0.1]:50000", "[::1]", true},
		{"127.0.0.1:80", "127.0.0.2:50000", "LocalHost", true},
		{"192.0.2.1:8080", "192.0.2.2:50000", "192.0.2.1:8080", false},
		{"192.0.2.1:8080", "127.0.0.1:50000", "localhost:8080", false}, // an address that others reach
		{"127.0.0.1:8080", "192.0.2.2:50000", "localhost:8080", false},
		{"127.0.0.1:8080", "127.0.0.1:50000", "app.example.com:8080", false}, // a name that was made to lead here
		{"127.0.0.1:8080", "127.0.0.1:50000", "localhost.example.com", false},
		{"127.0.0.1:8080", "127.0.0.1:50000", "", false},
		{"/run/caddy.sock", "@", "localhost", false},
		{"", "127.0.0.1:50000", "localhost", false},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		r.RemoteAddr, r.Host = test.remote, test.host
		var local net.Addr = &net.UnixAddr{Name: test.local, Net: "unix"}
		if tcp, err := net.ResolveTCPAddr("tcp", test.local); err == nil && test.local != "" {
			local = tcp
		}
		if test.local != "" {
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, local))
		}
		if got := fromHere(r); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}
