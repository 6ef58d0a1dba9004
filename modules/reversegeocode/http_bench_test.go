package reversegeocode_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/paulmach/orb"

	"github.com/mapsedge/caddy-maps/internal/answer"
	"github.com/mapsedge/caddy-maps/internal/compile"
	"github.com/mapsedge/caddy-maps/internal/geocoding"
	"github.com/mapsedge/caddy-maps/internal/region"
	_ "github.com/mapsedge/caddy-maps/modules/accounts"
	_ "github.com/mapsedge/caddy-maps/modules/auth"
	_ "github.com/mapsedge/caddy-maps/modules/boltstore"
	"github.com/mapsedge/caddy-maps/modules/mapsapp/mapstest"
	_ "github.com/mapsedge/caddy-maps/modules/tokens"
)

// dover is a position in the middle of Dover, Delaware.
var dover = orb.Point{-75.5197, 39.1573}

// BenchmarkBesideRespond measures what a whole request costs beside the web server: requests per second of `respond` with a body
// of the same size, over those of reverse geocoding behind maps_auth, over loopback HTTP with keep-alive on one core. Both are
// sent the same token and the same query. It alternates short rounds and reports medians: "ratio", and "bare-ratio" against
// `respond` without a token.
func BenchmarkBesideRespond(b *testing.B) {
	for _, size := range []string{"1", "5"} {
		b.Run("size="+size, func(b *testing.B) { besideRespond(b, size) })
	}
}

func besideRespond(b *testing.B, size string) {
	query := fmt.Sprintf("?lat=%g&lon=%g&size=%s", dover[1], dover[0], size)
	path := filepath.Join(b.TempDir(), "delaware.region")
	if _, err := compile.Build(b.Context(), compile.Options{Inputs: []string{delawareExtract(b)}, Output: path}); err != nil {
		b.Fatal(err)
	}
	length := len(answerOf(b, path, size))
	s := mapstest.Start(b, mapstest.Config{
		Maps: "region delaware " + path, Level: "INFO", NoAccessLog: true,
		Site: `
			handle /plain/* {
				respond "` + strings.Repeat("x", length) + `"
			}
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
	})
	_, token := s.Token("acme", "REVERSEGEOCODING")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const plain = "/plain/search/reverse-geocoding"
	bare, same, ours := dial(b, s, plain+query, ""), dial(b, s, plain+query, token), dial(b, s, endpoint+query, token)
	for _, c := range []*client{bare, same, ours} {
		if n := c.run(b, 1000); n.body != length {
			b.Fatalf("a body of %d bytes, want %d", n.body, length)
		}
	}
	const round = 1000
	var ratios, bareRatios, rates []float64
	for b.Loop() {
		p, q, g := bare.run(b, round).took, same.run(b, round).took, ours.run(b, round).took
		bareRatios = append(bareRatios, p.Seconds()/g.Seconds())
		ratios = append(ratios, q.Seconds()/g.Seconds())
		rates = append(rates, round/q.Seconds())
	}
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(median(bareRatios), "bare-ratio")
	b.ReportMetric(median(rates), "respond-req/s")
	b.ReportMetric(float64(length), "body-bytes")
	b.ReportMetric(0, "ns/op")
}

// answerOf is what the engine has to say, as it is sent.
func answerOf(b *testing.B, path, size string) []byte {
	f, err := region.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Release()
	index, err := geocoding.Open(f)
	if err != nil {
		b.Fatal(err)
	}
	n, err := strconv.Atoi(size)
	if err != nil {
		b.Fatal(err)
	}
	req := geocoding.Request{Point: dover, Size: n}
	result, err := index.Reverse(b.Context(), &req)
	if err != nil || len(result.Places) != n {
		b.Fatalf("%+v, %v", result, err)
	}
	return answer.AppendPlaces(nil, dover, result)
}

// delawareExtract is the map data that the osm module ships for its own tests.
func delawareExtract(tb testing.TB) string {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/paulmach/osm").Output()
	if err != nil {
		tb.Fatalf("where the osm module is: %v", err)
	}
	return filepath.Join(strings.TrimSpace(string(dir)), "testdata", "delaware-latest.osm.pbf")
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

// round is what became of some requests: how long they took, and how long the last body was.
type round struct {
	took time.Duration
	body int
}

// run sends n requests, each after the answer to the one before.
func (c *client) run(tb testing.TB, n int) round {
	start, length := time.Now(), 0
	for range n {
		if _, err := c.conn.Write(c.request); err != nil {
			tb.Fatal(err)
		}
		status := ""
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
	return round{time.Since(start), length}
}
