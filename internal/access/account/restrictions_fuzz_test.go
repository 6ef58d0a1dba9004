package account

import (
	"cmp"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// plainOrigin is an origin as a regular expression has it: scheme, host and port.
var plainOrigin = regexp.MustCompile(
	`^([a-z][a-z0-9+.-]*)://((?:[a-z0-9_-]+\.)*[a-z0-9_-]+|\[[0-9a-f:.]+\])(?::([1-9][0-9]{0,4}))?$`)

// pageAddress finds the scheme and the host in the address of a page, which may name a user.
var pageAddress = regexp.MustCompile(`(?s)^([^:/?#]*://)(?:[^/?#]*@)?([^/?#]*).*$`)

// slowOrigin returns an origin in lower case, without the port that is its scheme's own.
func slowOrigin(text string) (scheme, host, port string, ok bool) {
	parts := plainOrigin.FindStringSubmatch(strings.ToLower(text))
	if parts == nil || len(text) > maxOrigin || strings.ContainsFunc(text, func(r rune) bool { return r > '~' }) {
		return "", "", "", false
	}
	scheme, host, port = parts[1], parts[2], parts[3]
	labels := strings.Split(host, ".")
	number := strings.Trim(labels[len(labels)-1], "0123456789") == ""
	switch inner := strings.Trim(host, "[]"); {
	case len(port) == 5 && port > "65535",
		inner != host && (net.ParseIP(inner) == nil || !strings.Contains(inner, ":")),
		inner == host && number && net.ParseIP(host) == nil:
		return "", "", "", false
	case inner != host:
		host = "[" + net.ParseIP(inner).String() + "]"
	}
	if scheme+port == "https443" || scheme+port == "http80" {
		port = ""
	}
	return scheme, host, port, true
}

// slowAllows is Check in a simple way. pattern is one that Compile accepts.
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
		if _, err := url.Parse(referer); err != nil {
			return false
		}
		origin = pageAddress.ReplaceAllString(referer, "$1$2")
	}
	scheme, host, port, ok := slowOrigin(origin)
	wantScheme, wantHost, wantPort, _ := slowOrigin(strings.Replace(pattern, "://*.", "://", 1))
	if !ok || scheme != wantScheme || port != wantPort {
		return false
	}
	if strings.Contains(pattern, "*") {
		return strings.HasSuffix(host, "."+wantHost)
	}
	return host == wantHost
}

// FuzzRestrictions compares Check and Compile with slowAllows and slowOrigin.
func FuzzRestrictions(f *testing.F) {
	for _, tc := range allowed {
		pattern := append(tc.restrictions.Origins, app)[0]
		network := append(tc.restrictions.Networks, "203.0.113.0/24")[0]
		f.Add(pattern, tc.origin, tc.referer, network, cmp.Or(tc.client, "203.0.113.9"))
	}
	for _, origin := range []string{
		"https://a.example.com.", "https://evil.test\\.example.com", "https://a.example.com https://evil.test",
		"https://\u212aey.example.com", "https://a!b.example.com", "https://a%2eexample.com", "https://1.2.3.example.com:1:2",
	} {
		f.Add(below, origin, "", "0.0.0.0/0", "192.0.2.1")
		f.Add(origin, origin, "", "0.0.0.0/0", "192.0.2.1")
		f.Add(below, "", origin, "0.0.0.0/0", "192.0.2.1")
	}
	f.Fuzz(func(t *testing.T, pattern, origin, referer, network, client string) {
		addr, _ := netip.ParseAddr(client)
		plain := strings.Replace(pattern, "://*.", "://", 1)
		_, host, _, ok := slowOrigin(plain)
		if plain != pattern && net.ParseIP(strings.Trim(host, "[]")) != nil {
			ok = false
		}
		if _, err := pages(pattern).Compile(); (err == nil) != ok {
			t.Fatalf("%q as an origin: %v", pattern, err)
		}
		b, err := Restrictions{Origins: []string{pattern}, Networks: []string{network}}.Compile()
		if err != nil {
			return
		}
		got := b.Check(origin, referer, addr)
		if want := slowAllows(pattern, origin, referer, network, addr); (got == "") != want {
			t.Errorf("%q in %q, from %q, %q, %q: %q, want allowed %v", pattern, network, origin, referer, client, got, want)
		}
	})
}
