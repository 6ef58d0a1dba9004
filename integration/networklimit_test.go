package integration

import (
	"strings"
	"testing"
)

// A limit for each client IP counts an IPv6 network of 64 bits as one, however its addresses are written.
func TestNetworkLimit(t *testing.T) {
	s := newServer(t,
		"# trusted_proxies static 10.0.0.0/8", "trusted_proxies static 127.0.0.1/32",
		"# trusted_proxies_strict", "trusted_proxies_strict")
	s.limits, s.env = true, []string{"MAPS_LIMIT_TOKENS=20"}
	s.run(t)
	from := func(ip string) call {
		c := refreshCall("mpr_" + strings.Repeat("x", 49))
		c.header = map[string][]string{"X-Forwarded-For": {ip}}
		return c
	}
	for _, test := range []struct{ first, same, other string }{
		{"2001:db8:1:2:3:4:5:6", "2001:db8:1:2:ffff::1", "2001:db8:1:3:3:4:5:6"},
		{"2001:db8:1:4::1", "2001:0db8:0001:0004:0:0:0:2", "2001:db8:1:5::1"},
		{"2001:db8::1", "2001:db8:0:0:7:8:9:a", "2001:db8:0:1::1"},
		{"2001:db9:1::1", "2001:db9:1:0:7:8:9:a", "2001:db9:1:1::1"},
		{"2001::5:6:7:8:9", "2001:0:0:5::", "2001:0:0:6::"},
		{"2002::1", "2002::7:8:9:a", "2002::1:7:8:9:a"},
		{"2003:1:2:3::", "2003:1:2:3::ffff", "2003:1:2::3:0:0:0"},
		{"198.51.100.1", "198.51.100.1", "198.51.100.2"},
		{"::ffff:198.51.100.3", "::ffff:198.51.100.3", "::ffff:198.51.100.4"},
	} {
		t.Run(test.first, func(t *testing.T) {
			s.untilLimited(t, from(test.first), 401)
			if _, passed := s.untilLimited(t, from(test.same), 401); passed >= 15 {
				t.Errorf("%s has a limit of its own: %d requests passed", test.same, passed)
			}
			s.send(t, from(test.other)).want(401)
		})
	}
}
