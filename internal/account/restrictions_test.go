package account

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestBoundsAllow(t *testing.T) {
	origins := func(list ...string) Restrictions { return Restrictions{Origins: list} }
	networks := func(list ...string) Restrictions { return Restrictions{Networks: list} }
	const app = "https://app.example.com"
	for _, tc := range []struct {
		name                    string
		bounds                  Restrictions
		origin, referer, client string
		want                    Outside
	}{
		{"nothing restricted", Restrictions{}, "", "", "", ""},
		{"exact", origins(app), app, "", "", ""},
		{"case", origins("HTTPS://App.Example.com"), "https://aPP.example.COM", "", "", ""},
		{"default port named", origins(app + ":443"), app, "", "", ""},
		{"default port sent", origins("http://a.test"), "http://a.test:80", "", "", ""},
		{"default port of the other scheme", origins("http://a.test"), "http://a.test:443", "", "", OutsideOrigin},
		{"port", origins("http://localhost:3000"), "http://localhost:3000", "", "", ""},
		{"other port", origins("http://localhost:3000"), "http://localhost:3001", "", "", OutsideOrigin},
		{"other scheme", origins(app), "http://app.example.com", "", "", OutsideOrigin},
		{"other host", origins(app), "https://evil.test", "", "", OutsideOrigin},
		{"host goes on", origins(app), app + ".evil.test", "", "", OutsideOrigin},
		{"host in user", origins(app), "https://app.example.com@evil.test", "", "", OutsideOrigin},
		{"second of two", origins("https://a.test", app), app, "", "", ""},
		{"label below", origins("https://*.example.com"), app, "", "", ""},
		{"labels below", origins("https://*.example.com"), "https://a.b.example.com", "", "", ""},
		{"not the name itself", origins("https://*.example.com"), "https://example.com", "", "", OutsideOrigin},
		{"not a longer label", origins("https://*.example.com"), "https://evilexample.com", "", "", OutsideOrigin},
		{"no empty label", origins("https://*.example.com"), "https://.example.com", "", "", OutsideOrigin},
		{"below with port", origins("https://*.a.test:8443"), "https://x.a.test:8443", "", "", ""},
		{"app's scheme", origins("capacitor://localhost"), "capacitor://localhost", "", "", ""},
		{"IPv6", origins("http://[0:0::1]:80"), "http://[::1]", "", "", ""},
		{"null", origins(app), "null", app + "/", "", OutsideOrigin},
		{"referer", origins(app), "", app + "/map?x=https://evil.test#y", "", ""},
		{"referer without path", origins(app), "", app + "?x", "", ""},
		{"other referer", origins(app), "", "https://evil.test/" + app, "", OutsideOrigin},
		{"origin before referer", origins(app), "https://evil.test", app + "/", "", OutsideOrigin},
		{"user in referer", origins(app), "", "https://app.example.com@evil.test/", "", OutsideOrigin},
		{"neither", origins(app), "", "", "", OutsideNoOrigin},

		{"network", networks("203.0.113.0/24"), "", "", "203.0.113.9", ""},
		{"other network", networks("203.0.113.0/24"), "", "", "203.0.114.9", OutsideNetwork},
		{"one address", networks("203.0.113.9"), "", "", "203.0.113.9", ""},
		{"next address", networks("203.0.113.9"), "", "", "203.0.113.10", OutsideNetwork},
		{"client in IPv6 form", networks("203.0.113.0/24"), "", "", "::ffff:203.0.113.9", ""},
		{"address in IPv6 form", networks("::ffff:203.0.113.9"), "", "", "203.0.113.9", ""},
		{"network in IPv6 form", networks("::ffff:203.0.113.0/120"), "", "", "203.0.113.9", ""},
		{"IPv6", networks("2001:db8::/32"), "", "", "2001:db8::1", ""},
		{"client with zone", networks("fe80::/10"), "", "", "fe80::1%eth0", ""},
		{"all IPv6 is no IPv4", networks("::/0"), "", "", "203.0.113.9", OutsideNetwork},
		{"no address", networks("0.0.0.0/0", "::/0"), "", "", "", OutsideNetwork},
		{"both have to hold", Restrictions{[]string{app}, []string{"203.0.113.9"}}, app, "", "203.0.113.10",
			OutsideNetwork},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b, err := NewBounds(tc.bounds)
			if err != nil {
				t.Fatal(err)
			}
			client, _ := netip.ParseAddr(tc.client)
			if got := b.Allow(tc.origin, tc.referer, client); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if allocs := testing.AllocsPerRun(10, func() { b.Allow(tc.origin, tc.referer, client) }); allocs != 0 &&
				client.Zone() == "" {
				t.Errorf("%v allocations", allocs)
			}
		})
	}
}

func TestNewBoundsRefuses(t *testing.T) {
	for _, tc := range []struct{ list, element, want string }{
		{"origins", "*", "no origin like"},
		{"origins", "", "no origin like"},
		{"origins", "https://", "no origin like"},
		{"origins", "app.example.com", "no origin like"},
		{"origins", "null", "no origin like"},
		{"origins", "1http://a.test", "no scheme"},
		{"origins", "://a.test", "no scheme"},
		{"origins", "https://a.test/", "no path"},
		{"origins", "https://a.test?x", "no path"},
		{"origins", `https://a.test\x`, "no path"},
		{"origins", "https://user@a.test", "user's name"},
		{"origins", "https://*", "a host that is none"},
		{"origins", "https://a.*.test", "a host that is none"},
		{"origins", "https://*.*.test", "a host that is none"},
		{"origins", "https://bücher.example", "xn--"},
		{"origins", "https://a..test", "a host that is none"},
		{"origins", "https://a.test.", "a host that is none"},
		{"origins", "https://[::1", "a host that is none"},
		{"origins", "https://*.192.0.2.1", "nothing below an IP address"},
		{"origins", "https://*.0.2.1", "a host that is none"},
		{"origins", "https://192.0.02.1", "a host that is none"},
		{"origins", "https://a.test:0", "a port that is"},
		{"origins", "https://a.test:65536", "a port that is"},
		{"origins", "https://a.test:", "a port that is"},
		{"origins", "https://" + strings.Repeat("a", 256), "more than 255"},
		{"origins", "https://" + strings.Repeat("a", 1000), "longer than"},
		{"networks", "example.com", "no IP address"},
		{"networks", "203.0.113.0/33", "no network like"},
		{"networks", "203.0.113.9/24", "did you mean 203.0.113.0/24?"},
		{"networks", "fe80::1%eth0", "zone"},
		{"networks", "fe80::%eth0/10", "no network like"},
		{"networks", "::ffff:203.0.113.0/90", "96 bits"},
		{"networks", "", "no IP address"},
	} {
		t.Run(tc.element, func(t *testing.T) {
			r := Restrictions{Origins: []string{"https://a.test"}, Networks: []string{"192.0.2.1"}}
			if tc.list == "origins" {
				r.Origins = append(r.Origins, tc.element)
			} else {
				r.Networks = append(r.Networks, tc.element)
			}
			_, err := NewBounds(r)
			if err == nil || !strings.HasPrefix(err.Error(), tc.list+": element 1: ") ||
				!strings.Contains(err.Error(), tc.want) || len(err.Error()) > 300 {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
	if _, err := NewBounds(Restrictions{Networks: slices.Repeat([]string{"::1"}, MaxRestrictions+1)}); err == nil {
		t.Error("too many are accepted")
	}
}
