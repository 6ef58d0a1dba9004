package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// server is one process of the real server. Its files outlive it, so that it can be started again.
type server struct {
	dir       string // its own; holds the store, the configuration and the log
	config    string // path of the Caddyfile
	store     string
	region    string
	port      string
	admin     string // host:port
	router    string // host:port behind /proxied/route
	limits    bool   // leave the rate limits as they are; tests of other things send more than those allow
	log       string // path of all that it writes, all starts in one file
	piped     bool   // write the log through a pipe, so that what the process may write does not concern it
	fileLimit int    // largest file that the process may write, in bytes; 0 for any
	raced     bool   // run the binary with the race detector, if the tests have it: for what happens at once

	logLevel    string
	env         []string // more variables of its environment, over those that every server has
	dsn         string   // how to reach its database, and the name that it has there; see useDatabase
	application string

	cmd    *exec.Cmd
	exited chan struct{}
}

// newServer prepares a server that runs testdata/Caddyfile with pairs of texts replaced, on ports of its own.
func newServer(t testing.TB, replacements ...string) *server {
	t.Helper()
	s, err := newServerIn(t.TempDir(), replacements...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// newServerIn is newServer for one that more than one test uses.
func newServerIn(dir string, replacements ...string) (*server, error) {
	s := &server{
		dir: dir, config: filepath.Join(dir, "Caddyfile"), store: filepath.Join(dir, "data", "accounts.db"),
		region: region, log: filepath.Join(dir, "server.log"), logLevel: "DEBUG",
	}
	var err error
	for _, address := range []*string{&s.port, &s.admin, &s.router} {
		if *address, _, err = testkit.ReservePort(); err != nil { // for as long as the tests run
			return nil, err
		}
	}
	_, s.port, _ = net.SplitHostPort(s.port)
	text, err := caddyfileWith(replacements...)
	if err != nil {
		return nil, err
	}
	return s, os.WriteFile(s.config, []byte(text), 0o600)
}

// caddyfileWith returns testdata/Caddyfile with pairs of texts replaced, each of which has to be there.
func caddyfileWith(replacements ...string) (string, error) {
	data, err := os.ReadFile(filepath.Join(root, "integration", "testdata", "Caddyfile"))
	if err != nil {
		return "", err
	}
	text := string(data)
	for i := 0; i < len(replacements); i += 2 {
		if !strings.Contains(text, replacements[i]) {
			return "", fmt.Errorf("testdata/Caddyfile has no %q", replacements[i])
		}
		text = strings.Replace(text, replacements[i], replacements[i+1], 1)
	}
	return text, nil
}

// rotating are replacements that make refresh tokens rotate.
var rotating = []string{
	"# options", "without tokens\n\t\t# options",
	"# handlers", "handle /api/v1/external/* {\n\t\tmaps_tokens {\n\t\t\trefresh_rotation\n\t\t}\n\t}\n\t# handlers",
}

// startServer runs a new server until the end of the test.
func startServer(t testing.TB, replacements ...string) *server {
	t.Helper()
	s := newServer(t, replacements...)
	s.run(t)
	return s
}

// startRaced is startServer with the race detector, if the tests have it: for what happens at once. It makes a start
// take several times as long, so that tests of formats and of errors do without.
func startRaced(t testing.TB, replacements ...string) *server {
	t.Helper()
	s := newServer(t, replacements...)
	s.raced = true
	s.run(t)
	return s
}

// end stops the server and shows the end of its log if the test has failed.
func (s *server) end(t testing.TB) {
	if err := s.stop(); err != nil {
		t.Error(err)
	}
	if t.Failed() {
		t.Log(s.logTail(20))
	}
}

// command returns a command of the server's binary in the server's environment.
func (s *server) command(ctx context.Context, args ...string) *exec.Cmd {
	program := plain
	if s.raced && args[0] == "run" {
		program = raced
	}
	cmd := exec.CommandContext(ctx, program, args...)
	if s.fileLimit > 0 {
		script := fmt.Sprintf(`ulimit -S -f %d && exec "$0" "$@"`, s.fileLimit/512) // in blocks of 512 bytes, says POSIX
		cmd = exec.CommandContext(ctx, "sh", append([]string{"-c", script, program}, args...)...)
	}
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(),
		"MAPS_PORT="+s.port, "MAPS_BIND=127.0.0.1", "MAPS_ADMIN="+s.admin, "MAPS_REGION="+s.region, "MAPS_STORE="+s.store,
		"MAPS_ROUTER="+s.router, "MAPS_LOG_LEVEL="+s.logLevel,
		"XDG_CONFIG_HOME="+filepath.Join(s.dir, "xdg-config"), "XDG_DATA_HOME="+filepath.Join(s.dir, "xdg-data"),
		"GORACE=halt_on_error=1 exitcode=66")
	if !s.limits {
		for _, name := range []string{"ACCOUNT", "CLIENT", "TILES_ACCOUNT", "TILES_CLIENT", "TOKENS"} {
			cmd.Env = append(cmd.Env, "MAPS_LIMIT_"+name+"=1000000")
		}
	}
	cmd.Env = append(cmd.Env, s.env...)
	return cmd
}

// launch starts the process, without waiting for anything.
func (s *server) launch() error {
	out, err := os.OpenFile(s.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	s.cmd = s.command(context.Background(), "run", "--config", s.config, "--adapter", "caddyfile")
	s.cmd.Stdout, s.cmd.Stderr = out, out
	if s.piped {
		through := struct{ io.Writer }{out}
		s.cmd.Stdout, s.cmd.Stderr = through, through
	}
	if err := s.cmd.Start(); err != nil {
		return errors.Join(err, out.Close())
	}
	exited := make(chan struct{})
	s.exited = exited
	go func(cmd *exec.Cmd) {
		_ = cmd.Wait() // its ProcessState is looked at
		_ = out.Close()
		close(exited)
	}(s.cmd)
	return nil
}

// run starts the server and ends it with the test.
func (s *server) run(t testing.TB) {
	t.Helper()
	t.Cleanup(func() { s.end(t) })
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
}

// start launches the process and waits until it is healthy.
func (s *server) start() error {
	if err := s.launch(); err != nil {
		return err
	}
	return s.awaitHealthy()
}

// awaitHealthy waits until a process that was launched is healthy.
func (s *server) awaitHealthy() error {
	client := &http.Client{Timeout: 2 * time.Second}
	deadline := time.Now().Add(time.Minute)
	for time.Now().Before(deadline) {
		if resp, err := client.Get(s.url("/healthz")); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil // the admin API waits by itself until the configuration is the active one
			}
		}
		select {
		case <-s.exited:
			return fmt.Errorf("the server ended: %v\n%s", s.cmd.ProcessState, s.logTail(20))
		case <-time.After(20 * time.Millisecond):
		}
	}
	_ = s.kill()
	return fmt.Errorf("the server was not healthy within a minute\n%s", s.logTail(20))
}

