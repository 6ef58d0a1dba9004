package mapstest

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Timed is one of several requests whose answers nobody shall tell apart.
type Timed struct {
	Name                  string
	Method, Target, Token string
	Body                  string // JSON
}

// Alike checks that requests are answered with the same status, headers and body, and in the same time: their medians
// may differ by 5%, over as many of each as MAPS_TIMING_ROUNDS says (10000 for the real measurement), and by 25% with
// the few of an ordinary run, which has other tests beside it.
func (s *Server) Alike(status int, all ...Timed) {
	s.t.Helper()
	rounds, limit := 300, 0.25
	if given := os.Getenv("MAPS_TIMING_ROUNDS"); given != "" {
		var err error
		if rounds, err = strconv.Atoi(given); err != nil || rounds < 1 {
			s.t.Fatalf("MAPS_TIMING_ROUNDS: %q is no number of rounds", given)
		}
		limit = 0.05
	}
	w := s.dialWire()
	defer w.conn.Close()
	s.measure(w, 50, status, all) // warms up
	// What a busy machine does to one measurement it does not do to five in the same way; a real difference is in all.
	for attempt := 1; ; attempt++ {
		spread, report := s.measure(w, rounds, status, all)
		s.t.Logf("medians over %d: %.1f%% apart%s", rounds, spread*100, report)
		if spread <= limit {
			return
		}
		if attempt == 5 {
			s.t.Fatalf("the medians are %.1f%% apart, want at most %.0f%%", spread*100, limit*100)
		}
	}
}

// measure returns how far apart the medians are, as a share of the lowest. The requests are sent in turn and in a new
// order each time, so that what slows the machine down slows all of them down.
func (s *Server) measure(w *wire, rounds, status int, all []Timed) (spread float64, report string) {
	s.t.Helper()
	requests, times := make([][]byte, len(all)), make([][]time.Duration, len(all))
	for i, one := range all {
		requests[i] = s.raw(one)
	}
	same, away := "", 0
	for range rounds {
		for _, i := range rand.Perm(len(all)) {
			took, resp, text, err := w.ask(requests[i])
			if err != nil {
				s.t.Fatalf("%s: %v", all[i].Name, err)
			}
			for resp.StatusCode == http.StatusServiceUnavailable && status != resp.StatusCode && away < 10 {
				// The store did not answer in time, as on a machine that has too much to do.
				away++
				time.Sleep(time.Second)
				if took, resp, text, err = w.ask(requests[i]); err != nil {
					s.t.Fatalf("%s: %v", all[i].Name, err)
				}
			}
			resp.Header.Del("Date")
			text = fmt.Sprintf("%v %s", resp.Header, text)
			if same == "" {
				same = text
			}
			if resp.StatusCode != status || text != same {
				s.t.Fatalf("%s: status %d, %s, another was answered %d, %s", all[i].Name, resp.StatusCode, text, status, same)
			}
			times[i] = append(times[i], took)
		}
	}
	var low, high time.Duration
	for i, one := range all {
		slices.Sort(times[i])
		median := times[i][rounds/2]
		if low == 0 || median < low {
			low = median
		}
		high = max(high, median)
		report += fmt.Sprintf("\n%-24s %v", one.Name, median)
	}
	return float64(high-low) / float64(low), report
}

func (s *Server) raw(r Timed) []byte {
	b := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\n", r.Method, r.Target, strings.TrimPrefix(s.URL, "http://"))
	if r.Token != "" {
		b = fmt.Appendf(b, "Authorization: Bearer %s\r\n", r.Token)
	}
	if r.Body != "" {
		b = fmt.Appendf(b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(r.Body))
	}
	return fmt.Appendf(b, "\r\n%s", r.Body)
}

// wire sends ready-made requests on one connection, and does as little beside it as it can.
type wire struct {
	conn net.Conn
	in   *bufio.Reader
}

func (s *Server) dialWire() *wire {
	s.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	return &wire{conn, bufio.NewReader(conn)}
}

// ask sends a request and returns how long the first byte of the response took, and the response.
func (w *wire) ask(request []byte) (took time.Duration, resp *http.Response, body string, err error) {
	begun := time.Now()
	if _, err = w.conn.Write(request); err != nil {
		return
	}
	if _, err = w.in.Peek(1); err != nil {
		return
	}
	took = time.Since(begun)
	if resp, err = http.ReadResponse(w.in, nil); err != nil {
		return
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return took, resp, string(data), err
}
