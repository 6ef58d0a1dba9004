package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// server is the running Caddy.
type server struct {
	settings
	cmd    *exec.Cmd
	log    string // path of what it writes
	exited chan struct{}
	err    error // of Wait; set before exited is closed
}

// limits leave room for load tests, because only this machine can reach the server.
var limits = []string{
	"MAPS_LIMIT_ACCOUNT=20000", "MAPS_LIMIT_ADDRESS=20000", "MAPS_LIMIT_TILES=20000", "MAPS_LIMIT_TILES_ADDRESS=20000",
	"MAPS_LIMIT_TOKENS=50000", "MAPS_LIMIT_MANAGEMENT=50000",
}

func startServer(s settings) (*server, error) {
	srv := &server{settings: s, log: filepath.Join(s.dir, "server.log"), exited: make(chan struct{})}
	out, err := os.OpenFile(srv.log, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	srv.cmd = exec.Command(s.server(), append([]string{"run"}, configuration...)...)
	srv.cmd.Stdout, srv.cmd.Stderr = out, out
	srv.cmd.SysProcAttr = endWithUs()
	srv.cmd.Env = s.environment()
	if err := srv.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		srv.err = srv.cmd.Wait()
		close(srv.exited)
	}()
	return srv, nil
}

// configuration are the arguments of Caddy's commands that name it.
var configuration = []string{"--config", "Caddyfile.example", "--adapter", "caddyfile"}

// environment is what the configuration takes from the environment.
func (s settings) environment() []string {
	return append(slices.Concat(limits, os.Environ()), // of two values for a name the later one counts
		"MAPS_BIND=127.0.0.1",
		"MAPS_PORT="+s.port,
		"MAPS_ADMIN="+s.admin,
		"MAPS_REGION="+s.region(),
		"MAPS_STORE="+filepath.Join(s.dir, "accounts.db"),
		// Caddy's own files: the saved configuration must not mix with that of another Caddy of this user.
		"XDG_CONFIG_HOME="+filepath.Join(s.dir, "config"),
		"XDG_DATA_HOME="+filepath.Join(s.dir, "data"),
	)
}

// welcomeGuests gives those who open the playground tokens of an account: it can be made only when the server runs.
func (srv *server) welcomeGuests(ctx context.Context, account string) error {
	arguments := append([]string{"reload", "--address", srv.admin}, configuration...)
	reload := exec.CommandContext(ctx, srv.server(), arguments...)
	reload.Env = append(srv.environment(), "MAPS_GUEST="+account)
	if out, err := reload.CombinedOutput(); err != nil {
		return fmt.Errorf("reloading the server: %w\n%s", err, out)
	}
	return nil
}

func (s settings) baseURL() string { return "http://127.0.0.1:" + s.port }

// waitUntilReady returns when the server answers that it is healthy.
func (srv *server) waitUntilReady(ctx context.Context, timeout time.Duration) error {
	limit, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	client := &http.Client{Timeout: 2 * time.Second}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-srv.exited:
			return srv.died()
		case <-limit.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("the server did not answer within %v\n%s", timeout, srv.lastLines())
		case <-tick.C:
		}
		if resp, err := client.Get(srv.baseURL() + "/healthz"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
}

// stop ends the server by its admin endpoint, which works on every system, and waits for requests in flight. It is no
// error if the server is ending already: an interrupt from the terminal reaches it as well.
func (srv *server) stop() {
	select {
	case <-srv.exited:
		return
	default:
	}
	client := &http.Client{Timeout: 5 * time.Second}
	if resp, err := client.Post("http://"+srv.admin+"/stop", "application/json", nil); err == nil {
		resp.Body.Close()
	}
	select {
	case <-srv.exited:
	case <-time.After(10 * time.Second):
		_ = srv.cmd.Process.Kill()
		<-srv.exited
	}
}

// died says that the server ended by itself, with the end of its log.
func (srv *server) died() error {
	return fmt.Errorf("the server ended (%v)\n%s", srv.cmd.ProcessState, srv.lastLines())
}

func (srv *server) lastLines() string {
	data, err := os.ReadFile(srv.log)
	if err != nil {
		return err.Error()
	}
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	if len(lines) > 10 {
		lines = lines[len(lines)-10:]
	}
	return fmt.Sprintf("the end of %s:\n%s", srv.log, bytes.Join(lines, []byte("\n")))
}
