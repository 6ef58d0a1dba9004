package geocoding_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
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

// BenchmarkSearch measures half-typed searches in Delaware with proximity, as serverTime does. Run it with
//
//	go test -run '^$' -bench 'Search|Typing' -benchtime 30x ./modules/geocoding
func BenchmarkSearch(b *testing.B) {
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
		targets = append(targets, fmt.Sprintf("%s?query=%s&autocomplete=true&proximity=%f,%f", searchPath,
			url.QueryEscape(strings.Join(words, " ")), at[1]+r.Float64()/30, at[0]+r.Float64()/30))
	}
	r.Shuffle(len(targets), func(i, j int) { targets[i], targets[j] = targets[j], targets[i] })
	s, token := searchDelaware(b)
	serverTime(b, s, token, 1, targets[:min(len(targets), 5000)])
}

// BenchmarkTyping measures searches in Delaware while a name is being typed by 8 clients, as serverTime does.
func BenchmarkTyping(b *testing.B) {
	s, token := searchDelaware(b)
	for _, more := range []string{"", "&proximity=39.158,-75.524"} {
		var targets []string
		for _, name := range []string{"Delaware State Capitol", "Loockerman Street Dover", "Wilmington", "Newark", "Rehoboth Beach",
			"Christiana Mall", "Kirkwood Highway", "Walgreens Smyrna", "Dover Air Force Base", "414 Main Street Newark"} {
			for end := 3; end <= len(name); end++ {
				targets = append(targets, searchPath+"?query="+url.QueryEscape(name[:end])+more)
			}
		}
		b.Run("more="+more, func(b *testing.B) { serverTime(b, s, token, 8, targets) })
	}
}

// searchDelaware starts a server that searches Delaware behind maps_auth, and returns a token for it.
func searchDelaware(b *testing.B) (s *modulestest.Server, token string) {
	b.Helper()
	path := filepath.Join(b.TempDir(), "delaware.region")
	if _, err := compiler.Build(b.Context(), compiler.Options{Inputs: []string{testkit.Extract(b, testkit.Delaware)},
		Output: path, NoMap: true, NoRoutes: true}); err != nil {
		b.Fatal(err)
	}
	s = modulestest.Start(b, modulestest.Config{
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
	_, token = s.Token("acme", "GEOCODING")
	if body := s.Do(http.MethodGet, searchPath+"?query=Wilming", token, "").Body; !strings.Contains(body, `"location"`) {
		b.Fatalf("the server finds nothing: %s", body)
	}
	return s, token
}

// serverTime measures requests over loopback HTTP with keep-alive on one core, by clients in a process of their own:
// "cpu-µs/request" is the processor time of the server's process for one, with garbage collection and system calls, the
// median of rounds of 1000 requests, and "requests/s" what two cores can answer at that.
func serverTime(b *testing.B, s *modulestest.Server, token string, clients int, targets []string) {
	b.Helper()
	host := strings.TrimPrefix(s.URL, "http://")
	load := load{Address: host, Clients: clients}
	for _, target := range targets {
		load.Requests = append(load.Requests,
			fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", target, host, token))
	}
	child := exec.Command(os.Args[0], "-test.run=^$", "-test.bench=^BenchmarkClient$", "-test.benchtime=1x")
	child.Env = append(os.Environ(), isClient+"=1", "GOMAXPROCS=1")
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := child.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		in.Close()
		if err := child.Wait(); err != nil {
			b.Error(err)
		}
	}()
	send, lines := json.NewEncoder(in), bufio.NewScanner(out)
	run := func(requests int) {
		if err := send.Encode(requests / clients); err != nil {
			b.Fatal(err)
		}
		for lines.Scan() {
			if strings.HasSuffix(lines.Text(), "done") {
				return
			}
		}
		b.Fatal("the clients have failed")
	}
	if err := send.Encode(load); err != nil {
		b.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const round = 1000
	run(max(len(targets)*clients, round))
	var each []float64
	for b.Loop() {
		began := testkit.ProcessorTime()
		run(round)
		each = append(each, (testkit.ProcessorTime()-began).Seconds()/round)
	}
	slices.Sort(each)
	b.ReportMetric(each[len(each)/2]*1e6, "cpu-µs/request")
	b.ReportMetric(2/each[len(each)/2], "requests/s")
	b.ReportMetric(0, "ns/op")
}

// load is what the clients of serverTime send, each beginning with another request.
type load struct {
	Address  string
	Clients  int
	Requests [][]byte
}

const isClient = "SEARCH_BENCHMARK_CLIENT"

// BenchmarkClient is the clients of serverTime: it reads a load, then again and again how many requests each sends.
func BenchmarkClient(b *testing.B) {
	if os.Getenv(isClient) == "" {
		b.Skip("a part of the other benchmarks")
	}
	var l load
	receive := json.NewDecoder(os.Stdin)
	if err := receive.Decode(&l); err != nil {
		b.Fatal(err)
	}
	clients := make([]*modulestest.Client, l.Clients)
	for i := range clients {
		clients[i] = modulestest.DialTo(b, l.Address)
		for k := range l.Requests {
			clients[i].Add(l.Requests[(k+i*len(l.Requests)/l.Clients)%len(l.Requests)])
		}
	}
	for requests := 0; receive.Decode(&requests) == nil; fmt.Println("done") {
		var group sync.WaitGroup
		for _, c := range clients {
			group.Go(func() { c.Run(requests) })
		}
		group.Wait()
	}
}
