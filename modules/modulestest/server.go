// Package modulestest runs the real Caddy in the process of a test, with its standard modules, the app `maps` and an
// SQLite store, and uses it over loopback HTTP. It also has servers that behave as upstream engines do when they fail,
// and what clients must get then.
//
// It registers no handlers: a test imports the packages of the directives that it uses. Start reading at Start, and for
// upstream engines at CheckBadDays.
package modulestest

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"

	// The modules that a Caddyfile of a test may name.
	_ "github.com/caddyserver/caddy/v2/modules/standard"
	"github.com/mapsedge/caddy-maps/internal/testkit"
	_ "github.com/mapsedge/caddy-maps/modules/stores"
)

// Config is what a test writes into its Caddyfile.
type Config struct {
	// Maps is the inside of the maps option; a store is added unless it names one.
	Maps string
	// Global is further global options.
	Global string
	// Site is the inside of the one site.
	Site string
	// Level is the level of the log; DEBUG where it is empty.
	Level string
	// NoAccessLog leaves the access log out.
	NoAccessLog bool
	// Format is the default log's format, as a line of its block; one that hides apiKey in URLs where it is empty.
	Format string
}

// Server is the Caddy of a test's process. Only one can run at a time.
type Server struct {
	URL   string // of the site, without a slash at the end
	Admin string // host:port of the admin endpoint
	Dir   string // where its files are
	Store string // path of its store

	t    testing.TB
	port string
	HTTP *http.Client
}

// Start runs Caddy until the end of the test.
func Start(t testing.TB, cfg Config) *Server {
	t.Helper()
	dir := t.TempDir()
	s := &Server{
		t: t, Dir: dir, Store: filepath.Join(dir, "accounts.db"), port: freePort(t), Admin: "127.0.0.1:" + freePort(t),
		HTTP: &http.Client{
			Timeout:       30 * time.Second,
			Transport:     &http.Transport{MaxIdleConnsPerHost: 64},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	s.URL = "http://127.0.0.1:" + s.port
	t.Cleanup(func() {
		s.HTTP.CloseIdleConnections()
		if err := caddy.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(lastLines(s.Log(), 20))
		}
	})
	if err := s.Load(cfg); err != nil {
		t.Fatal(err)
	}
	return s
}

// With returns the same server for a part of the test, which fails by itself.
func (s *Server) With(t testing.TB) *Server {
	part := *s
	part.t = t
	return &part
}

func freePort(t testing.TB) string {
	t.Helper()
	address, release, err := testkit.ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	_, port, _ := net.SplitHostPort(address)
	return port
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// Caddyfile returns the whole configuration.
func (s *Server) Caddyfile(cfg Config) string {
	if !strings.Contains(cfg.Maps, "store ") {
		cfg.Maps += "\nstore sqlite " + s.Store
	}
	if cfg.Level == "" {
		cfg.Level = "DEBUG"
	}
	if cfg.Format == "" {
		cfg.Format = "format filter {\nrequest maps_redact apiKey\nuri maps_redact apiKey\n}"
	}
	accessLog := "log"
	if cfg.NoAccessLog {
		accessLog = ""
	}
	return fmt.Sprintf(`{
	admin %s
	persist_config off
	auto_https off
	storage file_system %s
	log default {
		output file %s
		level %s
		%s
	}
	maps {
		%s
	}
	%s
}
http://127.0.0.1:%s {
	bind 127.0.0.1
	%s
	%s
}
`, s.Admin, filepath.Join(s.Dir, "storage"), s.logFile(), cfg.Level, cfg.Format, cfg.Maps, cfg.Global, s.port,
		accessLog, cfg.Site)
}

// Adapt turns a Caddyfile into Caddy's JSON.
func Adapt(caddyfile string) ([]byte, error) {
	adapted, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(caddyfile),
		map[string]any{"filename": "Caddyfile"})
	return adapted, err
}

// Load makes Caddy run a configuration, the first one or another.
func (s *Server) Load(cfg Config) error {
	adapted, err := Adapt(s.Caddyfile(cfg))
	if err != nil {
		return err
	}
	site, admin := openIdle(strings.TrimPrefix(s.URL, "http://")), openIdle(s.Admin)
	err = caddy.Load(adapted, true)
	s.HTTP.CloseIdleConnections()
	// The old servers may still accept connections. On shutdown they close their listeners, then idle connections. The
	// admin endpoint is replaced before a configuration is provisioned, so also by one that is refused then.
	adminErr := waitForEnd(admin)
	if err != nil {
		if site != nil {
			site.Close()
		}
		return err
	}
	return cmp.Or(waitForEnd(site), adminErr)
}

// waitForEnd waits until a server has closed a connection, which may be nil.
func waitForEnd(conn net.Conn) error {
	if conn == nil {
		return nil
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(answerTimeout))
	if _, err := conn.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("the old configuration still serves %s", conn.RemoteAddr())
	}
	return nil
}

