package modulestest

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// Upstream is a server whose answers a test can change while it runs.
type Upstream struct {
	*httptest.Server

	mu      sync.Mutex
	handler http.HandlerFunc
}

// NewUpstream starts a server.
func NewUpstream(t testing.TB) *Upstream {
	u := new(Upstream)
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		u.mu.Lock()
		handler := u.handler
		u.mu.Unlock()
		handler(w, r)
	}))
	t.Cleanup(u.Close)
	return u
}

// Answer sets how the server answers from now on.
func (u *Upstream) Answer(handler http.HandlerFunc) {
	u.mu.Lock()
	u.handler = handler
	u.mu.Unlock()
}

// Replay answers every request with a recorded answer.
func (u *Upstream) Replay(r Recorded) { u.Send(r.Status, string(r.Body)) }

// Send answers every request with a status and a body of JSON.
func (u *Upstream) Send(status int, body string) {
	u.Answer(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	})
}

// Bad is a bad day of an upstream.
type Bad struct {
	Name   string
	Status int // that a client must get
	Answer http.HandlerFunc
}

// floodSize is the size of the response that no client should have to keep.
const floodSize = 100 << 20

// BadDays are what can go wrong after a connection has been made; good is a good response. A matcher or geocoder under
// test must have a timeout of two seconds or less.
func BadDays(good string) []Bad {
	half := good[:len(good)/2]
	send := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	hang := func(r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then does a server notice that its client has gone
		select {
		case <-r.Context().Done():
		case <-time.After(10 * time.Second):
		}
	}
	flood := func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusOK)
		chunk := []byte(strings.Repeat(" ", 1<<16))
		for range floodSize / len(chunk) {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}
	return []Bad{
		{"never answers", http.StatusGatewayTimeout, func(_ http.ResponseWriter, r *http.Request) { hang(r) }},
		{"stops in the middle", http.StatusGatewayTimeout, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, half)
			w.(http.Flusher).Flush()
			hang(r)
		}},
		{"breaks off", http.StatusBadGateway, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(good)))
			fmt.Fprint(w, half)
		}},
		{"hangs up", http.StatusBadGateway, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		{"answers half", http.StatusBadGateway, send(http.StatusOK, half)},
		{"answers twice", http.StatusBadGateway, send(http.StatusOK, good+good)},
		{"answers nothing", http.StatusBadGateway, send(http.StatusOK, "")},
		{"answers null", http.StatusBadGateway, send(http.StatusOK, "null")},
		{"answers an empty object", http.StatusBadGateway, send(http.StatusOK, "{}")},
		{"answers a page", http.StatusBadGateway, send(http.StatusOK, "<html>It works!</html>")},
		{"answers a page with 400", http.StatusBadGateway, send(http.StatusBadRequest, "<html>no</html>")},
		{"is broken", http.StatusBadGateway, send(http.StatusInternalServerError, "secret stack")},
		{"redirects", http.StatusBadGateway, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://internal.example/", http.StatusFound)
		}},
		{"is overloaded", http.StatusServiceUnavailable, send(http.StatusServiceUnavailable, "secret stack")},
		{"refuses more requests", http.StatusServiceUnavailable, send(http.StatusTooManyRequests, "")},
		{"is itself a gateway that times out", http.StatusGatewayTimeout, send(http.StatusGatewayTimeout, "")},
		{"floods", http.StatusBadGateway, func(w http.ResponseWriter, _ *http.Request) { flood(w) }},
		{"announces a flood", http.StatusBadGateway, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(floodSize))
			flood(w)
		}},
		{"nests", http.StatusBadGateway, send(http.StatusOK, strings.Repeat(`{"a":[`, 1<<16))},
	}
}

