package fetch

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/mapsedge/caddy-maps/internal/regions"
	"github.com/mapsedge/caddy-maps/internal/testkit/testregion"
)

// secrets are in the URL and the header of every request of these tests, and nowhere else.
var secrets = []string{"hunter2", "s1gnature", "t0ken"}

// server is the origin of a region file, which can be made to do anything.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	serve http.HandlerFunc
	asked []*http.Request
	sent  *int // bytes of bodies, since become

	serving sync.WaitGroup
}

func newServer(t testing.TB, serve http.HandlerFunc) *server {
	s := &server{serve: serve, sent: new(int)}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		serve, sent := s.serve, s.sent
		s.asked = append(s.asked, r.Clone(r.Context()))
		s.serving.Add(1)
		s.mu.Unlock()
		defer s.serving.Done()
		serve(&countingWriter{w, s, sent}, r)
	}))
	s.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateNew {
			_ = c.(*net.TCPConn).SetWriteBuffer(4 << 10) // what lies in it counts as sent
		}
	}
	s.Start()
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// countingWriter flushes what it is given, so that the client has it when a connection is cut.
type countingWriter struct {
	http.ResponseWriter
	s    *server
	sent *int
}

func (w *countingWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.ResponseWriter.(http.Flusher).Flush()
	w.s.mu.Lock()
	*w.sent += n
	w.s.mu.Unlock()
	return n, err
}

// become lets the server do something else from now on.
func (s *server) become(serve http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serve, s.asked, s.sent = serve, nil, new(int)
}

// last returns the header of the last request, and how many there were and how much was sent since become. It waits for
// what is being served: a client has the last bytes before they are counted.
func (s *server) last(t *testing.T) (header http.Header, requests, sent int) {
	t.Helper()
	s.serving.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.asked) == 0 {
		t.Fatal("the server was not asked")
	}
	return s.asked[len(s.asked)-1].Header, len(s.asked), *s.sent
}

// file serves a file as Go's own file server does, with conditions and ranges. Either validator may be empty.
func file(content []byte, etag string, modified time.Time) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if etag != "" {
			w.Header().Set("ETag", etag)
		}
		http.ServeContent(w, r, "x.region", modified, bytes.NewReader(content))
	}
}

// cut serves the same, and closes the connection when so many bytes of the body are sent.
func cut(serve http.HandlerFunc, after int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { serve(&cuttingWriter{w, after}, r) }
}

type cuttingWriter struct {
	http.ResponseWriter
	left int
}

func (w *cuttingWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p[:min(len(p), w.left)])
	if w.left -= n; w.left == 0 {
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// status answers a status and a page.
func status(code int, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		_, _ = w.Write([]byte("<html>" + r.URL.String() + strings.Repeat(" ", 10_000)))
	}
}

// endless sends the beginning, and then more for as long as it is read.
func endless(beginning []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for more := beginning; ; more = make([]byte, 64<<10) {
			if _, err := w.Write(more); err != nil {
				return
			}
		}
	}
}

// fixture is a mirror of what a server has, that asks only when it is told to.
type fixture struct {
	*Mirror
	logs *observer.ObservedLogs
}

func newFixture(t *testing.T, s *server) *fixture {
	t.Helper()
	return sharing(t, s, filepath.Join(t.TempDir(), "x.region"))
}

// sharing is a fixture with the copy of another.
func sharing(t *testing.T, s *server, path string) *fixture {
	t.Helper()
	u := must(url.Parse(strings.Replace(s.URL, "://", "://ann:hunter2@", 1) + "/maps/x.region?X-Amz-Signature=s1gnature"))
	core, logs := observer.New(zapcore.InfoLevel)
	w := regions.NewWatched(regions.Options{Path: path, Awaited: true, Logger: zap.NewNop()})
	t.Cleanup(func() { _ = w.Destruct() })
	f := &fixture{logs: logs, Mirror: New(Options{
		URL: u, Path: path, Header: http.Header{"X-Api-Key": {"t0ken"}}, Refresh: time.Hour, Timeout: 20 * time.Second,
		Watched: w, Logger: zap.New(core),
	})}
	t.Cleanup(func() { f.keepsSecrets(t) })
	return f
}

// keepsSecrets looks for them in the logs, the status and the files.
func (f *fixture) keepsSecrets(t *testing.T) {
	t.Helper()
	shown := fmt.Sprint(f.Status())
	for _, entry := range f.logs.All() {
		shown += fmt.Sprint(entry.Entry.Message, entry.ContextMap())
	}
	for _, name := range must(filepath.Glob(f.Path + "*")) {
		shown += name + string(must(os.ReadFile(name)))
	}
	for _, secret := range secrets {
		if strings.Contains(shown, secret) {
			t.Errorf("%q is shown in %q", secret, shown)
		}
	}
}

// must returns a value that comes without an error.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// asks makes an attempt, whose error must contain want, or be none where want is empty.
func (f *fixture) asks(t *testing.T, want string) {
	t.Helper()
	err := f.attempt(context.Background())
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Fatalf("got %v, want an error with %q", err, want)
	}
}

// has compares the copy with what it should be (nil for none), and the suffixes of the files beside it.
func (f *fixture) has(t *testing.T, want []byte, beside string) {
	t.Helper()
	got, err := os.ReadFile(f.Path)
	if err != nil && !os.IsNotExist(err) || !bytes.Equal(got, want) {
		t.Errorf("the copy has %d bytes, and they are not the %d that it should have", len(got), len(want))
	}
	files := strings.Join(must(filepath.Glob(f.Path+"?*")), " ")
	if found := strings.ReplaceAll(files, f.Path, ""); found != beside {
		t.Errorf("beside the copy is %q, want %q", found, beside)
	}
}

// damage flips a bit of the copy, and has it found.
func (f *fixture) damage(t *testing.T) {
	t.Helper()
	content := must(os.ReadFile(f.Path))
	content[len(content)/2] ^= 1
	write(t, f.Path, content)
	if err := f.Watched.Poll(t.Context(), true); err == nil || !f.Watched.Damaged() {
		t.Fatalf("the damage was not found: %v", err)
	}
}

func write(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// content makes a region file of so many bytes of coverage, which differs with the number.
func content(t testing.TB, number, size int) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.region")
	testregion.Write(t, path, day(number), size/4, testregion.Dover())
	return must(os.ReadFile(path))
}

func eventually(t testing.TB, what string, reached func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !reached(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not seen: %s", what)
		}
	}
}

func day(number int) time.Time { return time.Date(2025, 1, number, 0, 0, 0, 0, time.UTC) }
