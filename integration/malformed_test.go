package integration

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestMalformed sends requests that are valid but for some mutations to every endpoint of the example, on raw
// connections. Each gets an answer that the contract has, in time: no 5xx but 503, no broken connection, no body of
// another form. MAPS_TEST_MALFORMED says how many, MAPS_TEST_MALFORMED_SEED which ones.
func TestMalformed(t *testing.T) {
	// An ordinary run has other tests beside it, and the race detector.
	count, seed, limit := 2000, uint64(1), 20*time.Second
	if testing.Short() {
		count = 500
	}
	full := os.Getenv("MAPS_TEST_MALFORMED")
	if full != "" {
		var err error
		if count, err = strconv.Atoi(full); err != nil || count < 1 {
			t.Fatalf("MAPS_TEST_MALFORMED: %q is no number of requests", full)
		}
		limit = time.Second
	}
	if given := os.Getenv("MAPS_TEST_MALFORMED_SEED"); given != "" {
		var err error
		if seed, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	s := newServer(t, "# cors https://app.example.com", "cors https://app.example.com")
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // whatever comes of it
		w.Header().Set("Content-Type", jsonType)
		w.Header().Set("Server", "upstream")
		fmt.Fprint(w, `{"ok":true}`)
	}))
	t.Cleanup(upstream.Close)
	s.router, s.logLevel, s.raced = strings.TrimPrefix(upstream.URL, "http://"), "INFO", full == ""
	s.run(t)
	tokens := malformedTokens(t, s)

	m := &malformed{t: t, address: "127.0.0.1:" + s.port, limit: limit, statuses: make(map[string]int),
		short: strings.NewReplacer(tokens.access, "ACCESS", tokens.user, "USER")}
	next := make(chan uint64)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for i := range next {
				random := rand.New(rand.NewPCG(seed, i))
				r := valid(random, tokens)
				for range 1 + random.IntN(4) {
					mutate(random, r, tokens)
				}
				m.send(fmt.Sprintf("seed %d, request %d", seed, i), r)
			}
		})
	}
	begun := time.Now()
	for i := range uint64(count) {
		if m.failures() > 20 {
			break
		}
		if i%1000 == 0 {
			s.clearLog(t)
		}
		next <- i
	}
	close(next)
	workers.Wait()
	t.Logf("%d requests in %v; the slowest took %v: %s", count, time.Since(begun).Round(time.Second), m.slowest, m.what)
	for _, kind := range slices.Sorted(func(yield func(string) bool) {
		for kind := range m.statuses {
			if !yield(kind) {
				return
			}
		}
	}) {
		t.Logf("%8d %s", m.statuses[kind], kind)
	}
	for _, status := range []string{"200", "201", "204", "400", "401", "403", "404", "405", "413", "415", "422"} {
		if m.statuses[status] == 0 {
			t.Errorf("no answer was %s: the requests are too much of one kind", status)
		}
	}
	s.send(t, call{path: "/healthz"}).want(200)
	if err := s.searchSecrets(); err != nil {
		t.Error(err)
	}
}

func malformedTokens(t *testing.T, s *server) *tokensOf {
	user := s.userToken(t, "malformed")
	maps, other := s.create(t, user, nil), s.create(t, user, nil)
	tiles := s.create(t, user, map[string]any{"scopes": []string{"TILE"}})
	tokens := &tokensOf{user: user, client: other.ClientToken, server: other.ServerToken}
	tokens.access, _ = s.exchange(t, maps.ClientToken, maps.ServerToken)
	tokens.tiles, _ = s.exchange(t, tiles.ClientToken, tiles.ServerToken)
	_, tokens.refresh = s.exchange(t, other.ClientToken, other.ServerToken)
	for range 5 {
		tokens.accounts = append(tokens.accounts, s.create(t, user, nil).ID)
	}
	return tokens
}

// malformed sends requests and judges the answers.
type malformed struct {
	t       *testing.T
	address string
	limit   time.Duration

	mu       sync.Mutex
	failed   int
	short    *strings.Replacer
	statuses map[string]int
	slowest  time.Duration
	what     string
}

func (m *malformed) failures() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failed
}

