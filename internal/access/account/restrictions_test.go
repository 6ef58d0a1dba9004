package account

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

const app, below = "https://app.example.com", "https://*.example.com"

func pages(list ...string) Restrictions    { return Restrictions{Origins: list} }
func networks(list ...string) Restrictions { return Restrictions{Networks: list} }

// allowed are requests from different places. The fuzz test begins with them.
var allowed = []struct {
	name                    string
	bounds                  Restrictions
	origin, referer, client string
	want                    Outside
}{
	{"nothing restricted", Restrictions{}, "", "", "", ""},
	{"exact", pages(app), app, "", "", ""},
	{"case", pages("HTTPS://App.Example.com"), "https://aPP.example.COM", "", "", ""},
	{"default port named", pages(app + ":443"), app, "", "", ""},
	{"default port sent", pages("http://a.test"), "http://a.test:80", "", "", ""},
	{"other port", pages("http://localhost:3000"), "http://localhost:3001", "", "", OutsideOrigin},
	{"other scheme", pages(app), "http://app.example.com", "", "", OutsideOrigin},
	{"host goes on", pages(app), app + ".evil.test", "", "", OutsideOrigin},
	{"host in user", pages(app), "https://app.example.com@evil.test", "", "", OutsideOrigin},
	{"label below", pages(below), app, "", "", ""},
	{"labels below", pages(below), "https://a.b.example.com", "", "", ""},
	{"not the name itself", pages(below), "https://example.com", "", "", OutsideOrigin},
	{"not a longer label", pages(below), "https://evilexample.com", "", "", OutsideOrigin},
	{"no empty label", pages(below), "https://.example.com", "", "", OutsideOrigin},
	{"app's scheme", pages("capacitor://localhost"), "capacitor://localhost", "", "", ""},
	{"null", pages(app), "null", app + "/", "", OutsideOrigin},
	{"referer", pages(app), "", app + "/map?x=https://evil.test#y", "", ""},
	{"other referer", pages(app), "", "https://evil.test/" + app, "", OutsideOrigin},
	{"origin before referer", pages(app), "https://evil.test", app + "/", "", OutsideOrigin},
	{"host as user in referer", pages(app), "", "https://app.example.com@evil.test/", "", OutsideOrigin},
	{"user in referer", pages(app), "", "https://ann:x@app.example.com/", "", ""},
	{"referer of a page below", pages(below), "", app + "/", "", ""},
	{"referer without scheme", pages(app), "", "//app.example.com/", "", OutsideOrigin},
	{"referer is no URL", pages(app), "", app + "/%zz", "", OutsideOrigin},
	{"origin with a path", pages(app), app + "/", "", "", OutsideOrigin},
	{"IPv6 in another form", pages("http://[::1]"), "http://[0:0::1]:80", "", "", ""},
	{"neither", pages(app), "", "", "", OutsideNoOrigin},

	{"network", networks("203.0.113.0/24"), "", "", "203.0.113.9", ""},
	{"one address", networks("203.0.113.9"), "", "", "203.0.113.9", ""},
	{"client in IPv6 form", networks("203.0.113.0/24"), "", "", "::ffff:203.0.113.9", ""},
	{"address in IPv6 form", networks("::ffff:203.0.113.9"), "", "", "203.0.113.9", ""},
	{"IPv6", networks("2001:db8::/32"), "", "", "2001:db8::1", ""},
	{"client with zone", networks("fe80::/10"), "", "", "fe80::1%eth0", ""},
	{"all IPv6 is no IPv4", networks("::/0"), "", "", "203.0.113.9", OutsideNetwork},
	{"no address", networks("0.0.0.0/0", "::/0"), "", "", "", OutsideNetwork},
	{"both have to hold", Restrictions{[]string{app}, []string{"203.0.113.9"}}, app, "", "203.0.113.10",
		OutsideNetwork},
}

func TestBoundsAllow(t *testing.T) {
	for _, tc := range allowed {
		t.Run(tc.name, func(t *testing.T) {
			b, err := NewBounds(tc.bounds)
			if err != nil {
				t.Fatal(err)
			}
			client, _ := netip.ParseAddr(tc.client)
			if got := b.Allow(tc.origin, tc.referer, client); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestBoundsAllocations(t *testing.T) {
	b, err := NewBounds(Restrictions{Origins: []string{below, app + ":443"}, Networks: []string{"203.0.113.0/24"}})
	if err != nil {
		t.Fatal(err)
	}
	client := netip.MustParseAddr("::ffff:203.0.113.9")
	if n := testing.AllocsPerRun(10, func() { b.Allow(app, "", client) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestNewBoundsRefuses(t *testing.T) {
	for _, tc := range []struct{ list, element, want string }{
		{"origins", "*", "not an origin like"},
		{"origins", "", "not an origin like"},
		{"origins", "https://", "not an origin like"},
		{"origins", "app.example.com", "not an origin like"},
		{"origins", "null", "not an origin like"},
		{"origins", "//a.test", "not an origin like"},
		{"origins", "localhost:3000", "not an origin like"},
		{"origins", "1http://a.test", "not an origin like"},
		{"origins", "://a.test", "not an origin like"},
		{"origins", "https://[::1", "not an origin like"},
		{"origins", `https://a.test\x`, "not an origin like"},
		{"origins", "https://a.test:x", "not an origin like"},
		{"origins", "https://a.test/", "only a slash at its end"},
		{"origins", "https://a.test#x", "more than scheme"},
		{"origins", "https://user@a.test", "more than scheme"},
		{"origins", "https://*", "a host that is no IP"},
		{"origins", "https://a.*.test", "a host that is no IP"},
		{"origins", "https://*.*.test", "a host that is no IP"},
		{"origins", "https://bücher.example", "xn--…"},
		{"origins", "https://a..test", "a host that is no IP"},
		{"origins", "https://a.test.", "a host that is no IP"},
		{"origins", "https://*.192.0.2.1", "a host that is no IP"},
		{"origins", "https://*.0.2.1", "a host that is no IP"},
		{"origins", "https://192.0.02.1", "a host that is no IP"},
		{"origins", "https://a.test:0", "a port that is"},
		{"origins", "https://a.test:65536", "a port that is"},
		{"origins", "https://a.test:", "a port that is"},
		{"origins", "https://" + strings.Repeat("a", 313), "longer than 320"},
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
	if _, err := NewBounds(Restrictions{Origins: []string{"https://" + strings.Repeat("a", 312)}}); err != nil {
		t.Errorf("320 characters: %v", err)
	}
	if _, err := NewBounds(Restrictions{Networks: slices.Repeat([]string{"::1"}, MaxRestrictions+1)}); err == nil {
		t.Error("too many are accepted")
	}
}
