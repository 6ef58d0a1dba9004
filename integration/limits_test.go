package integration

import (
	"strconv"
	"testing"
)

// Without trusted proxies no client is believed that names another address.
func TestForwardedAddressIsNotBelieved(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.limits, s.env = true, []string{"MAPS_LIMIT_TOKENS=10"}
	s.run(t)
	for n := range 11 {
		c := refreshCall("mpr_x")
		address := "203.0.113." + strconv.Itoa(n)
		c.header = map[string][]string{"X-Forwarded-For": {address}, "Forwarded": {"for=" + address}}
		status := 401
		if n == 10 {
			status = 429
		}
		s.send(t, c).want(status)
	}
}
