package geocoding_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/compiler"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	"github.com/mapsedge/caddy-maps/internal/testkit/placestest"
	_ "github.com/mapsedge/caddy-maps/modules/access"
	"github.com/mapsedge/caddy-maps/modules/modulestest"
)

// BenchmarkBesideRespond measures what a whole request costs beside the web server: requests per second of `respond`
// with a body of the same size, over those of reverse geocoding in Delaware behind maps_auth, over loopback HTTP with
// keep-alive on one core. Both are sent the same token and the same query. It alternates short rounds and reports
// medians: "ratio", and "bare-ratio" against `respond` without a token.
func BenchmarkBesideRespond(b *testing.B) {
	path := filepath.Join(b.TempDir(), "delaware.region")
	if _, err := compiler.Build(b.Context(),
		compiler.Options{Inputs: []string{testkit.Extract(b, testkit.Delaware)}, Output: path}); err != nil {
		b.Fatal(err)
	}
	config := modulestest.Config{
		Maps: "region delaware " + path, Level: "INFO", NoAccessLog: true,
		Site: `
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
	}
	s := modulestest.Start(b, config)
	_, token := s.Token("acme", "REVERSEGEOCODING")
	site := config.Site
	for _, size := range []int{1, 5} {
		b.Run(fmt.Sprint("size=", size), func(b *testing.B) {
			query := fmt.Sprint("?lat=39.1573&lon=-75.5197&size=", size) // in the middle of Dover
			body := s.Do(http.MethodGet, endpoint+query, token, "").Body
			config.Site = "handle /plain/* {\nrespond \"" + strings.Repeat("x", len(body)) + "\"\n}\n" + site
			if err := s.Load(config); err != nil {
				b.Fatal(err)
			}
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			const plain, round = "/plain/search/reverse-geocoding", 1000
			clients := []*modulestest.Client{s.Dial(plain+query, ""), s.Dial(plain+query, token), s.Dial(endpoint+query, token)}
			for _, c := range clients {
				c.Run(round)
			}
			var ratios [2][]float64
			for b.Loop() {
				bare, same, ours := clients[0].Run(round), clients[1].Run(round), clients[2].Run(round)
				ratios[0] = append(ratios[0], bare.Seconds()/ours.Seconds())
				ratios[1] = append(ratios[1], same.Seconds()/ours.Seconds())
			}
			for i, name := range []string{"bare-ratio", "ratio"} {
				slices.Sort(ratios[i])
				b.ReportMetric(ratios[i][len(ratios[i])/2], name)
			}
			b.ReportMetric(float64(len(body)), "body-bytes")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkSearch measures half-typed searches in Delaware with proximity through the server behind maps_auth, over
// loopback HTTP with keep-alive. "cpu-µs/op" is the processor time of the process for one, with that of its garbage
// collection and of the client, which does little; "queries/s" is what two cores can answer at that.
func BenchmarkSearch(b *testing.B) {
	path := filepath.Join(b.TempDir(), "delaware.region")
	if _, err := compiler.Build(b.Context(), compiler.Options{Inputs: []string{testkit.Extract(b, testkit.Delaware)},
		Output: path, NoMap: true, NoRoutes: true}); err != nil {
		b.Fatal(err)
	}
	s := modulestest.Start(b, modulestest.Config{
		Maps: "region delaware " + path, Level: "INFO", NoAccessLog: true,
		Site: `
			handle /v2/search/* {
				maps_auth GEOCODING
				maps_geocode {
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
	_, token := s.Token("acme", "GEOCODING")
	var targets []string
	r := rand.New(rand.NewPCG(1, 2))
	for _, f := range placestest.Read(b, testkit.Delaware).Features {
		words := strings.Fields(f.Tags.Get("name"))
		if len(words) == 0 {
			continue
		}
		last := []rune(words[len(words)-1])
		words[len(words)-1] = string(last[:min(len(last), max(3, len(last)/2))])
		at := f.Geometry.Bound().Center()
		targets = append(targets, fmt.Sprintf("/v2/search/geocode?query=%s&autocomplete=true&proximity=%f,%f",
			url.QueryEscape(strings.Join(words, " ")), at[1]+r.Float64()/30, at[0]+r.Float64()/30))
	}
	r.Shuffle(len(targets), func(i, j int) { targets[i], targets[j] = targets[j], targets[i] })
	targets = targets[:min(len(targets), 5000)]
	if body := s.Do(http.MethodGet, targets[0], token, "").Body; !strings.Contains(body, `"location"`) {
		b.Fatalf("%s finds nothing: %s", targets[0], body)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	host := strings.TrimPrefix(s.URL, "http://")
	client := modulestest.DialTo(b, host)
	for _, target := range targets {
		client.Add(fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", target, host, token))
	}
	client.Run(len(targets))
	began := testkit.ProcessorTime()
	for b.Loop() {
		client.Run(1)
	}
	each := (testkit.ProcessorTime() - began).Seconds() / float64(b.N)
	b.ReportMetric(each*1e6, "cpu-µs/op")
	b.ReportMetric(2/each, "queries/s")
}

// BenchmarkTyping measures searches in Delaware while a name is being typed, through the server behind maps_auth, over
// loopback HTTP with keep-alive, by 8 clients: "req/s", which includes the clients, and "cpu-us/op", the processor time
// of the process, clients included.
func BenchmarkTyping(b *testing.B) {
	path := filepath.Join(b.TempDir(), "delaware.region")
	if _, err := compiler.Build(b.Context(),
		compiler.Options{Inputs: []string{testkit.Extract(b, testkit.Delaware)}, Output: path, NoMap: true}); err != nil {
		b.Fatal(err)
	}
	s := modulestest.Start(b, modulestest.Config{
		Maps: "region delaware " + path, Level: "INFO", NoAccessLog: true,
		Site: `
			handle /v2/search/* {
				maps_auth GEOCODING
				maps_geocode {
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
	_, token := s.Token("acme", "GEOCODING")
	var queries []string
	for _, name := range []string{"Delaware State Capitol", "Loockerman Street Dover", "Wilmington", "Newark", "Rehoboth Beach",
		"Christiana Mall", "Kirkwood Highway", "Walgreens Smyrna", "Dover Air Force Base", "414 Main Street Newark"} {
		for end := 3; end <= len(name); end++ {
			queries = append(queries, url.QueryEscape(name[:end]))
		}
	}
	for _, more := range []string{"", "&proximity=39.158,-75.524"} {
		b.Run("more="+more, func(b *testing.B) {
			var clients [8]*modulestest.Client
			for i := range clients {
				clients[i] = modulestest.DialTo(b, strings.TrimPrefix(s.URL, "http://"))
				for k := range queries { // each begins with another one
					query := queries[(k+i*len(queries)/len(clients))%len(queries)]
					clients[i].Add(fmt.Appendf(nil, "GET %s?query=%s%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n",
						searchPath, query, more, strings.TrimPrefix(s.URL, "http://"), token))
				}
				clients[i].Run(len(queries))
			}
			began, n := testkit.ProcessorTime(), 0
			for b.Loop() {
				var group sync.WaitGroup
				for _, c := range clients {
					group.Go(func() { c.Run(100) })
				}
				group.Wait()
				n += 100 * len(clients)
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "req/s")
			b.ReportMetric(float64((testkit.ProcessorTime()-began).Microseconds())/float64(n), "cpu-us/op")
			b.ReportMetric(0, "ns/op")
		})
	}
}
