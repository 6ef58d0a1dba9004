package matching_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/matching"
	"github.com/mapsedge/caddy-maps/internal/testkit/roadgraphtest"
)

// BenchmarkMatchDelaware matches drives of some kilometres, with a position every second and every 15 seconds. One
// operation is one drive.
func BenchmarkMatchDelaware(b *testing.B) {
	g := roadgraphtest.Delaware(b)
	drives := routes(b, g, 1, 20)
	for _, every := range []float64{1, 15} {
		for _, details := range []bool{false, true} {
			b.Run(fmt.Sprintf("every=%vs/details=%v", every, details), func(b *testing.B) {
				n := newNoise(7, 5)
				var requests []*matching.Request
				for _, arcs := range drives {
					requests = append(requests, &matching.Request{Points: n.record(g, arcs, every), Details: details})
				}
				m := matching.New(g, matching.Options{})
				b.ReportAllocs()
				matched, i := 0, 0
				for b.Loop() {
					req := requests[i%len(requests)]
					if _, err := m.Match(context.Background(), req); err != nil {
						b.Fatal(err)
					}
					matched += len(req.Points)
					i++
				}
				b.ReportMetric(float64(matched)/b.Elapsed().Seconds(), "points/s")
			})
		}
	}
}
