package integration

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// reloadRounds is how often the configuration is reloaded and the region replaced under load: MAPS_TEST_RELOADS, or 10.
func reloadRounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("MAPS_TEST_RELOADS")
	if text == "" {
		return 10
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("MAPS_TEST_RELOADS: %q is no number of reloads", text)
	}
	return n
}

// Reloads and new region files drop no request, end no token, and leave nothing behind: no goroutine, no open or mapped
// file, no memory.
func TestReloadUnderLoad(t *testing.T) {
	leaveOut(t, "reloads again and again under load")
	s := newServer(t)
	s.raced = true
	s.region = filepath.Join(s.dir, "own.region")
	t.Cleanup(func() { s.end(t) })
	// Two files of the same map, to be linked to the region's path in turn.
	var files [2]string
	for i := range files {
		files[i] = filepath.Join(s.dir, fmt.Sprintf("file-%d.region", i))
		copyFile(t, region, files[i])
	}
	replaced := 0
	replaceRegion := func() {
		t.Helper()
		next := filepath.Join(s.dir, "next.region")
		replaced++
		if err := os.Link(files[replaced%2], next); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, s.region); err != nil {
			t.Fatal(err)
		}
	}
	replaceRegion()
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	user := s.userToken(t, "load")
	acc := s.create(t, user, nil)
	access, _ := s.exchange(t, acc.ClientToken, acc.ServerToken)
	original, err := os.ReadFile(s.config)
	if err != nil {
		t.Fatal(err)
	}
	second := filepath.Join(s.dir, "second.region")
	copyFile(t, region, second)
	changed := strings.Replace(string(original), "{$MAPS_REGION:./data/delaware.region}", second, 1)

	// Of another account: a thousand exchanges push the grant of the first access token out.
	other := s.create(t, user, nil)
	calls := append(callsWith(access), exchangeCall(other.ClientToken, other.ServerToken),
		call{path: accounts, bearer: user})
	load := func(rounds int) (answered int64) {
		l := &loaders{server: s, calls: calls}
		l.begin(t, 8)
		for i := range rounds {
			text := string(original)
			if i%2 == 0 {
				text = changed
			}
			if status, body := s.reload(t, text); status != 200 {
				t.Errorf("reload %d: %d %s", i, status, body)
			}
			l.until(t, 8)
			for range i % 2 * 2 { // the path that the file is replaced at is configured
				replaceRegion()
				s.sendAdmin(t, call{method: "POST", path: "/maps/regions/reload"}).want(200)
				l.until(t, 8)
			}
		}
		return l.end(t)
	}
	load(4)
	before := s.footprint(t)
	rounds := reloadRounds(t) &^ 1
	answered := load(rounds)
	if answered < int64(16*rounds) {
		t.Errorf("only %d requests were answered beside %d reloads", answered, rounds)
	}
	s.wantFootprint(t, before)
}

// loaders ask a server for several things as fast as it answers, on connections that are kept.
type loaders struct {
	*server
	calls []call

	cancel     context.CancelFunc
	group      sync.WaitGroup
	answered   atomic.Int64
	mu         sync.Mutex
	unanswered map[string]string // by their marks
}

var loadMarks atomic.Int64

func (l *loaders) begin(t *testing.T, clients int) {
	ctx, cancel := context.WithCancel(t.Context())
	l.cancel, l.unanswered = cancel, make(map[string]string)
	for i := range clients {
		l.group.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				a := l.ask(t, l.calls[n%len(l.calls)])
				if a == nil {
					continue
				}
				if a.status != 200 {
					t.Errorf("%s %.100s: %d %.200s", a.call.method, a.call.path, a.status, a.body)
					return
				}
				if strings.Contains(a.call.path, external) {
					secretsOf(t, string(a.body))
				}
				l.answered.Add(1)
			}
		})
	}
}

// ask sends a request. A GET without a response is sent again, as clients do. Other requests return nil then.
func (l *loaders) ask(t *testing.T, c call) *answer {
	var err error
	for range 5 {
		mark := fmt.Sprintf("mark-%d-", loadMarks.Add(1))
		c.header = map[string][]string{"X-Mark": {mark}}
		var a *answer
		if a, err = l.trySend(t, c); err == nil {
			return a
		}
		l.mu.Lock()
		l.unanswered[mark] = fmt.Sprintf("%s %.40s: %v", c.method, c.path, err)
		l.mu.Unlock()
		if c.method != "" {
			return nil
		}
	}
	t.Errorf("GET %.60s: no answer to five requests: %v", c.path, err)
	return nil
}

// until waits for some more answers.
func (l *loaders) until(t *testing.T, more int64) {
	t.Helper()
	before := l.answered.Load()
	for deadline := time.Now().Add(20 * time.Second); l.answered.Load() < before+more && !t.Failed(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("%d answers in 20 s", l.answered.Load()-before)
		}
	}
}

var markOfLine = regexp.MustCompile(`"msg":"handled request".*"X-Mark":\["(mark-\d+-)"\]`)

// end stops the clients, and looks up requests without a response in the server's log. Caddy gives each configuration its
// own socket: the system resets connections in the old one's queue, and idle ones are closed. Requests on these reach no
// handler, and may fail. A request that reached a handler must be answered. Go's client repeats a GET by itself, so two
// lines of one mark mean a lost response.
func (l *loaders) end(t *testing.T) int64 {
	t.Helper()
	l.cancel()
	l.group.Wait()
	httpClient.CloseIdleConnections()
	log, err := os.ReadFile(l.log)
	if err != nil {
		t.Fatal(err)
	}
	handled := make(map[string]int)
	for line := range bytes.Lines(log) {
		if found := markOfLine.FindSubmatch(line); found != nil {
			handled[string(found[1])]++
		}
	}
	if int64(len(handled)) < l.answered.Load() {
		t.Errorf("the access log shows %d marks of %d", len(handled), l.answered.Load())
	}
	for mark, n := range handled {
		if what, lost := l.unanswered[mark]; lost {
			t.Errorf("%s reached a handler and got no answer: %s", mark, what)
		} else if n > 1 {
			t.Errorf("%s was handled %d times: an answer was lost", mark, n)
		}
	}
	gets := 0
	for _, what := range l.unanswered {
		if strings.HasPrefix(what, " ") {
			gets++
		}
	}
	t.Logf("%d requests answered; %d POSTs and %d GETs, which were sent again, reset by the system before a handler saw them",
		l.answered.Load(), len(l.unanswered)-gets, gets)
	return l.answered.Load()
}
