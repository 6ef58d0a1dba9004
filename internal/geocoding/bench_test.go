package geocoding_test

import (
	"slices"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/geocodingtest"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
)

func BenchmarkReverse(b *testing.B) {
	x := geocodingtest.Build(b, placestest.Read(b, testkit.Delaware))
	points := delawarePoints(10_000)
	for _, c := range []struct {
		name       string
		size       int
		categories []string
	}{
		{"size=1", 1, nil},
		{"size=5", 5, nil},
		{"restaurant", 5, []string{"restaurant"}},
		{"school", 5, []string{"school"}},
		{"highway", 5, []string{"highway"}},
		{"nothing", 5, []string{"no such thing"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			req := geocoding.Request{Size: c.size, Categories: c.categories, Into: new(geocoding.Result)} // as the handler asks
			times := make([]time.Duration, 0, len(points))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				req.Point = points[i%len(points)]
				start := time.Now()
				if _, err := x.Reverse(b.Context(), &req); err != nil {
					b.Fatal(err)
				}
				if took := time.Since(start); len(times) < cap(times) {
					times = append(times, took)
				} else {
					times[i%len(points)] = took
				}
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Nanoseconds()), "p50-ns")
			b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds()), "p99-ns")
		})
	}
}
