package auth_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/mapsedge/caddy-maps/modules/mapsapp/mapstest"
)

const benchSite = `
	handle /plain {
		respond "hello"
	}
	handle /guarded {
		maps_auth DIRECTION
		respond "hello"
	}
` + accountsSite

// BenchmarkAuthBeforeRespond measures what maps_auth costs a request: requests per second of `respond` alone and of `respond`
// behind maps_auth with a token that is in the cache, over loopback HTTP with keep-alive on one core. It alternates short
// rounds and reports medians: "ratio" against a request without a token, "same-request-ratio" against `respond` alone that is
// sent the token too, so that what the longer request costs Caddy by itself can be told apart.
func BenchmarkAuthBeforeRespond(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	s := mapstest.Start(b, mapstest.Config{Site: benchSite, Level: "INFO", NoAccessLog: true})
	_, token := s.Token("acme", "DIRECTION")
	plain, same, guarded := s.Dial("/plain", ""), s.Dial("/plain", token), s.Dial("/guarded", token)
	for _, c := range []*mapstest.Client{plain, same, guarded} {
		c.Run(2000)
	}
	const round = 1000
	var ratios, sameRatios, plains []float64
	for b.Loop() {
		p, q, g := plain.Run(round), same.Run(round), guarded.Run(round)
		ratios = append(ratios, p.Seconds()/g.Seconds())
		sameRatios = append(sameRatios, q.Seconds()/g.Seconds())
		plains = append(plains, round/p.Seconds())
	}
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(median(sameRatios), "same-request-ratio")
	b.ReportMetric(median(plains), "respond-req/s")
	b.ReportMetric(0, "ns/op")
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