// send sends one request on a connection of its own, and checks what comes back.
func (m *malformed) send(name string, r *wireRequest) {
	text, whole := r.text()
	kind, took, err := m.exchange(r, text, whole)
	for range 5 { // Go's server refuses a head and closes, and then its answer may be lost; a handler's never is
		if !errors.Is(err, syscall.ECONNRESET) {
			break
		}
		if again, _, err2 := m.exchange(r, text, whole); err2 == nil && strings.HasSuffix(again, byServer) {
			kind, err = again, nil
		}
	}
	for range 2 { // what a busy machine does to one request it does not do to three
		if err == nil && took > m.limit {
			var again time.Duration
			_, again, err = m.exchange(r, text, whole)
			took = min(took, again)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.statuses[kind]++
	if took > m.slowest {
		m.slowest, m.what = took, fmt.Sprintf("%.200q", m.short.Replace(text))
	}
	if err == nil && took > m.limit {
		err = fmt.Errorf("it took %v", took)
	}
	if err != nil {
		m.failed++
		m.t.Errorf("%s: %v\n%.1000q", name, err, m.short.Replace(text))
	}
}

// byServer ends the kind of answers that Go's server gives by itself, before Caddy has seen the request.
const byServer = " by the server, which no handler has seen"

func (m *malformed) exchange(r *wireRequest, text string, whole bool) (kind string, took time.Duration, err error) {
	conn, err := net.DialTimeout("tcp", m.address, 10*time.Second)
	if err != nil {
		return "", 0, err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	begun := time.Now()
	go func() {
		_, _ = io.WriteString(conn, text) // fails where the server has answered before it has read all
		if !whole {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
	}()
	reader := bufio.NewReader(conn)
	var resp *http.Response
	for {
		if resp, err = http.ReadResponse(reader, &http.Request{Method: r.method}); err != nil {
			took = time.Since(begun)
			if !whole && errors.Is(err, io.ErrUnexpectedEOF) {
				return "none, to half a request", took, nil // its client is gone
			}
			return "none", took, fmt.Errorf("there is no answer: %w", err)
		}
		if resp.StatusCode >= 200 || resp.StatusCode == http.StatusSwitchingProtocols {
			break
		}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	took = time.Since(begun)
	if resp.Header.Get("Server") == "" { // Go's server has refused the head, and does not always wait until that is read
		if !slices.Contains([]int{400, 417, 431, 501, 505}, resp.StatusCode) && r.method+r.path != "OPTIONS*" {
			return "strange", took, fmt.Errorf("status %d without Caddy: %.300q", resp.StatusCode, body)
		}
		return strconv.Itoa(resp.StatusCode) + byServer, took, nil
	}
	if err != nil {
		return "broken", took, fmt.Errorf("status %d, a body that breaks off: %w", resp.StatusCode, err)
	}
	kind = strconv.Itoa(resp.StatusCode)
	switch {
	case resp.StatusCode == http.StatusServiceUnavailable:
		kind = strings.TrimSpace(fmt.Sprintf("503 %.60s", body))
	case whole:
	case resp.StatusCode == 499:
		return "none, to half a request", took, nil
	case resp.StatusCode == 502 && resp.Header.Get("Vary") == "Authorization": // as the route alone says it
		return "502 of the proxy, to half a body", took, nil
	}
	if err := judge(r, resp, string(body)); err != nil {
		return kind, took, fmt.Errorf("status %d, %v: %w: %.600q", resp.StatusCode, resp.Header, err, body)
	}
	return kind, took, nil
}

// The codes that each status may have, "" for none.
var (
	platformCodes = map[int][]string{
		400: {validation}, 401: {""}, 403: {"INSUFFICIENT_SCOPE"}, 404: {""}, 405: {""}, 408: {""},
		409: {"INVALID_TRANSITION"},
		413: {""}, 415: {""},
		429: {""}, 503: {""},
	}
	routingCodes = map[int][]string{
		400: {"InvalidInput"}, 401: {"Not Authorized - No Token", "Not Authorized - Invalid Token"},
		403: {"InsufficientScope"},
		404: {"NoRoute", "NotFound"}, 405: {"MethodNotAllowed"}, 408: {"RequestTimeout"}, 413: {"TooLarge"},
		415: {"UnsupportedMediaType"},
		422: {"InvalidInput"}, 429: {"TooManyRequests"}, 503: {"Unavailable"},
	}
)

// judge says what of an answer is not the contract's.
func judge(r *wireRequest, resp *http.Response, body string) error {
	status := resp.StatusCode
	switch {
	case status == http.StatusNoContent || r.method == http.MethodHead:
		if body != "" {
			return errors.New("a body where there is none")
		}
		return nil
	case status < 300:
		if media := resp.Header.Get("Content-Type"); media != jsonType && media != "application/geo+json" ||
			!json.Valid([]byte(body)) {
			return errors.New("no JSON")
		}
		return nil
	case resp.Header.Get("Content-Type") != jsonType:
		return errors.New("no JSON")
	}
	for name, wanted := range map[string]bool{
		"Allow": status == 405, "Www-Authenticate": status == 401 || status == 403, "Retry-After": status == 429,
	} {
		if wanted && resp.Header.Get(name) == "" {
			return fmt.Errorf("no %s", name)
		}
	}
	// A path that is only like that of an endpoint may be answered in either family.
	exact := strings.TrimSuffix(r.path, "/")+"/" == match
	routing := strings.HasPrefix(body, `{"error":{`)
	if exact && !routing || !exact && routing && !strings.Contains(strings.ToLower(r.path), "matching") {
		if decoded := strings.Contains(r.path, "%"); !decoded {
			return errors.New("the other family of bodies")
		}
	}
	dec := json.NewDecoder(strings.NewReader(body))
	dec.DisallowUnknownFields()
	if routing {
		var e struct {
			Error struct {
				Code, Message string
				Status        int
			}
		}
		if err := dec.Decode(&e); err != nil || e.Error.Status != status || e.Error.Message == "" ||
			!slices.Contains(routingCodes[status], e.Error.Code) {
			return fmt.Errorf("not of the routing family: %w", err)
		}
		return nil
	}
	var e struct{ Error, Code string }
	if err := dec.Decode(&e); err != nil || e.Error == "" || !slices.Contains(platformCodes[status], e.Code) {
		return fmt.Errorf("not of the platform's family: %w", err)
	}
	return nil
}
