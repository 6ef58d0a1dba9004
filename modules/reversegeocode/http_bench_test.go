package reversegeocode_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/compiler"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/web/answer"
	_ "github.com/mapsedge/caddy-maps/modules/access"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
	_ "github.com/mapsedge/caddy-maps/modules/stores"
)

// dover is a position in the middle of Dover, Delaware.
var dover = orb.Point{-75.5197, 39.1573}

// BenchmarkBesideRespond measures what a whole request costs beside the web server: requests per second of `respond`
// with a body of the same size, over those of reverse geocoding behind maps_auth, over loopback HTTP with keep-alive
// on one core. Both are sent the same token and the same query. It alternates short rounds and reports medians:
// "ratio", and "bare-ratio" against `respond` without a token.
func BenchmarkBesideRespond(b *testing.B) {
	for _, size := range []string{"1", "5"} {
		b.Run("size="+size, func(b *testing.B) { besideRespond(b, size) })
	}
}

func besideRespond(b *testing.B, size string) {
	query := fmt.Sprintf("?lat=%g&lon=%g&size=%s", dover[1], dover[0], size)
	path := filepath.Join(b.TempDir(), "delaware.region")
	if _, err := compiler.Build(b.Context(),
		compiler.Options{Inputs: []string{testkit.Extract(b, testkit.Delaware)}, Output: path}); err != nil {
		b.Fatal(err)
	}
	length := len(answerOf(b, path, size))
	s := modulestest.Start(b, modulestest.Config{
		Maps: "region delaware " + path, Level: "INFO", NoAccessLog: true,
		Site: `
			handle /plain/* {
				respond "` + strings.Repeat("x", length) + `"
			}
			handle /v2/search/* {
				maps_auth REVERSEGEOCODING
				maps_reverse_geocode {
					geocoder local delaware
				}
			}
			handle /api/v1/external/* {
				maps_tokens
			}
			handle /api/v1/service-accounts* {
				maps_accounts
			}`,
	})
	_, token := s.Token("acme", "REVERSEGEOCODING")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const plain = "/plain/search/reverse-geocoding"
	if got := len(s.Do(http.MethodGet, endpoint+query, token, "").Body); got != length {
		b.Fatalf("a body of %d bytes, want %d", got, length)
	}
	bare, same, ours := s.Dial(plain+query, ""), s.Dial(plain+query, token), s.Dial(endpoint+query, token)
	for _, c := range []*modulestest.Client{bare, same, ours} {
		c.Run(1000)
	}
	const round = 1000
	var ratios, bareRatios, rates []float64
	for b.Loop() {
		p, q, g := bare.Run(round), same.Run(round), ours.Run(round)
		bareRatios = append(bareRatios, p.Seconds()/g.Seconds())
		ratios = append(ratios, q.Seconds()/g.Seconds())
		rates = append(rates, round/q.Seconds())
	}
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(median(bareRatios), "bare-ratio")
	b.ReportMetric(median(rates), "respond-req/s")
	b.ReportMetric(float64(length), "body-bytes")
	b.ReportMetric(0, "ns/op")
}

// answerOf is what the engine has to say, as it is sent.
func answerOf(b *testing.B, path, size string) []byte {
	f, err := region.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Release()
	index, err := geocoding.Open(f)
	if err != nil {
		b.Fatal(err)
	}
	n, err := strconv.Atoi(size)
	if err != nil {
		b.Fatal(err)
	}
	req := geocoding.Request{Point: dover, Size: n}
	result, err := index.Reverse(b.Context(), &req)
	if err != nil || len(result.Places) != n {
		b.Fatalf("%+v, %v", result, err)
	}
	return answer.AppendPlaces(nil, dover, result)
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