func (s *server) running() bool {
	if s.exited == nil {
		return false
	}
	select {
	case <-s.exited:
		return false
	default:
		return true
	}
}

// stop ends the process as an operator would, and reports an end that was not clean: a crash, or a race.
func (s *server) stop() error {
	if s.exited == nil {
		return nil
	}
	if s.running() {
		httpClient.CloseIdleConnections() // a server waits 5 s for connections that were never used
		if resp, err := adminClient.Post("http://"+s.admin+"/stop", "", nil); err == nil {
			resp.Body.Close()
		}
	}
	select {
	case <-s.exited:
	case <-time.After(20 * time.Second):
		_ = s.kill()
		return fmt.Errorf("the server did not stop within 20 s\n%s", s.logTail(20))
	}
	state := s.cmd.ProcessState
	s.exited = nil
	if !state.Success() {
		return fmt.Errorf("the server ended with %v\n%s", state, s.logTail(60))
	}
	return nil
}

// kill ends the process as a power failure would (SIGKILL).
func (s *server) kill() error {
	err := s.cmd.Process.Kill()
	<-s.exited
	s.exited = nil
	return err
}

func (s *server) url(path string) string { return "http://127.0.0.1:" + s.port + path }

func (s *server) logTail(lines int) string {
	data, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	all := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	if len(all) > lines {
		all = all[len(all)-lines:]
	}
	return s.log + ":\n" + string(bytes.Join(all, []byte("\n")))
}

// reload gives the running server another Caddyfile, as `caddy reload` does, and returns the answer's status and text.
// It waits until only one configuration listens: Caddy answers before the old one has closed its socket, which resets new
// connections.
func (s *server) reload(t testing.TB, caddyfile string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, "http://"+s.admin+"/load", strings.NewReader(caddyfile))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "text/caddyfile")
	resp, err := adminClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); s.listeners(t) > 1 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	return resp.StatusCode, string(text)
}

// listeners is how many sockets listen at the server's port; 0 where the system has no file that tells.
func (s *server) listeners(t testing.TB) (n int) {
	t.Helper()
	port, err := strconv.Atoi(s.port)
	if err != nil {
		t.Fatal(err)
	}
	table, _ := os.ReadFile("/proc/net/tcp")
	const listening = "0A"
	for row := range strings.Lines(string(table)) {
		if f := strings.Fields(row); len(f) > 3 && f[1] == fmt.Sprintf("0100007F:%04X", port) && f[3] == listening {
			n++
		}
	}
	return n
}

// shared is one server for all tests that leave no trace but accounts of an organization of their own.
var shared struct {
	sync.Once
	*server
	err error
}

func sharedServer(t testing.TB) *server {
	t.Helper()
	shared.Do(func() {
		dir := filepath.Join(workDir, "shared")
		if shared.err = os.Mkdir(dir, 0o700); shared.err != nil {
			return
		}
		if shared.server, shared.err = newServerIn(dir); shared.err == nil {
			shared.raced = true
			shared.err = shared.server.start()
		}
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	if !shared.server.running() {
		t.Fatalf("the shared server has ended\n%s", shared.server.logTail(40))
	}
	return shared.server
}

func stopShared() error {
	if shared.server == nil {
		return nil
	}
	return shared.server.stop()
}
