//go:build unix

package osrmmatcher_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/geo"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// osrmPoint is what OSRM 6.0.0 works on a point of a trace: 178 requests/s were measured on one connection after
// another, without keep-alive, at 39 points on average.
const osrmPoint = 145 * time.Microsecond

// What `matcher osrm` costs beside a server with OSRM's sockets, which plays back a response as OSRM sends it to us.
//
// `working`: requests/s on one connection by `matcher osrm` and by a plain reverse_proxy, in turn, so that they meet
// the same conditions, where the server works as long on the points as OSRM does.
//
// `processor`: the processor time of a request, client and server included, with a server that answers at once: asked
// directly, by the proxy, and by the matcher; and what share of OSRM's own the matcher needs more than asking directly.
func BenchmarkOverhead(b *testing.B) {
	for _, name := range []string{"ok_1", "ok_3"} {
		r := modulestest.ReadRecorded(b, "../../internal/testkit/testdata/osrm/match_"+name+".json")
		target, points := question(b, r)
		var line string
		if err := json.Unmarshal(r.Request, &line); err != nil {
			b.Fatal(err)
		}
		c := compared{target: target, direct: strings.TrimPrefix(line, "GET "), points: points, body: asSent(b, r.Body)}
		b.Run(fmt.Sprintf("%d_points/working", points), func(b *testing.B) {
			c.start(b, time.Duration(points)*osrmPoint)
			plain, ours := c.dial(c.direct), c.dial(c.target)
			var took [2]time.Duration
			for b.Loop() {
				took[0] += plain.Run(round)
				took[1] += ours.Run(round)
			}
			n := float64(b.N * round)
			b.ReportMetric(n/took[0].Seconds(), "plain/s")
			b.ReportMetric(n/took[1].Seconds(), "matcher/s")
			b.ReportMetric(100*(1-took[0].Seconds()/took[1].Seconds()), "%less")
			b.ReportMetric(0, "ns/op")
		})
		b.Run(fmt.Sprintf("%d_points/processor", points), func(b *testing.B) {
			c.start(b, 0)
			plain, ours := c.dial(c.direct), c.dial(c.target)
			var used [3]time.Duration
			for b.Loop() {
				used[0] += processor(b, func() { c.ask(b) })
				used[1] += processor(b, func() { plain.Run(round) })
				used[2] += processor(b, func() { ours.Run(round) })
			}
			each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(b.N*round) }
			engine := float64((time.Duration(points) * osrmPoint).Microseconds())
			b.ReportMetric(each(used[0]), "direct-µs")
			b.ReportMetric(each(used[1]), "plain-µs")
			b.ReportMetric(each(used[2]), "matcher-µs")
			b.ReportMetric(100*each(used[2]-used[0])/engine, "%ofOSRM")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// round is the number of requests that are sent in one go.
const round = 50

// compared is a trace that is asked for in several ways.
type compared struct {
	target, direct string // of our API, and of OSRM's
	points         int
	body           []byte

	upstream *modulestest.Delayed
	server   *modulestest.Server
}

// start starts OSRM, which works so long on a request, and the server in front of it.
func (c *compared) start(b *testing.B, work time.Duration) {
	c.upstream = modulestest.NewDelayed(b, func(*http.Request) (int, []byte) {
		// It does not sleep: OSRM takes a core.
		for end := time.Now().Add(work); time.Now().Before(end); {
		}
		return http.StatusOK, c.body
	})
	c.server = modulestest.Start(b, modulestest.Config{NoAccessLog: true, Level: "WARN", Site: fmt.Sprintf(`
		handle /match/* {
			reverse_proxy %[1]s {
				transport http {
					keepalive off
				}
			}
		}
		handle {
			maps_match {
				public
				matcher osrm %[1]s
			}
		}`, c.upstream.URL)})
}

func (c *compared) dial(target string) *modulestest.Client { return c.server.Dial(target, "") }

// ask asks OSRM itself, on a connection for each request.
func (c *compared) ask(b *testing.B) {
	host := strings.TrimPrefix(c.upstream.URL, "http://")
	for range round {
		conn, err := net.Dial("tcp", host)
		if err != nil {
			b.Fatal(err)
		}
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", c.direct, host)
		if n, err := io.Copy(io.Discard, conn); err != nil || n < int64(len(c.body)) {
			b.Fatal(n, err)
		}
		conn.Close()
	}
}

// processor is the processor time that the process needs for something: on our side, on the server's, and on the
// client's.
func processor(b *testing.B, f func()) time.Duration {
	used := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	f()
	return used() - before
}

// asSent makes the recorded answer what OSRM answers to our question: a polyline, and no hints.
func asSent(b *testing.B, body []byte) []byte {
	var answer map[string]any
	if err := json.Unmarshal(body, &answer); err != nil {
		b.Fatal(err)
	}
	for _, m := range answer["matchings"].([]any) {
		matching := m.(map[string]any)
		var line orb.LineString
		for _, c := range matching["geometry"].(map[string]any)["coordinates"].([]any) {
			line = append(line, orb.Point{c.([]any)[0].(float64), c.([]any)[1].(float64)})
		}
		matching["geometry"] = string(geo.AppendPolyline(nil, line, geo.Polyline6))
	}
	for _, p := range answer["tracepoints"].([]any) {
		if point, ok := p.(map[string]any); ok {
			delete(point, "hint")
		}
	}
	text, err := json.Marshal(answer)
	if err != nil {
		b.Fatal(err)
	}
	return text
}
