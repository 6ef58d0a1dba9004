//go:build unix

package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mapsedge/caddy-maps/internal/testkit"
)

// directories are where systems install PostgreSQL outside PATH.
var directories = []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin",
	"/usr/local/opt/postgresql*/bin", "/usr/local/pgsql/bin"}

// find returns the directory of initdb and postgres.
func find() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		if _, err := exec.LookPath("postgres"); err == nil {
			return filepath.Dir(path), nil
		}
	}
	for _, pattern := range directories {
		found, _ := filepath.Glob(filepath.Join(pattern, "initdb"))
		if len(found) > 0 {
			slices.Sort(found)
			return filepath.Dir(found[len(found)-1]), nil
		}
	}
	return "", errors.New("no initdb and postgres were found")
}

// start creates a database in a temporary directory and serves it on loopback, until stop is called or this process
// ends, even by a kill.
func start() (dsn string, stop func(), err error) {
	bin, err := find()
	if err != nil {
		return "", nil, err
	}
	who, err := unprivileged()
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "caddy-maps-pg-")
	if err != nil {
		return "", nil, err
	}
	dsn, end, err := startIn(dir, bin, who)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dsn, func() {
		end()
		_ = os.RemoveAll(dir) // a temporary directory
	}, nil
}

// unprivileged returns the user for the server, since PostgreSQL refuses to run as root.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("there is no user postgres or nobody to run it as")
}

func startIn(dir, bin string, who *syscall.Credential) (dsn string, stop func(), err error) {
	if who != nil {
		if err := os.Chown(dir, int(who.Uid), int(who.Gid)); err != nil {
			return "", nil, err
		}
	}
	data := filepath.Join(dir, "data")
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "LC_ALL=C", "HOME="+dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who, Setpgid: true}
		return cmd
	}
	out, err := command(filepath.Join(bin, "initdb"), "--pgdata", data, "--username", "maps", "--auth", "trust",
		"--encoding", "UTF8", "--no-sync", "--no-instructions").CombinedOutput()
	if err != nil {
		return "", nil, fmt.Errorf("initdb: %w: %s", err, out)
	}
	host, release, err := testkit.ReservePort()
	if err != nil {
		return "", nil, err
	}
	_, port, _ := net.SplitHostPort(host)
	// The shell stops the server when its standard input ends, and so with this process, even if that is killed.
	cmd := command("/bin/sh", "-c", `"$@" </dev/null & pid=$!; cat >/dev/null; kill -INT $pid; wait $pid`, "sh",
		filepath.Join(bin, "postgres"), "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1", "-c",
		"unix_socket_directories=",
		"-c", "fsync=off", "-c", "max_connections=200", "-c", "shared_buffers=32MB")
	lifeline, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	log := new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait() // only the end matters
		close(exited)
	}()
	stop = func() {
		defer release()
		_ = lifeline.Close()
		select {
		case <-exited:
		case <-time.After(10 * time.Second):
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // its own group
			<-exited
		}
	}
	server := url.URL{Scheme: "postgres", User: url.User("maps"), Host: host, Path: "/postgres",
		RawQuery: "sslmode=disable"}
	if err := await(server.String(), exited); err != nil {
		stop()
		return "", nil, fmt.Errorf("%w\n%s", err, log)
	}
	return server.String(), stop, nil
}

func await(dsn string, exited chan struct{}) error {
	deadline := time.Now().Add(30 * time.Second)
	for {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		conn, err := pgx.Connect(ctx, dsn)
		if err == nil {
			err = conn.Close(ctx)
		}
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-exited:
			return errors.New("postgres ended")
		case <-time.After(50 * time.Millisecond):
			if time.Now().After(deadline) {
				return err
			}
		}
	}
}
