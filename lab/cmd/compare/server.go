package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// server is a running Caddy that answers from the regions of a side.
type server struct {
	side
	url    string
	client http.Client
	log    string // path of what it writes
	cmd    *exec.Cmd
	ended  chan struct{}
	free   func() // the port
}

// caddyfile has the address, the directory of the store, and the region file.
const caddyfile = `{
	admin off
	persist_config off
	log {
		level WARN
	}
	maps {
		store sqlite %[2]q
		region here %[3]q
	}
}
http://%[1]s {
	handle /v2/search/reverse-geocoding {
		maps_reverse_geocode {
			geocoder local here
			public
		}
	}
	handle /api/route/matching/ {
		maps_match {
			matcher local here
			profile car bicycle foot
			public
		}
	}
	handle /ready {
		respond ok
	}
}
`

const (
	startPatience  = time.Minute
	answerPatience = 2 * time.Minute
)

// start starts a server on loopback, which ends with ctx. All its files are in scratch.
func start(ctx context.Context, s side, scratch string) (*server, error) {
	address, free, err := testkit.ReservePort()
	if err != nil {
		return nil, err
	}
	own := filepath.Join(scratch, s.name)
	srv := &server{side: s, url: "http://" + address, client: http.Client{Timeout: answerPatience},
		log: filepath.Join(own, "log"), ended: make(chan struct{}), free: free}
	if err := srv.run(ctx, own, address); err != nil {
		free()
		return nil, err
	}
	if err := srv.ready(ctx); err != nil {
		srv.stop()
		return nil, err
	}
	return srv, nil
}

func (srv *server) run(ctx context.Context, own, address string) error {
	if err := os.MkdirAll(own, 0o700); err != nil {
		return err
	}
	config := filepath.Join(own, "Caddyfile")
	text := fmt.Sprintf(caddyfile, address, filepath.Join(own, "accounts.db"), srv.region)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	out, err := os.Create(srv.log)
	if err != nil {
		return err
	}
	defer out.Close()
	srv.cmd = exec.CommandContext(ctx, srv.binary, "run", "--config", config, "--adapter", "caddyfile")
	srv.cmd.Stdout, srv.cmd.Stderr = out, out
	srv.cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+own, "XDG_DATA_HOME="+own)
	if err := srv.cmd.Start(); err != nil {
		return err
	}
	go func() {
		_ = srv.cmd.Wait() // it is killed, or its log says why it ended
		close(srv.ended)
	}()
	return nil
}

// ready returns when the server answers.
func (srv *server) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	for {
		if status, _, err := srv.ask(ctx, &question{path: "/ready"}); err == nil && status == http.StatusOK {
			return nil
		}
		select {
		case <-srv.ended:
			return srv.failed(errors.New("it ended"))
		case <-ctx.Done():
			return srv.failed(ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// failed is an error with the end of the log.
func (srv *server) failed(err error) error {
	const end = 2000
	text, _ := os.ReadFile(srv.log) // what there is of it
	return fmt.Errorf("the server of %s: %w\n%s", srv.binary, err, text[max(0, len(text)-end):])
}

// stop kills the server.
func (srv *server) stop() {
	_ = srv.cmd.Process.Kill() // it may have ended
	<-srv.ended
	srv.free()
}

// answer asks a question until the server has room for it.
func (srv *server) answer(ctx context.Context, q *question) (text []byte, err error) {
	const attempts = 100
	for range attempts {
		status, body, err := srv.ask(ctx, q)
		if err != nil {
			return nil, srv.failed(err)
		}
		if status != http.StatusTooManyRequests && status != http.StatusServiceUnavailable {
			return body, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	return nil, srv.failed(fmt.Errorf("it has no room for %s", q.name))
}

func (srv *server) ask(ctx context.Context, q *question) (status int, body []byte, err error) {
	method := http.MethodGet
	if q.body != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, srv.url+q.path, bytes.NewReader(q.body))
	if err != nil {
		return 0, nil, err
	}
	if q.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	response, err := srv.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(response.Body)
	return response.StatusCode, body, err
}
