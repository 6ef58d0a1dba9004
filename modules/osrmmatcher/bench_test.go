package osrmmatcher_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/modules/mapsapp/mapstest"
	"github.com/mapsedge/caddy-maps/modules/upstream/upstreamtest"
)

// osrmPoint is what OSRM 6.0.0 works on a point: it was measured to match 11,000 in a second on one core, over HTTP.
const osrmPoint = time.Second / 11000

// What `matcher osrm` costs over a plain reverse_proxy to the same server, which plays back an answer: at once, and after as much work
// as the points are to OSRM. Both are asked in turn, on one connection each, so that they meet the same conditions.
func BenchmarkOverhead(b *testing.B) {
	for _, name := range []string{"ok_1", "ok_3"} {
		overhead(b, name+"/at_once", name, 0)
		overhead(b, name+"/working", name, osrmPoint)
	}
}

func overhead(b *testing.B, title, name string, point time.Duration) {
	b.Run(title, func(b *testing.B) {
		r := upstreamtest.Read(b, "testdata/match_"+name+".json")
		var compact bytes.Buffer // as OSRM sends it
		if err := json.Compact(&compact, r.Body); err != nil {
			b.Fatal(err)
		}
		u := upstreamtest.New(b)
		target, points := question(b, r)
		u.Answer(func(w http.ResponseWriter, _ *http.Request) {
			for end := time.Now().Add(time.Duration(points) * point); time.Now().Before(end); { // work, not sleep: it takes a core
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(compact.Len()))
			w.Write(compact.Bytes())
		})
		s := mapstest.Start(b, mapstest.Config{NoAccessLog: true, Level: "WARN", Site: fmt.Sprintf(`
				handle /match/* {
					reverse_proxy %[1]s
				}
				handle {
					maps_match {
						matcher osrm %[1]s
					}
				}`, u.URL)})
		var line string
		if err := json.Unmarshal(r.Request, &line); err != nil {
			b.Fatal(err)
		}
		plain, ours := s.Dial(strings.TrimPrefix(line, "GET "), ""), s.Dial(target, "")
		var took [2]time.Duration
		for b.Loop() {
			const round = 50
			took[0] += plain.Run(round)
			took[1] += ours.Run(round)
		}
		n := float64(b.N * 50)
		b.ReportMetric(n/took[0].Seconds(), "plain/s")
		b.ReportMetric(n/took[1].Seconds(), "matcher/s")
		b.ReportMetric(100*(1-took[0].Seconds()/took[1].Seconds()), "%less")
		b.ReportMetric(0, "ns/op")
	})
}
