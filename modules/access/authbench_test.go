package access_test

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/testkit/testpace"
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

// silent is a response that nobody reads.
type silent struct{ header http.Header }

func (s silent) Header() http.Header         { return s.header }
func (s silent) Write(p []byte) (int, error) { return len(p), nil }
func (s silent) WriteHeader(int)             {}

// What a request that passes maps_auth allocates beyond one that does not, in all: of ours, of Caddy for one more
// directive, less what Caddy allocates to compare a path that the other request has to pass. One that a quota refuses
// costs hardly more than the shortest that is served.
func TestAllocations(t *testing.T) {
	if testpace.RaceDetector {
		t.Skip("the race detector has pools give memory away")
	}
	s := modulestest.Start(t, modulestest.Config{Site: benchSite, Level: "INFO", NoAccessLog: true})
	user := s.UserToken("acme")
	exchange := func(more string) string {
		acc := s.CreateAccount(user, "DIRECTION", more)
		return s.Exchange(acc.ClientToken, acc.ServerToken).AccessToken
	}
	token, refused := exchange(""), exchange(`"quotas":[{"scope":"*","unit":"requests","window":"day","limit":0}]`)
	app, err := caddy.ActiveContext().App("http")
	if err != nil {
		t.Fatal(err)
	}
	server := app.(*caddyhttp.App).Servers["srv0"]
	ctx := context.WithValue(t.Context(), http.ServerContextKey, new(http.Server))
	of := func(path, token string) float64 {
		r := httptest.NewRequestWithContext(ctx, http.MethodGet, s.URL+path, nil)
		r.Host = "127.0.0.1"
		authorization := []string{"Bearer " + token}
		least := math.Inf(1)
		for range 10 { // the store and Caddy work beside it now and then
			least = min(least, testing.AllocsPerRun(200, func() {
				r.Header["Authorization"] = authorization // maps_auth removes it
				w := silent{make(http.Header)}
				server.ServeHTTP(w, r)
				if w.header.Get("Content-Type") == "" || (w.header.Get("Vary") == "") != (path == "/plain") ||
					(w.header.Get("Retry-After") == "") != (token != refused) {
					t.Fatalf("%s: %v", path, w.header)
				}
			}))
		}
		return least
	}
	const most, mostRefused = 1, 4
	plain, guarded := of("/plain", token), of("/guarded", token)
	if guarded-plain > most {
		t.Errorf("maps_auth adds %v allocations to %v, more than %d", guarded-plain, plain, most)
	}
	if n := of("/guarded", refused); n-guarded > mostRefused {
		t.Errorf("%v allocations to refuse a request, %v to serve one", n, guarded)
	}
}

// BenchmarkAuthBeforeRespond measures what maps_auth costs a request: requests per second of `respond` behind maps_auth,
// with a token that is in the cache, over those of `respond` by itself, over loopback HTTP with keep-alive on one core.
// Short rounds alternate; the figures are medians: "ratio" against a request without a token, which is to stay at 0.90
// or more, and "same-request-ratio" against one that has the token too, which costs Caddy by itself.
//
//	go test ./modules/auth -run '^$' -bench BeforeRespond -benchtime 500x
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
