package integration

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// acrossDelaware is a trace of 18 points that alternate between two ends of the state, about as much work as a
// request may cost.
var acrossDelaware = func() string {
	var points [][2]float64
	for range 9 {
		points = append(points, [2]float64{39.79, -75.55}, [2]float64{38.46, -75.12})
	}
	return traceBody(points)
}()

// streets is a drive of some minutes through Dover.
var streets = func() string {
	var points [][2]float64
	for i := range 40 {
		points = append(points, [2]float64{39.1583 + 0.0002*float64(i), -75.5245})
	}
	return traceBody(points)
}()

func traceBody(points [][2]float64) string {
	var b strings.Builder
	b.WriteString(`{"path":[`)
	for i, p := range points {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"lat":%g,"lng":%g}`, p[0], p[1])
	}
	b.WriteString(`]}`)
	return b.String()
}

// latencies are how long requests took.
type latencies []time.Duration

func (l latencies) at(share float64) time.Duration {
	slices.Sort(l)
	return l[min(len(l)-1, int(share*float64(len(l))))]
}

func (l latencies) String() string {
	return fmt.Sprintf("p50 %v, p90 %v, p99 %v", l.at(0.5).Round(10*time.Microsecond),
		l.at(0.9).Round(10*time.Microsecond),
		l.at(0.99).Round(10*time.Microsecond))
}

// measure sends a request again and again, one at a time, and wants 200 each time.
func (s *server) measure(t *testing.T, n int, c call) (took latencies) {
	t.Helper()
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for range n {
		req, err := newRequest(s.url(""), c)
		if err != nil {
			t.Fatal(err)
		}
		asked := time.Now()
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		took = append(took, time.Since(asked))
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %.300s", c.path, resp.StatusCode, body)
		}
	}
	return took
}

// flood sends a request on so many connections at once, again and again, until it is stopped. It counts the answers
// by status.
func (s *server) flood(t *testing.T, connections int, c call) (stop func() map[int]int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
	var mu sync.Mutex
	statuses := make(map[int]int)
	var all sync.WaitGroup
	for range connections {
		all.Go(func() {
			for ctx.Err() == nil {
				req, err := newRequest(s.url(""), c)
				if err != nil {
					t.Error(err)
					return
				}
				resp, err := client.Do(req.WithContext(ctx))
				if err != nil {
					if ctx.Err() == nil {
						t.Error(err)
					}
					return
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				mu.Lock()
				statuses[resp.StatusCode]++
				mu.Unlock()
				if resp.StatusCode == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") == "" {
					t.Error("503 without Retry-After")
				}
			}
		})
	}
	return func() map[int]int {
		cancel()
		all.Wait()
		client.CloseIdleConnections()
		return statuses
	}
}

var peakSize = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peak is the largest memory that the process has had, in bytes; -1 where the system does not tell.
func (s *server) peak() int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return -1
	}
	found := peakSize.FindSubmatch(status)
	if found == nil {
		return -1
	}
	kilobytes, _ := strconv.Atoi(string(found[1]))
	return kilobytes << 10
}

// processorTime is how much the process has used; 0 where the system does not tell.
func (s *server) processorTime() time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	const user, system, perSecond = 11, 12, 100 // fields behind the name, and ticks, which are the same on every Linux
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	u, _ := strconv.Atoi(fields[user])
	k, _ := strconv.Atoi(fields[system])
	return time.Duration(u+k) * time.Second / perSecond
}

// startUnlogged runs a server without an access log of every request.
func startUnlogged(t *testing.T) *server {
	t.Helper()
	s := newServer(t, "\tlog {\n\t\timport without_keys\n\t}", "\tlog {\n\t\toutput discard\n\t}")
	s.logLevel = "INFO"
	s.run(t)
	return s
}

// tokenOf returns an access token of a new account.
func (s *server) tokenOf(t *testing.T, organization string) string {
	t.Helper()
	acc := s.create(t, s.userToken(t, organization), nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	return access
}

// TestHeavyRequests: while one account asks for as much work as it can, the requests of another are answered as before,
// and the memory is given back.
func TestHeavyRequests(t *testing.T) {
	leaveOut(t, "keeps the machine busy for a while")
	s := startUnlogged(t)
	hostile := s.tokenOf(t, "hostile")
	acc := s.create(t, s.userToken(t, "other"), map[string]any{"scopes": []string{"DIRECTION", "GEOCODING", "REVERSEGEOCODING"}})
	other, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	heavy := call{method: "POST", path: match, bearer: hostile, body: acrossDelaware}
	kinds := map[string]call{
		"reverse geocoding": {path: reverse + "?lat=39.1573&lon=-75.5197", bearer: other},
		"search":            {path: geocode + "?query=loockerman+street+dov", bearer: other},
		"light matching":    {method: "POST", path: match, bearer: other, body: streets},
	}
	quiet := make(map[string]latencies)
	for name, c := range kinds {
		s.measure(t, 50, c)
		quiet[name] = s.measure(t, 300, c)
	}
	s.sendAdmin(t, call{path: "/debug/pprof/heap?gc=1"}).want(200)
	before := s.footprint(t)
	stop := s.flood(t, 50, heavy)
	time.Sleep(3 * time.Second) // until the first have waited for as long as they may
	for name, c := range kinds {
		beside := func(share float64) func() time.Duration {
			return func() time.Duration {
				busy := s.measure(t, 300, c)
				t.Logf("%s: %v; beside 50 heavy requests: %v", name, quiet[name], busy)
				return busy.at(share)
			}
		}
		// Less than 10 ms is what the heavy requests, which keep the machine busy, cost any program.
		median := max(5*quiet[name].at(0.5), 10*time.Millisecond)
		testkit.Within(t, name+" beside heavy requests, in the median,", median, beside(0.5))
		testkit.Within(t, name+" beside heavy requests, one in a hundred,", 50*time.Millisecond, beside(0.99))
	}
	statuses := stop() // closes all connections, also during requests
	left := s.processorTime()
	time.Sleep(time.Second)
	t.Logf("the heavy requests: %v; the process took %d MB at most, and %v of processor after they had gone",
		statuses, s.peak()>>20, s.processorTime()-left)
	if spent := s.processorTime() - left; spent > 300*time.Millisecond {
		t.Errorf("for clients that have gone, the server works for another %v", spent)
	}
	s.wantFootprint(t, before)
}

// TestLargeBodies: many bodies of the largest size leave memory and processors for others.
func TestLargeBodies(t *testing.T) {
	leaveOut(t, "keeps the machine busy for a while")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(64)) // the senders shall not keep each other waiting
	const size = 8<<20 - 1000
	fill := func(head, part, tail string) string {
		return head + strings.Repeat(part, (size-len(head)-len(tail))/len(part)) + tail
	}
	const gpx, geoJSON = "application/gpx+xml", "application/geo+json"
	bodies := []struct{ name, media, body string }{
		{"elements with attributes", gpx, fill(`<gpx>`, `<a b="" c="" d="" e="" f="" g="" h="" i="" j="" k=""/>`, `</gpx>`)},
		{"entities", gpx, fill(`<gpx><name>`, `&lt;`, `</name></gpx>`)},
		{"escapes", "application/json", fill(`{"path":[],`, `"\u0061":"\u0062",`, `"b":1}`)},
		{"digits", "application/json", fill(`{"path":[{"lat":1`, `1`, `,"lng":1}]}`)},
		{"arrays", "application/json", fill(`{"path":[],"a":[`, `[],`, `[]]}`)},
		{"times", geoJSON, fill(`{"type":"Feature","properties":{"coordTimes":[`, `"2026-01-01T00:00:00Z",`, `1]}}`)},
	}
	s := startUnlogged(t)
	hostile, health := s.tokenOf(t, "hostile"), call{path: "/healthz"}
	var stops []func() map[int]int
	for i, b := range bodies {
		connections := 50 / len(bodies)
		if i < 50%len(bodies) {
			connections++
		}
		stops = append(stops, s.flood(t, connections,
			call{method: "POST", path: match, bearer: hostile, contentType: b.media, body: b.body}))
	}
	// Each kind has been answered several times, while others are answered too.
	for begun := time.Now(); time.Since(begun) < 3*time.Second; {
		s.send(t, health).want(200)
	}
	for i, stop := range stops {
		statuses := stop()
		t.Logf("%s: %v", bodies[i].name, statuses)
		for status := range statuses {
			if status != 422 && status != 503 {
				t.Errorf("%s: status %d", bodies[i].name, status)
			}
		}
	}
	t.Logf("the process took %d MB at most", s.peak()>>20)
	if peak := s.peak(); peak > 512<<20 {
		t.Errorf("the process took %d MB", peak>>20)
	}
}
