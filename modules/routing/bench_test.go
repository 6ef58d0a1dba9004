package routing_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
	_ "github.com/mapsedge/caddy-maps/modules/access"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// BenchmarkHTTP measures whole answers about Delaware through the server behind maps_auth, over loopback HTTP with
// keep-alive: "cpu-ms/op" is the processor time of the process, with that of its garbage collection and of the client,
// which does little. Routes are between random places.
func BenchmarkHTTP(b *testing.B) {
	path := filepath.Join(b.TempDir(), "delaware.region")
	if _, err := compiler.Build(b.Context(),
		compiler.Options{Inputs: []string{testkit.Extract(b, testkit.Delaware)}, Output: path, NoMap: true}); err != nil {
		b.Fatal(err)
	}
	s := modulestest.Start(b, modulestest.Config{
		Maps: "region delaware " + path, Level: "INFO", NoAccessLog: true,
		Site: `
			handle /api/v1/external/* {
				maps_tokens
			}
			handle /api/v1/service-accounts* {
				maps_accounts
			}
			@matrix path /table/* /api/route/matrix/
			handle @matrix {
				maps_auth MATRIX
				maps_route delaware {
					max_elements 1000000
					max_coordinates 1000
				}
			}
			handle {
				maps_auth DIRECTION
				maps_route delaware
			}`,
	})
	_, token := s.Token("acme", "DIRECTION MATRIX")
	g := roadgraphtest.Delaware(b)
	edges := slices.Collect(g.Edges())
	r := rand.New(rand.NewPCG(1, 2))
	places := make([]orb.Point, 1000)
	for i := range places {
		places[i] = g.At(edges[r.IntN(len(edges))], 0)
	}
	pair := func(format string) func(i int) string {
		return func(i int) string {
			from, to := places[i], places[(i+1)%len(places)]
			return fmt.Sprintf(format, from[0], from[1], to[0], to[1])
		}
	}
	isochrone := func(minutes int) func(i int) string {
		return func(i int) string {
			return fmt.Sprintf("/api/v1/isochrone?origin=%f,%f&minutes=%d", places[i][1], places[i][0], minutes)
		}
	}
	table := func(i int) string { return "/table/v1/car/" + listed(places[i:i+100]) }
	for _, tc := range []struct {
		name    string
		targets int
		target  func(i int) string
	}{
		{"route", 200, pair("/api/v1/route?origin=%[2]f,%[1]f&destination=%[4]f,%[3]f")},
		{"osrm", 200, pair("/route/v1/car/%f,%f;%f,%f?overview=full")},
		{"osrm with steps", 200, pair("/route/v1/car/%f,%f;%f,%f?overview=full&steps=true")},
		{"isochrone of 15 minutes", 20, isochrone(15)},
		{"isochrone of 60 minutes", 20, isochrone(60)},
		{"table 100x100", 20, table},
	} {
		b.Run(tc.name, func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			client := modulestest.DialTo(b, strings.TrimPrefix(s.URL, "http://"))
			n := 0
			for i := 0; n < tc.targets && i < len(places); i++ {
				target := tc.target(i)
				if s.Do(http.MethodGet, target, token, "").Status != http.StatusOK {
					continue // no route between islands
				}
				n++
				client.Add(fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", target,
					strings.TrimPrefix(s.URL, "http://"), token))
			}
			measure(b, client, n)
		})
	}
	b.Run("matrix 1000x1000", func(b *testing.B) { // too long for a URL
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		var list []string
		for _, p := range places {
			list = append(list, fmt.Sprintf(`{"lat":%f,"lng":%f}`, p[1], p[0]))
		}
		all := "[" + strings.Join(list, ",") + "]"
		body := `{"origins":` + all + `,"destinations":` + all + "}"
		measure(b, s.DialPost("/api/route/matrix/", token, [][]byte{[]byte(body)}), 1)
	})
}

// measure measures a client after it has sent n requests.
func measure(b *testing.B, client *modulestest.Client, n int) {
	client.Run(n)
	began := testkit.ProcessorTime()
	for b.Loop() {
		client.Run(1)
	}
	b.ReportMetric(float64((testkit.ProcessorTime()-began).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

// listed is places as OSRM's API has them.
func listed(places []orb.Point) string {
	parts := make([]string, len(places))
	for i, p := range places {
		parts[i] = fmt.Sprintf("%f,%f", p[0], p[1])
	}
	return strings.Join(parts, ";")
}
