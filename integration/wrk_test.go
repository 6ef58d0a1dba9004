package integration

import (
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// wrkCaddyfile has what it takes to get a token. The sites that are measured follow it, each at an address of its own,
// so that none is at a disadvantage for where its route stands.
const wrkCaddyfile = `{
	admin {$MAPS_ADMIN}
	persist_config off
	auto_https off
	log default {
		level ERROR
	}
	maps {
		region delaware {$MAPS_REGION}
		store sqlite {$MAPS_STORE}
		access_token_ttl 1h
	}
}
http://127.0.0.1:{$MAPS_PORT} {
	handle /api/v1/external/* {
		maps_tokens
	}
	handle /api/v1/service-accounts* {
		maps_accounts
	}
	respond /healthz 200
}
`

// BenchmarkWrk measures what a request costs beside the web server, with a client that costs the server nothing: the
// server has one processor, and wrk another one. Both of each pair are sent the same token and the same path, and
// answer with a body of the same size. Rounds alternate; the medians of their ratios are reported, by the requests per
// second and by the processor time of a request, which other programs on the machine disturb less. MAPS_TEST_SERVER
// names another server to measure than that of this tree, such as one of before a change.
func BenchmarkWrk(b *testing.B) {
	for _, program := range []string{"wrk", "taskset"} {
		if _, err := exec.LookPath(program); err != nil {
			b.Skip(err)
		}
	}
	if runtime.NumCPU() < 2 {
		b.Skip("wrk needs a processor beside that of the server")
	}
	const text = "hello"
	answer := reverse + "?lat=39.1573&lon=-75.5197"
	caddyfile := wrkCaddyfile
	site := func(path, directives string) string {
		address, release, err := testkit.ReservePort()
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(release)
		caddyfile += "http://" + address + " {\n" + directives + "\n}\n"
		return "http://" + address + path
	}
	bare := site("/", `respond "`+text+`"`)
	guarded := site("/", "maps_auth REVERSEGEOCODING\nrespond \""+text+`"`)
	geocoding := site(answer, "maps_auth REVERSEGEOCODING\nmaps_reverse_geocode {\n\tgeocoder local delaware\n}")

	s := newServer(b)
	s.pinned = true
	s.program = os.Getenv("MAPS_TEST_SERVER")
	if err := os.WriteFile(s.config, []byte(caddyfile), 0o600); err != nil {
		b.Fatal(err)
	}
	s.run(b)
	account := s.create(b, s.userToken(b, "wrk"), nil)
	token, _ := s.exchange(b, account.ClientToken, account.ServerToken)
	first, err := sendTo(b, httpClient, strings.TrimSuffix(geocoding, answer), call{path: answer, bearer: token})
	if err != nil {
		b.Fatal(err)
	}
	size := len(first.want(200).body)
	bulky := site(answer, `respond "`+strings.Repeat("x", size)+`"`)
	if status, why := s.reload(b, caddyfile); status != 200 {
		b.Fatal(why)
	}
	for _, url := range []string{bare, guarded, geocoding, bulky} {
		s.wrk(b, url, token, "1s")
	}
	var auth, geocoded, bares, authTime, geocodedTime []float64
	for b.Loop() {
		const seconds = "2s"
		p, g := s.wrk(b, bare, token, seconds), s.wrk(b, guarded, token, seconds)
		q, r := s.wrk(b, bulky, token, seconds), s.wrk(b, geocoding, token, seconds)
		auth, geocoded = append(auth, g.rate/p.rate), append(geocoded, r.rate/q.rate)
		authTime, geocodedTime = append(authTime, p.cost/g.cost), append(geocodedTime, q.cost/r.cost)
		bares = append(bares, p.rate)
	}
	b.ReportMetric(median(auth), "auth-ratio")
	b.ReportMetric(median(authTime), "auth-cpu-ratio")
	b.ReportMetric(median(geocoded), "geocoding-ratio")
	b.ReportMetric(median(geocodedTime), "geocoding-cpu-ratio")
	b.ReportMetric(median(bares), "respond-req/s")
	b.ReportMetric(float64(size), "body-bytes")
	b.ReportMetric(0, "ns/op")
}

var (
	wrkRate     = regexp.MustCompile(`Requests/sec:\s*([0-9.]+)`)
	wrkRequests = regexp.MustCompile(`([0-9]+) requests in`)
)

// measured is what wrk and the system say of the requests of some seconds.
type measured struct {
	rate float64 // requests/s
	cost float64 // of one, in seconds of the server's processor
}

// wrk sends a site of the server requests as fast as it answers them, all with 200.
func (s *server) wrk(b *testing.B, url, token, seconds string) (m measured) {
	b.Helper()
	before := s.processorTime()
	out, err := exec.Command("taskset", "-c", "1",
		"wrk", "-t", "1", "-c", "16", "-d", seconds, "-H", "Authorization: Bearer "+token, url).CombinedOutput()
	used := s.processorTime() - before
	rate, requests := wrkRate.FindSubmatch(out), wrkRequests.FindSubmatch(out)
	if err != nil || rate == nil || requests == nil || strings.Contains(string(out), "Non-2xx") {
		b.Fatalf("%v: %s", err, out)
	}
	m.rate, err = strconv.ParseFloat(string(rate[1]), 64)
	count, notCount := strconv.ParseFloat(string(requests[1]), 64)
	if err != nil || notCount != nil || count == 0 {
		b.Fatalf("%v, %v: %s", err, notCount, out)
	}
	m.cost = used.Seconds() / count
	return m
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
