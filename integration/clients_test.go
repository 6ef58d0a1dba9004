package integration

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// badClient is a client that does one thing and then only holds its connection, if it is let.
type badClient struct {
	name string
	send string // after connecting
	// drip is sent over and over, slowly.
	drip string
	// reset ends the connection at once, with what it sent unread perhaps.
	reset bool
}

// connect lets n such clients in, and returns their connections.
func (b badClient) connect(t *testing.T, s *server, n int) []net.Conn {
	t.Helper()
	conns := make([]net.Conn, 0, n)
	for range n {
		conn, err := net.DialTimeout("tcp", "127.0.0.1:"+s.port, 10*time.Second)
		if err != nil {
			t.Fatalf("%s: client %d: %v", b.name, len(conns), err)
		}
		t.Cleanup(func() { conn.Close() })
		conns = append(conns, conn)
		_ = conn.SetWriteDeadline(time.Now().Add(20 * time.Second))
		if _, err := io.WriteString(conn, b.send); err != nil && len(b.send) < 1<<10 {
			t.Fatalf("%s: %v", b.name, err) // more than that the server need not take
		}
		if b.reset {
			_ = conn.(*net.TCPConn).SetLinger(0)
			conn.Close()
		}
	}
	return conns
}

// Clients that send half a request, too much, nonsense, or nothing at all do not keep others from being served, and are sent
// away in the end.
func TestSlowAndBrokenClients(t *testing.T) {
	leaveOut(t, "waits until clients are sent away")
	t.Parallel()
	pace := testkit.Watch(t)
	s := startRaced(t, "read_header 10s", "read_header 3s", "read_body 1m", "read_body 3s", "idle 2m", "idle 3s")
	user := s.userToken(t, "bad-clients")
	acc := s.create(t, user, nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	post := func(path, token string) string {
		return "POST " + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{"
	}
	const each = 60
	clients := []badClient{
		{name: "silent"},
		{name: "half a head", send: "GET " + reverse + "?lat=1&lon=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bear"},
		{name: "a head in drops", send: "GET /healthz HTTP/1.1\r\n", drip: "X-Drop: 1\r\n"},
		{name: "an exchange in drops", send: post(external+"/auth", ""), drip: " "},
		{name: "half a trace", send: post(match, access)},
		{name: "a trace in drops", send: post(match, access), drip: " "},
		{name: "nonsense", send: strings.Repeat("\x00\xff", 400) + "\r\n\r\n"},
		{name: "gone before the answer", send: "GET " + reverse + "?lat=39.15&lon=-75.52 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + access + "\r\n\r\n", reset: true},
		{name: "idle after an answer", send: "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"},
	}
	begun := time.Now()
	held := make(map[string][]net.Conn)
	for _, client := range clients {
		held[client.name] = client.connect(t, s, each)
	}
	stop := make(chan struct{})
	var dripping sync.WaitGroup
	for _, client := range clients {
		if client.drip == "" {
			continue
		}
		dripping.Go(func() {
			for {
				for _, conn := range held[client.name] {
					_, _ = io.WriteString(conn, client.drip) // fails once the server has had enough
				}
				select {
				case <-stop:
					return
				case <-time.After(200 * time.Millisecond):
				}
			}
		})
	}
	defer dripping.Wait()
	defer close(stop)

	// With all of them there, others are served, on new connections too.
	fresh := &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	var slowest time.Duration
	for range 10 {
		for _, c := range append(callsWith(access), call{path: accounts, bearer: user}, exchangeCall(acc.ClientToken, acc.ServerToken)) {
			asked := time.Now()
			a, err := sendTo(t, fresh, s.url(""), c)
			if err != nil {
				t.Fatal(err)
			}
			a.want(200)
			slowest = max(slowest, time.Since(asked))
		}
	}
	t.Logf("%d bad clients after %v; the slowest of the others took %v", each*len(clients), time.Since(begun), slowest)
	if slowest > pace.Allow(5*time.Second) {
		t.Errorf("a client waited for %v", slowest)
	}

	// Each is sent away when its time is over: an answer or none, and the end of the connection.
	for _, client := range clients {
		if client.reset {
			continue
		}
		for n, conn := range held[client.name] {
			_ = conn.SetReadDeadline(begun.Add(40 * time.Second))
			if _, err := io.Copy(io.Discard, conn); err != nil {
				if netErr, ok := errors.AsType[net.Error](err); ok && netErr.Timeout() {
					t.Errorf("%s: client %d is still connected after %v", client.name, n, time.Since(begun))
					break
				}
			}
		}
	}
	for _, c := range callsWith(access) {
		s.send(t, c).want(200)
	}
	if text := s.logTail(1 << 20); strings.Contains(text, "panic") {
		t.Error("the log tells of a panic")
	}
}
