package auth_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/modules/mapsapp/mapstest"
)

const benchSite = `
	handle /plain {
		respond "hello"
	}
	handle /guarded {
		maps_auth DIRECTION
		respond "hello"
	}
` + accountsSite

// BenchmarkAuthBeforeRespond measures what maps_auth costs a request: requests per second of `respond` alone and of `respond`
// behind maps_auth with a token that is in the cache, over loopback HTTP with keep-alive on one core. It alternates short
// rounds and reports medians: "ratio" against a request without a token, "same-request-ratio" against `respond` alone that is
// sent the token too, so that what the longer request costs Caddy by itself can be told apart.
func BenchmarkAuthBeforeRespond(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	s := mapstest.Start(b, mapstest.Config{Site: benchSite, Level: "INFO", NoAccessLog: true})
	_, token := s.Token("acme", "DIRECTION")
	plain, same, guarded := dial(b, s, "/plain", ""), dial(b, s, "/plain", token), dial(b, s, "/guarded", token)
	for _, c := range []*client{plain, same, guarded} {
		c.run(b, 2000)
	}
	const round = 1000
	var ratios, sameRatios, plains []float64
	for b.Loop() {
		p, q, g := plain.run(b, round), same.run(b, round), guarded.run(b, round)
		ratios = append(ratios, p.Seconds()/g.Seconds())
		sameRatios = append(sameRatios, q.Seconds()/g.Seconds())
		plains = append(plains, round/p.Seconds())
	}
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(median(sameRatios), "same-request-ratio")
	b.ReportMetric(median(plains), "respond-req/s")
	b.ReportMetric(0, "ns/op")
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// client sends one request over and over on one connection, with little work of its own: it shares the core with the server.
type client struct {
	conn    net.Conn
	reader  *bufio.Reader
	request []byte
}

func dial(tb testing.TB, s *mapstest.Server, path, token string) *client {
	tb.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close() })
	request := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\n", path, strings.TrimPrefix(s.URL, "http://"))
	if token != "" {
		request += "Authorization: Bearer " + token + "\r\n"
	}
	return &client{conn: conn, reader: bufio.NewReader(conn), request: []byte(request + "\r\n")}
}

// run sends n requests, each after the answer to the one before, and returns how long that took.
func (c *client) run(tb testing.TB, n int) time.Duration {
	start := time.Now()
	for range n {
		if _, err := c.conn.Write(c.request); err != nil {
			tb.Fatal(err)
		}
		status, length := "", 0
		for {
			line, err := c.reader.ReadSlice('\n')
			if err != nil {
				tb.Fatal(err)
			}
			if len(line) == 2 {
				break
			}
			if status == "" {
				status = string(line[9:12])
			} else if rest, ok := strings.CutPrefix(string(line), "Content-Length: "); ok {
				length, _ = strconv.Atoi(strings.TrimSpace(rest))
			}
		}
		if status != strconv.Itoa(http.StatusOK) {
			tb.Fatalf("status %s", status)
		}
		if _, err := io.CopyN(io.Discard, c.reader, int64(length)); err != nil {
			tb.Fatal(err)
		}
	}
	return time.Since(start)
}
