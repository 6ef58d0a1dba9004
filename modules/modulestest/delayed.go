package modulestest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"
)

// Delayed is a server with the sockets of OSRM: TCP_NODELAY is off, and head and body of a response are written one
// after the other. So the body waits until the client's kernel acknowledges the head. On a new connection it does so at
// once, on one that is kept alive it waits for something to send along, on Linux for 40 ms.
type Delayed struct {
	// URL is where the server listens.
	URL string
	// Connections counts those that were made.
	Connections atomic.Int64
}

// NewDelayed starts a server that answers every request with a status and a body of JSON.
func NewDelayed(t testing.TB, answer func(*http.Request) (status int, body []byte)) *Delayed {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	d := &Delayed{URL: "http://" + listener.Addr().String()}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			d.Connections.Add(1)
			if err := conn.(*net.TCPConn).SetNoDelay(false); err != nil {
				t.Error(err)
			}
			go serveDelayed(conn, answer)
		}
	}()
	return d
}

// serveDelayed answers the requests of one connection until its client closes it, or asks for that.
func serveDelayed(conn net.Conn, answer func(*http.Request) (status int, body []byte)) {
	defer conn.Close()
	reader := bufio.NewReader(conn)
	for {
		req, err := http.ReadRequest(reader)
		if err != nil {
			return
		}
		status, body := answer(req)
		connection := "keep-alive"
		if req.Close {
			connection = "close"
		}
		if _, err := fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"+
			"Connection: %s\r\n\r\n", status, http.StatusText(status), len(body), connection); err != nil {
			return
		}
		if _, err := conn.Write(body); err != nil || req.Close {
			return
		}
	}
}

// leastDelay is the shortest time that a kernel delays an acknowledgment for which it has no data to send.
const leastDelay = 20 * time.Millisecond

// Delays reports whether the server is slow by itself, to a client that keeps its connection alive. It is not where the
// kernel acknowledges at once.
func (d *Delayed) Delays(t testing.TB) bool {
	t.Helper()
	transport := new(http.Transport)
	defer transport.CloseIdleConnections()
	const requests = 10
	slow := 0
	for range requests {
		start := time.Now()
		resp, err := (&http.Client{Transport: transport}).Get(d.URL)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if time.Since(start) >= leastDelay {
			slow++
		}
	}
	return slow > requests/2
}
