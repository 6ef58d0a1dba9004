package osrmmatcher_test

import (
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// OSRM's sockets and connections that are kept alive wait for each other, 40 ms a request. So there is a connection for
// each request, whatever else is said of the transport, unless keep-alive is asked for.
func TestSockets(t *testing.T) {
	const (
		requests = 20
		delay    = 40 * time.Millisecond // of Linux
		fast     = delay / 2
	)
	good := modulestest.ReadRecorded(t, "../../internal/testkit/testdata/osrm/match_ok_1.json")
	target, _ := question(t, good)
	var hangs atomic.Bool
	u := modulestest.NewDelayed(t, func(*http.Request) (int, []byte) {
		if hangs.Load() {
			time.Sleep(10 * time.Second)
		}
		return good.Status, good.Body
	})
	delays := u.Delays(t)
	for _, tt := range []struct {
		name, transport string
		keepAlive       bool
		givesUp         bool // after a second without a response
	}{
		{"nothing said", "", false, false},
		{"off", "transport http {\nkeepalive off\n}", false, false},
		{"another option", "transport http {\nresponse_header_timeout 1s\n}", false, true},
		{"on", "transport http {\nkeepalive 2m\n}", true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, u.URL, "timeout 1m\n"+tt.transport)
			before := u.Connections.Load()
			// quarter asks, and returns what three quarters of the requests take or more. On a machine with other work some
			// wait for their turn; on a new connection none waits for an acknowledgement.
			quarter := func() time.Duration {
				var took []time.Duration
				for range requests {
					began := time.Now()
					if a := s.Do(http.MethodGet, target, "", ""); a.Status != http.StatusOK {
						t.Fatalf("%d %s", a.Status, a.Body)
					}
					took = append(took, time.Since(began))
				}
				slices.Sort(took)
				return took[requests/4]
			}
			first := quarter()
			if made := u.Connections.Load() - before; tt.keepAlive != (made < requests/2) || made > requests {
				t.Errorf("%d connections for %d requests, kept alive: %v", made, requests, tt.keepAlive)
			}
			if tt.givesUp {
				hangs.Store(true)
				if a := s.Do(http.MethodGet, target, "", ""); a.Status != http.StatusGatewayTimeout {
					t.Errorf("OSRM hangs: %d %s", a.Status, a.Body)
				}
				hangs.Store(false)
			}
			if !delays {
				t.Skip("the kernel acknowledges at once, so no request has to wait: only the connections are counted")
			}
			if tt.keepAlive {
				if first < fast {
					t.Errorf("a quarter of the requests take %v or less on connections that are kept", first)
				}
			} else if first > fast {
				testkit.Within(t, "a quarter of the requests on new connections", fast, quarter)
			}
		})
	}
}
