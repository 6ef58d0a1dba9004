package modulestest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Client sends requests for a benchmark on one connection that it keeps, with little work of its own: it shares the
// processor with the server.
type Client struct {
	Want     int // the status of the responses
	tb       testing.TB
	conn     net.Conn
	reader   *bufio.Reader
	requests [][]byte
	next     int
}

// Dial connects a client that will ask for a target, with a token unless it is empty, over and over.
func (s *Server) Dial(target, token string) *Client {
	s.t.Helper()
	c := DialTo(s.t, strings.TrimPrefix(s.URL, "http://"))
	c.Add(s.get(target, token))
	return c
}

// DialTo connects a client to any server, with nothing to send yet.
func DialTo(t testing.TB, address string) *Client {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &Client{Want: http.StatusOK, tb: t, conn: conn, reader: bufio.NewReader(conn)}
}

// DialPost connects a client that will send JSON bodies to a target, in turn.
func (s *Server) DialPost(target, token string, bodies [][]byte) *Client {
	s.t.Helper()
	c := s.Dial(target, token)
	c.requests = nil
	for _, body := range bodies {
		head := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: "+
			"application/json\r\nContent-Length: %d\r\n\r\n", target, strings.TrimPrefix(s.URL, "http://"), token, len(body))
		c.Add(append([]byte(head), body...))
	}
	return c
}

// Hang begins a POST of a JSON body of so many bytes, and returns when the server holds memory for it. No more than one
// byte comes, until the end of the test.
func (s *Server) Hang(target, token string, length int) {
	s.t.Helper()
	before := s.bodiesInFlight()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	head := strings.TrimSuffix(strings.Replace(string(s.get(target, token)), "GET", "POST", 1), "\r\n")
	fmt.Fprintf(conn, "%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{",
		head, length)
	for deadline := time.Now().Add(10 * time.Second); s.bodiesInFlight() <= before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatal("the server holds no memory for a body")
		}
	}
}

// bodiesInFlight is what the metric of that name says, in bytes.
func (s *Server) bodiesInFlight() float64 {
	s.t.Helper()
	_, text, _ := strings.Cut(s.AdminDo(http.MethodGet, "/metrics", "").Body, "\ncaddy_maps_bodies_in_flight_bytes ")
	text, _, _ = strings.Cut(text, "\n")
	bytes, err := strconv.ParseFloat(text, 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return bytes
}

func (s *Server) get(target, token string) []byte {
	request := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\n", target, strings.TrimPrefix(s.URL, "http://"))
	if token != "" {
		request += "Authorization: Bearer " + token + "\r\n"
	}
	return []byte(request + "\r\n")
}

// Add lets the client send one more request after those that it sends already.
func (c *Client) Add(request []byte) { c.requests = append(c.requests, request) }

// Run sends n requests, each after the response to the one before, which must be as wanted, and returns how long that
// took.
func (c *Client) Run(n int) time.Duration {
	start := time.Now()
	for range n {
		if _, err := c.conn.Write(c.requests[c.next]); err != nil {
			c.tb.Fatal(err)
		}
		c.next = (c.next + 1) % len(c.requests)
		status, length, chunked := "", 0, false
		for {
			line, err := c.reader.ReadSlice('\n')
			if err != nil {
				c.tb.Fatal(err)
			}
			if len(line) == 2 {
				break
			}
			if status == "" {
				status = string(line[9:12])
			} else if rest, ok := strings.CutPrefix(string(line), "Content-Length: "); ok {
				length, _ = strconv.Atoi(strings.TrimSpace(rest))
			} else if string(line) == "Transfer-Encoding: chunked\r\n" {
				chunked = true
			}
		}
		if status != strconv.Itoa(c.Want) {
			c.tb.Fatalf("status %s, want %d", status, c.Want)
		}
		if chunked {
			c.readChunks()
		} else if _, err := c.reader.Discard(length); err != nil {
			c.tb.Fatal(err)
		}
	}
	return time.Since(start)
}

// readChunks reads a body that comes in chunks, and the line behind the last one.
func (c *Client) readChunks() {
	if _, err := io.Copy(io.Discard, httputil.NewChunkedReader(c.reader)); err != nil {
		c.tb.Fatal(err)
	}
	if _, err := c.reader.ReadSlice('\n'); err != nil {
		c.tb.Fatal(err)
	}
}