// answerTimeout is how long a server may take to answer, or to close a connection, on a busy machine.
const answerTimeout = 20 * time.Second

// openIdle connects to a server and makes one request, so that the connection is idle. It returns nil if the server
// does not answer.
func openIdle(address string) net.Conn {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil
	}
	_ = conn.SetDeadline(time.Now().Add(answerTimeout))
	if _, err = io.WriteString(conn, "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n"); err == nil {
		_, err = http.ReadResponse(bufio.NewReader(conn), nil)
	}
	if err != nil {
		conn.Close()
		return nil
	}
	return conn
}

func (s *Server) logFile() string { return filepath.Join(s.Dir, "caddy.log") }

// Log returns everything that has been logged so far.
func (s *Server) Log() string {
	text, err := os.ReadFile(s.logFile())
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	return string(text)
}

// Response is a response that has been read to its end.
type Response struct {
	Status int
	Header http.Header
	Body   string
}

// Data unmarshals the response's "data".
func (a Response) Data(t testing.TB, into any) {
	t.Helper()
	body := struct {
		Data any `json:"data"`
	}{into}
	if err := json.Unmarshal([]byte(a.Body), &body); err != nil {
		t.Fatalf("%v in %d %s", err, a.Status, a.Body)
	}
}

// Do sends a request. A token goes into the Authorization header, unless it is empty; a body is JSON unless header says
// otherwise, in pairs of names and values.
func (s *Server) Do(method, path, token, body string, header ...string) Response {
	s.t.Helper()
	return s.do(s.URL+path, method, token, body, header)
}

// Raw sends a request's text, as it is, on a connection of its own.
func (s *Server) Raw(request string) Response {
	s.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.WriteString(conn, request); err != nil {
		s.t.Fatal(err)
	}
	method, _, _ := strings.Cut(request, " ")
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		s.t.Fatalf("%.200s: %v", request, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatalf("%.200s: %v", request, err)
	}
	return Response{resp.StatusCode, resp.Header, string(body)}
}

// AdminDo sends a request to the admin endpoint.
func (s *Server) AdminDo(method, path, body string) Response {
	s.t.Helper()
	return s.do("http://"+s.Admin+path, method, "", body, nil)
}

// Try sends a GET and returns what went wrong on the way to a response, which is no fault of the server while it
// reloads: Caddy gives every configuration a socket of its own, and the system resets connections that waited at the
// old one.
func (s *Server) Try(path, token string) (Response, error) {
	return s.try(s.URL+path, http.MethodGet, token, "", nil)
}

func (s *Server) do(url, method, token, body string, header []string) Response {
	s.t.Helper()
	resp, err := s.try(url, method, token, body, header)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp
}

func (s *Server) try(url, method, token, body string, header []string) (Response, error) {
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return Response{}, err
	}
	if body == "" {
		req.Body = http.NoBody
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i+1] == "" {
			req.Header.Del(header[i])
		} else {
			req.Header.Add(header[i], header[i+1])
		}
	}
	// the admin endpoint is replaced with every configuration, and would cut a connection that was kept
	req.Close = strings.HasPrefix(url, "http://"+s.Admin)
	resp, err := s.HTTP.Do(req)
	if err != nil {
		return Response{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return Response{resp.StatusCode, resp.Header, strings.TrimSuffix(string(text), "\n")}, err
}
