package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// server is the running Caddy.
type server struct {
	settings
	cmd    *exec.Cmd
	exited chan struct{}
	err    error // of Wait; set before exited is closed
}

// startServer runs `caddy maps serve`, which compiles the extract first if it is newer than its region file.
func startServer(s settings, extract string) (*server, error) {
	srv := &server{settings: s, exited: make(chan struct{})}
	srv.cmd = exec.Command(s.server(), "maps", "serve", extract, "--listen", "127.0.0.1:"+s.port,
		"--data", s.dir, "--guest")
	srv.cmd.Stderr = os.Stderr // standard output is for people who have no demo
	srv.cmd.SysProcAttr = endWithUs()
	srv.cmd.Env = append(os.Environ(), "CADDY_ADMIN="+s.admin,
		// Caddy's own files must not mix with those of another Caddy of this user.
		"XDG_CONFIG_HOME="+filepath.Join(s.dir, "config"), "XDG_DATA_HOME="+filepath.Join(s.dir, "data"))
	if err := srv.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		srv.err = srv.cmd.Wait()
		close(srv.exited)
	}()
	return srv, nil
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
			return fmt.Errorf("the server did not answer within %v", timeout)
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

// died says that the server ended by itself. It has said why on the terminal.
func (srv *server) died() error { return fmt.Errorf("the server ended (%v)", srv.cmd.ProcessState) }
