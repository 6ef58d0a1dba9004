package integration

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// scalingSnippet returns the Caddyfile under a heading of docs/run/scaling.md.
func scalingSnippet(t *testing.T, heading string) string {
	t.Helper()
	for _, b := range readBlocks(t, "docs/run/scaling.md", "caddyfile") {
		if b.Heading == heading {
			return b.Text
		}
	}
	t.Fatalf("docs/run/scaling.md has no Caddyfile under %q", heading)
	return ""
}

// startBalancer runs the load balancer of docs/run/scaling.md in front of servers, until the end of the test.
func startBalancer(t *testing.T, servers ...*server) *server {
	t.Helper()
	front := newServer(t)
	upstreams := ""
	for _, s := range servers {
		upstreams += " 127.0.0.1:" + s.port
	}
	text := scalingSnippet(t, "Load balancer")
	for old, replacement := range map[string]string{
		"maps.example.com {":            "{\n\tadmin " + front.admin + "\n}\n\n:" + front.port + " {\n\tbind 127.0.0.1",
		" 10.0.0.1:8080 10.0.0.2:8080 ": upstreams + " ",
	} {
		if !strings.Contains(text, old) {
			t.Fatalf("the Caddyfile has no %q", old)
		}
		text = strings.Replace(text, old, replacement, 1)
	}
	if err := os.WriteFile(front.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	front.run(t)
	return front
}

// steady sends requests without a pause that is worth speaking of, and never one of them again.
type steady struct {
	stop     chan struct{}
	group    sync.WaitGroup
	answered [2]atomic.Int64 // GETs and POSTs
}

// keepAsking begins with a number of clients for each call. GETs are to be answered 200, POSTs with another status.
func keepAsking(t *testing.T, s *server, clients, postStatus int, calls ...call) *steady {
	k := &steady{stop: make(chan struct{})}
	for _, c := range calls {
		kind, status := 0, http.StatusOK
		if c.method == http.MethodPost {
			kind, status = 1, postStatus
		}
		for range clients {
			k.group.Go(func() {
				for {
					select {
					case <-k.stop:
						return
					case <-time.After(2 * time.Millisecond):
					}
					a, err := s.trySend(t, c)
					switch {
					case err != nil:
						t.Errorf("%s %.60s: %v", c.method, c.path, err)
					case a.status != status:
						t.Errorf("%s %.60s: %d %.200s", c.method, c.path, a.status, a.body)
					default:
						k.answered[kind].Add(1)
					}
				}
			})
		}
	}
	return k
}

// until waits until so many more requests were answered.
func (k *steady) until(t *testing.T, more int64) {
	t.Helper()
	enough := k.answered[0].Load() + more
	for began := time.Now(); k.answered[0].Load() < enough; time.Sleep(time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatalf("fewer than %d GETs were answered in 30 s", more)
		}
	}
}

func (k *steady) end(t *testing.T) {
	t.Helper()
	close(k.stop)
	k.group.Wait()
	t.Logf("%d GETs and %d POSTs were answered", k.answered[0].Load(), k.answered[1].Load())
	for kind := range k.answered {
		if k.answered[kind].Load() < 50 {
			t.Errorf("only %d requests were answered", k.answered[kind].Load())
		}
	}
}

// A reload closes kept-alive connections, as docs/run/scaling.md says, and no request fails behind the load balancer of
// that page.
func TestReloadBehindLoadBalancer(t *testing.T) {
	leaveOut(t, "reloads again and again under load")
	t.Parallel()
	s := startRaced(t)
	front := startBalancer(t, s)
	user := s.userToken(t, "balanced")
	asking, exchanging := s.create(t, user, nil), s.create(t, user, nil) // an account has so many grants and no more
	access, _ := s.exchange(t, asking.ClientToken, asking.ServerToken)
	original, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	texts := [2]string{strings.Replace(string(original), "max_stale 60s", "max_stale 61s", 1), string(original)}
	if texts[0] == texts[1] {
		t.Fatal("nothing replaced")
	}
	calls := append(callsWith(access), exchangeCall(exchanging.ClientToken, exchanging.ServerToken))
	load := keepAsking(t, front, 2, 200, calls...)
	for i := range reloadRounds(t) {
		kept := keptConnection(t, s)
		if status, body := s.reload(t, texts[i%2]); status != 200 {
			t.Errorf("reload %d: %d %s", i, status, body)
		}
		if _, err := kept.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
			t.Errorf("reload %d: a connection that was kept is open still: %v", i, err)
		}
		load.until(t, 20)
	}
	load.end(t)
}

// keptConnection is one on which a request was answered, and another could be sent.
func keptConnection(t *testing.T, s *server) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", "127.0.0.1:"+s.port)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprintf(conn, "GET /api/v1/external/jwks.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != 200 || resp.Close {
		t.Fatalf("%d, close %v, error %v", resp.StatusCode, resp.Close, err)
	}
	return conn
}

// Of two servers behind the load balancer, each is stopped and started again, and no request fails.
func TestStopOneOfSeveral(t *testing.T) {
	leaveOut(t, "waits for a server to stop slowly")
	t.Parallel()
	const delay = 3 * time.Second
	text := scalingSnippet(t, "Stopping one of several servers")
	_, options, found := strings.Cut(text, "{\n")
	options, _, _ = strings.Cut(options, "}\n")
	_, health, foundHealth := strings.Cut(text, "\thandle /healthz {\n")
	health, _, _ = strings.Cut(health, "\t}\n")
	if !found || !foundHealth || !strings.Contains(options, "shutdown_delay 5s") {
		t.Fatalf("the Caddyfile is another one:\n%s", text)
	}
	options = strings.Replace(options, "shutdown_delay 5s", "shutdown_delay "+delay.String(), 1)
	var servers []*server
	for range 2 {
		s := newServer(t, "# options", "without health", "\t# handlers\n", "\thandle /healthz {\n"+health+"\t}\n",
			"\tservers {\n", options+"\tservers {\n")
		s.run(t)
		servers = append(servers, s)
	}
	front := startBalancer(t, servers...)
	time.Sleep(1500 * time.Millisecond) // it has seen both
	// The servers share no accounts, and answer to a stranger alike.
	load := keepAsking(t, front, 3, 401, call{path: external + "/jwks.json"},
		exchangeCall("mpc_"+strings.Repeat("x", 49), "mps_"+strings.Repeat("x", 49)))
	s := servers[0]
	began := time.Now()
	stopped := make(chan error, 1)
	go func() { stopped <- s.stop() }()
	for s.healthStatus(t) != http.StatusServiceUnavailable {
		if time.Since(began) > delay/2 {
			t.Fatal("the server does not say that it is about to stop")
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took < delay {
		t.Errorf("it was gone after %v", took)
	}
	if err := s.start(); err != nil {
		t.Error(err)
	}
	time.Sleep(1500 * time.Millisecond)
	load.end(t)
}

// healthStatus is asked for on a connection of its own.
func (s *server) healthStatus(t *testing.T) int {
	t.Helper()
	resp, err := adminClient.Get(s.url("/healthz"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}
