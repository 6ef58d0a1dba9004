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
	restrictions            Restrictions
	origin, referer, client string
	want                    Violation
}{
	{"nothing restricted", Restrictions{}, "", "", "", ""},
	{"exact", pages(app), app, "", "", ""},
	{"case", pages("HTTPS://App.Example.com"), "https://aPP.example.COM", "", "", ""},
	{"default port named", pages(app + ":443"), app, "", "", ""},
	{"default port sent", pages("http://a.test"), "http://a.test:80", "", "", ""},
	{"other port", pages("http://localhost:3000"), "http://localhost:3001", "", "", ViolationOrigin},
	{"other scheme", pages(app), "http://app.example.com", "", "", ViolationOrigin},
	{"host goes on", pages(app), app + ".evil.test", "", "", ViolationOrigin},
	{"host in user", pages(app), "https://app.example.com@evil.test", "", "", ViolationOrigin},
	{"label below", pages(below), app, "", "", ""},
	{"labels below", pages(below), "https://a.b.example.com", "", "", ""},
	{"not the name itself", pages(below), "https://example.com", "", "", ViolationOrigin},
	{"not a longer label", pages(below), "https://evilexample.com", "", "", ViolationOrigin},
	{"no empty label", pages(below), "https://.example.com", "", "", ViolationOrigin},
	{"app's scheme", pages("capacitor://localhost"), "capacitor://localhost", "", "", ""},
	{"null", pages(app), "null", app + "/", "", ViolationOrigin},
	{"referer", pages(app), "", app + "/map?x=https://evil.test#y", "", ""},
	{"other referer", pages(app), "", "https://evil.test/" + app, "", ViolationOrigin},
	{"origin before referer", pages(app), "https://evil.test", app + "/", "", ViolationOrigin},
	{"host as user in referer", pages(app), "", "https://app.example.com@evil.test/", "", ViolationOrigin},
	{"user in referer", pages(app), "", "https://ann:x@app.example.com/", "", ""},
	{"referer of a page below", pages(below), "", app + "/", "", ""},
	{"referer without scheme", pages(app), "", "//app.example.com/", "", ViolationOrigin},
	{"referer is no URL", pages(app), "", app + "/%zz", "", ViolationOrigin},
	{"origin with a path", pages(app), app + "/", "", "", ViolationOrigin},
	{"IPv6 in another form", pages("http://[::1]"), "http://[0:0::1]:80", "", "", ""},
	{"neither", pages(app), "", "", "", ViolationNoOrigin},

	{"network", networks("203.0.113.0/24"), "", "", "203.0.113.9", ""},
	{"one address", networks("203.0.113.9"), "", "", "203.0.113.9", ""},
	{"client in IPv6 form", networks("203.0.113.0/24"), "", "", "::ffff:203.0.113.9", ""},
	{"address in IPv6 form", networks("::ffff:203.0.113.9"), "", "", "203.0.113.9", ""},
	{"IPv6", networks("2001:db8::/32"), "", "", "2001:db8::1", ""},
	{"client with zone", networks("fe80::/10"), "", "", "fe80::1%eth0", ""},
	{"all IPv6 is no IPv4", networks("::/0"), "", "", "203.0.113.9", ViolationNetwork},
	{"no address", networks("0.0.0.0/0", "::/0"), "", "", "", ViolationNetwork},
	{"both have to hold", Restrictions{[]string{app}, []string{"203.0.113.9"}}, app, "", "203.0.113.10",
		ViolationNetwork},
}

func TestCheckRestrictions(t *testing.T) {
	for _, tc := range allowed {
		b, err := tc.restrictions.Compile()
		if err != nil {
			t.Fatal(err)
		}
		client, _ := netip.ParseAddr(tc.client)
		if got := b.Check(tc.origin, tc.referer, client); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
	b, err := Restrictions{Origins: []string{below, app + ":443"}, Networks: []string{"203.0.113.0/24"}}.Compile()
	client := netip.MustParseAddr("::ffff:203.0.113.9")
	if n := testing.AllocsPerRun(10, func() { b.Check(app, "", client) }); err != nil || n != 0 {
		t.Errorf("%v allocations, error %v", n, err)
	}
}

func TestCompileRefuses(t *testing.T) {
	for want, elements := range map[string][]string{
		"origins: element 1: * not an origin like": {"*", "", "https://", "app.example.com", "null", "//a.test", "localhost:3000",
			"1http://a.test", "://a.test", "https://[::1", `https://a.test\x`, "https://a.test:x"},
		"origins: element 1: * more than scheme": {"https://a.test/", "https://a.test#x", "https://user@a.test"},
		"origins: element 1: * a host that is no IP": {"https://*", "https://a.*.test", "https://*.*.test", "https://bücher.example",
			"https://a..test", "https://a.test.", "https://*.192.0.2.1", "https://*.0.2.1", "https://192.0.02.1"},
		"origins: element 1: * a port that is":                {"https://a.test:0", "https://a.test:65536", "https://a.test:"},
		"origins: element 1: * longer than 320":               {"https://" + strings.Repeat("a", 313)},
		"networks: element 1: * no IP address":                {"example.com", ""},
		"networks: element 1: * no network like":              {"203.0.113.0/33", "fe80::%eth0/10"},
		"networks: element 1: * did you mean 203.0.113.0/24?": {"203.0.113.9/24"},
		"networks: element 1: * zone":                         {"fe80::1%eth0"},
		"networks: element 1: * 96 bits":                      {"::ffff:203.0.113.0/90"},
	} {
		for _, element := range elements {
			r := Restrictions{Origins: []string{"https://a.test", element}, Networks: []string{"192.0.2.1", element}}
			begin, part, _ := strings.Cut(want, " * ")
			if strings.HasPrefix(want, "networks") {
				r.Origins = nil
			}
			_, err := r.Compile()
			if err == nil || !strings.HasPrefix(err.Error(), begin) || !strings.Contains(err.Error(), part) || len(err.Error()) > 300 {
				t.Errorf("%q: got %v, want %s", element, err, want)
			}
		}
	}
	if _, err := pages("https://" + strings.Repeat("a", 312)).Compile(); err != nil {
		t.Errorf("320 characters: %v", err)
	}
	if _, err := networks(slices.Repeat([]string{"::1"}, MaxRestrictions+1)...).Compile(); err == nil {
		t.Error("too many are accepted")
	}
}
