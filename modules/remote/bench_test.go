package remote_test

import (
	"fmt"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// What `matcher osrm` costs beside a plain reverse_proxy: the time of a request of each, on one connection, to an
// upstream that answers at once with a recorded drive.
func BenchmarkOverhead(b *testing.B) {
	r := recorded(b, "osrm/match_ok_1")
	u := modulestest.NewUpstream(b)
	u.Replay(r)
	s := modulestest.Start(b, modulestest.Config{NoAccessLog: true, Level: "WARN", Site: osrm.site("/osrm", u.URL, "") +
		fmt.Sprintf("handle /match/* {\nreverse_proxy %s {\ntransport http {\nkeepalive off\n}\n}\n}", u.URL)})
	query, _ := pointsOf(b, r)
	for name, target := range map[string]string{"reverse_proxy": requestOf(b, r), "matcher": "/osrm" + query} {
		b.Run(name, func(b *testing.B) {
			client := s.Dial(target, "")
			for b.Loop() {
				client.Run(1)
			}
		})
	}
}