// CheckBadDays sends a request on every bad day of an upstream, and checks status, body, time and memory.
func CheckBadDays(t *testing.T, s *Server, u *Upstream, good string,
	ask func(s *Server) Response) {
	for _, day := range BadDays(good) {
		t.Run(day.Name, func(t *testing.T) {
			u.Answer(day.Answer)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			a := ask(s.With(t))
			runtime.ReadMemStats(&after)
			if a.Status != day.Status {
				t.Errorf("status %d, want %d: %s", a.Status, day.Status, a.Body)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("it took %v", took)
			}
			if grown := int64(after.TotalAlloc - before.TotalAlloc); grown > 96<<20 {
				t.Errorf("it allocated %d MiB", grown>>20)
			}
			CheckSilent(t, u, a)
		})
	}
}

// CheckSilent checks that an error is JSON and tells nothing of the upstream.
func CheckSilent(t *testing.T, u *Upstream, a Response) {
	t.Helper()
	if !json.Valid([]byte(a.Body)) {
		t.Errorf("not JSON: %s", a.Body)
	}
	text := a.Body + fmt.Sprint(a.Header)
	for _, secret := range []string{
		u.Listener.Addr().String(), "127.0.0.1", "internal", "secret", "<html", "Proxy-Status", "Via",
	} {
		if secret != "" && strings.Contains(strings.ReplaceAll(text, "internal server error", ""), secret) {
			t.Errorf("it tells %q: %s", secret, text)
		}
	}
}

// Unreachable is the URL of a port without a listener.
func Unreachable(t testing.TB) string {
	t.Helper()
	address, release, err := testkit.ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return "http://" + address
}

// CheckGone sends a request whose client goes away, and checks that the upstream hears of it.
func CheckGone(t *testing.T, s *Server, u *Upstream, target string) {
	t.Helper()
	asked, left := make(chan struct{}, 16), make(chan struct{}, 16)
	u.Answer(func(_ http.ResponseWriter, r *http.Request) {
		// A server notices that a client has gone only when it has read the request.
		_, _ = io.Copy(io.Discard, r.Body)
		asked <- struct{}{}
		select {
		case <-r.Context().Done():
			left <- struct{}{}
		case <-time.After(10 * time.Second):
		}
	})
	host := strings.TrimPrefix(s.URL, "http://")
	testkit.Within(t, "until the upstream heard of it", 500*time.Millisecond, func() time.Duration {
		conn, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, host)
		select {
		case <-asked:
		case <-time.After(5 * time.Second):
			t.Fatal("the upstream was not asked")
		}
		start := time.Now()
		conn.Close()
		select {
		case <-left:
		case <-time.After(5 * time.Second):
			t.Fatal("the upstream did not hear of it")
		}
		return time.Since(start)
	})
}

// Quick gives options of an upstream that have no timeout one that a test can wait for.
func Quick(options string) string {
	if strings.HasPrefix(strings.TrimSpace(options), "timeout ") {
		return options
	}
	return "timeout 1500ms\n" + options
}

// CheckKilled starts a server on two upstreams that play back a good response, kills one of them under load, and checks
// that with the options that docs/fronting.md names no request fails.
func CheckKilled(t *testing.T, good Recorded, target string, start func(upstreams, options string) *Server) {
	t.Helper()
	var all []*Upstream
	var urls []string
	for range 2 {
		u := NewUpstream(t)
		u.Replay(good)
		all, urls = append(all, u), append(urls, u.URL)
	}
	s := start(strings.Join(urls, " "), `
		timeout 5s
		lb_retries 1
		fail_duration 10s`)
	var stop atomic.Bool
	var served atomic.Int64
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for !stop.Load() {
				a, err := s.Try(target, "")
				if err != nil || a.Status != http.StatusOK {
					t.Errorf("%v %d %s", err, a.Status, a.Body)
					return
				}
				served.Add(1)
			}
		})
	}
	wait := func(more int64) {
		for until := served.Load() + more; served.Load() < until && !t.Failed(); {
			time.Sleep(time.Millisecond)
		}
	}
	wait(50)
	all[1].CloseClientConnections()
	all[1].Listener.Close()
	all[1].CloseClientConnections()
	wait(200)
	stop.Store(true)
	clients.Wait()
}
