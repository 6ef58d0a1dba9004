// Command demo shows the service at work: it builds the server and a map of Delaware, starts the server on loopback,
// makes a service account, and prints requests to paste. It serves until it is interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// The server is tied to the life of the thread that starts it (see endWithUs), and the main thread lives as long as the
// process.
func init() { runtime.LockOSThread() }

func main() {
	dir := flag.String("dir", ".demo", "`directory` for all that the demo makes")
	flag.Parse()
	endWithMake()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, *dir)
	if err != nil {
		// Ctrl-C reaches the programs that the demo runs as well, and their end may be noticed first.
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
	if ctx.Err() != nil {
		fmt.Println("demo: interrupted")
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// settings are where the demo listens and keeps its files.
type settings struct {
	dir         string // absolute
	port        string
	admin       string // host:port of Caddy's admin endpoint
	credentials string // path of the file written last
}

func run(ctx context.Context, dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	s := settings{dir: abs, port: env("MAPS_PORT", "8080"), admin: env("MAPS_ADMIN", "127.0.0.1:2029"),
		credentials: filepath.Join(abs, "credentials.json")}
	// Both before anything is touched, so that a second demo leaves the first one's files alone.
	release, err := takeDirectory(s)
	if err != nil {
		return err
	}
	defer release()
	for _, address := range []string{"127.0.0.1:" + s.port, s.admin} {
		if err := portFree(address); err != nil {
			return err
		}
	}
	if err := removeCredentials(s.credentials); err != nil {
		return err
	}
	if err := buildServer(ctx, s); err != nil {
		return err
	}
	extract, err := findExtract(ctx)
	if err != nil {
		return err
	}
	srv, err := startServer(s, extract)
	if err != nil {
		return err
	}
	defer srv.stop()
	if err := srv.waitUntilReady(ctx, time.Minute); err != nil {
		return err
	}
	creds, err := obtainCredentials(ctx, s)
	if err != nil {
		return err
	}
	if err := writeCredentials(s.credentials, creds); err != nil {
		return err
	}
	printRequests(os.Stdout, s, creds)
	select {
	case <-ctx.Done():
		return nil
	case <-srv.exited:
		return srv.died()
	}
}

func env(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}

func portFree(address string) error {
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is taken, perhaps by a demo of another directory; end what listens there, "+
			"or choose other addresses: make demo MAPS_PORT=8081 MAPS_ADMIN=127.0.0.1:2030", address)
	}
	if err != nil {
		return err
	}
	return l.Close()
}
