package account

import (
	"net"
	"net/netip"
	"regexp"
	"strings"
	"testing"
)

// plainOrigin is an origin as a regular expression has it: scheme, host and port.
var plainOrigin = regexp.MustCompile(
	`^([a-z][a-z0-9+.-]*)://((?:[a-z0-9_-]+\.)*[a-z0-9_-]+|\[[0-9a-f:.]+\])(?::([1-9][0-9]{0,4}))?$`)

// slowOrigin returns an origin in lower case, without the port that is its scheme's own, and its host.
func slowOrigin(text string) (scheme, host, port string, ok bool) {
	parts := plainOrigin.FindStringSubmatch(strings.ToLower(text))
	if parts == nil || len(text) > maxOrigin || strings.ToLower(text) != asciiLower(text) {
		return "", "", "", false
	}
	scheme, host, port = parts[1], parts[2], parts[3]
	labels := strings.Split(host, ".")
	number := strings.Trim(labels[len(labels)-1], "0123456789") == ""
	switch inner := strings.Trim(host, "[]"); {
	case len(host) > maxHost, len(port) == 5 && port > "65535":
		return "", "", "", false
	case inner != host && (net.ParseIP(inner) == nil || !strings.Contains(inner, ":")),
		inner == host && number && net.ParseIP(host) == nil:
		return "", "", "", false
	}
	if scheme+port == "https443" || scheme+port == "http80" {
		port = ""
	}
	return scheme, host, port, true
}

func asciiLower(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}

// slowAllows is Allow without any care for what it costs. pattern is one that NewBounds takes.
func slowAllows(pattern, origin, referer, network string, client netip.Addr) bool {
	_, prefix, err := net.ParseCIDR(network)
	if err != nil {
		ip := net.ParseIP(network)
		prefix = &net.IPNet{IP: ip, Mask: net.CIDRMask(len(ip)*8, len(ip)*8)}
	}
	if !client.IsValid() || !prefix.Contains(client.WithZone("").AsSlice()) {
		return false
	}
	if origin == "" {
		origin = regexp.MustCompile(`^((?s:.*?)://[^/?#]*)(?s:.*)$`).ReplaceAllString(referer, "$1")
	}
	scheme, host, port, ok := slowOrigin(origin)
	wantScheme, wantHost, wantPort, _ := slowOrigin(strings.Replace(pattern, "://*.", "://", 1))
	if ip := net.ParseIP(strings.Trim(wantHost, "[]")); ip != nil && ip.To4() == nil {
		wantHost = "[" + ip.String() + "]"
	}
	if !ok || scheme != wantScheme || port != wantPort {
		return false
	}
	if strings.Contains(pattern, "*") {
		return strings.HasSuffix(host, "."+wantHost)
	}
	return host == wantHost
}

// FuzzBounds compares what is allowed, and what is accepted as an origin, with slow answers to that.
func FuzzBounds(f *testing.F) {
	const app, below, net4 = "https://app.example.com", "https://*.example.com", "203.0.113.0/24"
	for _, seed := range [][5]string{
		{app, app, "", net4, "203.0.113.9"},
		{app, "HTTPS://App.Example.com:443", "", "::ffff:203.0.113.0/120", "::ffff:203.0.113.9"},
		{below, "https://a.b.example.com", "", "2001:db8::/32", "2001:db8::1%eth0"},
		{below, "", "https://a.example.com:443/map?x=@#y", "::1", "::1"},
		{below, "https://example.com", "", "0.0.0.0/0", ""},
		{below, "https://.example.com", "", "0.0.0.0/0", "::"},
		{below, "https://a.example.com.", "", "::/0", "::ffff:1.2.3.4"},
		{below, "https://x@a.example.com", "https://a.example.com", net4, "203.0.113.9"},
		{below, "https://evil.test\\.example.com", "", net4, "203.0.113.9"},
		{below, "https://evil.test", "https://a.example.com", net4, "203.0.113.9"},
		{below, "https://a.example.com https://evil.test", "", net4, "203.0.113.9"},
		{below, "https://a.example.com.evil.test", "", net4, "203.0.113.9"},
		{"https://\u212aey.test", "https://key.test", "", net4, "203.0.113.9"},
		{"http://[0:0::1]:80", "http://[::1]", "", net4, "203.0.113.9"},
		{"https://127.0.0.1", "https://127.0.0.1", "", "127.0.0.1", "127.0.0.1"},
		{"https://*.0.0.1", "null", "", net4, "203.0.113.9"},
	} {
		f.Add(seed[0], seed[1], seed[2], seed[3], seed[4])
	}
	f.Fuzz(func(t *testing.T, pattern, origin, referer, network, client string) {
		addr, _ := netip.ParseAddr(client)
		plain := strings.Replace(pattern, "://*.", "://", 1)
		_, host, _, ok := slowOrigin(plain)
		if plain != pattern && net.ParseIP(strings.Trim(host, "[]")) != nil {
			ok = false
		}
		if _, err := NewBounds(Restrictions{Origins: []string{pattern}}); (err == nil) != ok {
			t.Fatalf("%q as an origin: %v", pattern, err)
		}
		b, err := NewBounds(Restrictions{Origins: []string{pattern}, Networks: []string{network}})
		if err != nil {
			return
		}
		got := b.Allow(origin, referer, addr)
		if want := slowAllows(pattern, origin, referer, network, addr); (got == "") != want {
			t.Errorf("%q in %q, from %q, %q, %q: %q, want allowed %v", pattern, network, origin, referer, client, got, want)
		}
	})
}
