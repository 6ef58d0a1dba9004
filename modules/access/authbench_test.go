package access_test

import (
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
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

// BenchmarkAuthBeforeRespond measures what maps_auth costs a request: requests per second of `respond` behind maps_auth,
// with a token that is in the cache, over those of `respond` by itself, over loopback HTTP with keep-alive on one core.
// Short rounds alternate; the figures are medians: "ratio" against a request without a token, which is to stay at 0.90
// or more, and "same-request-ratio" against one that has the token too, which costs Caddy by itself.
//
//	go test ./modules/access -run '^$' -bench BeforeRespond -benchtime 500x
func BenchmarkAuthBeforeRespond(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	s := modulestest.Start(b, modulestest.Config{Site: benchSite, Level: "INFO", NoAccessLog: true})
	_, token := s.Token("acme", "DIRECTION")
	plain, same, guarded := s.Dial("/plain", ""), s.Dial("/plain", token), s.Dial("/guarded", token)
	for _, c := range []*modulestest.Client{plain, same, guarded} {
		c.Run(2000)
	}
	const round = 200
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

// BenchmarkAuth measures a request behind maps_auth, over loopback HTTP with keep-alive on one core: one that only
// counts, one that a quota is compared with, and one that a quota refuses; and the same one without maps_auth.
func BenchmarkAuth(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	s := modulestest.Start(b, modulestest.Config{Site: benchSite, Level: "INFO", NoAccessLog: true})
	user := s.UserToken("acme")
	const quota = `"quotas":[{"scope":"*","unit":"requests","window":"day","limit":%d}]`
	for _, tc := range []struct {
		name, target, more string
		status             int
	}{
		{"respond", "/plain", "", http.StatusOK},
		{"counted", "/guarded", "", http.StatusOK},
		{"quota", "/guarded", fmt.Sprintf(quota, account.MaxQuotaLimit), http.StatusOK},
		{"refused", "/guarded", fmt.Sprintf(quota, 0), http.StatusTooManyRequests},
	} {
		b.Run(tc.name, func(b *testing.B) {
			acc := s.CreateAccount(user, "DIRECTION", tc.more)
			client := s.With(b).Dial(tc.target, s.Exchange(acc.ClientToken, acc.ServerToken).AccessToken)
			client.Want = tc.status
			client.Run(2000)
			b.ReportAllocs()
			for b.Loop() {
				client.Run(1)
			}
		})
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
