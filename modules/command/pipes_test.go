//go:build unix

package command_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Pipes and devices are refused as region files and extracts, without waiting for their other end.
func TestNoRegularFile(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(t.TempDir(), "target.region")
	for name, args := range map[string][]string{
		"info":         {"info", pipe},
		"reverse":      {"reverse", pipe, "39", "-75"},
		"search":       {"search", pipe, "dover"},
		"match":        {"match", pipe, "-"},
		"build":        {"build", pipe, "--output", target},
		"build onto":   {"build", villageExtract(t), "--output", pipe},
		"second build": {"build", villageExtract(t), pipe, "--output", target},
	} {
		begun := time.Now()
		_, _, err := run(t, "", args...)
		if err == nil || !strings.Contains(err.Error(), pipe) || !strings.Contains(err.Error(), "regular file") {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("%s took %v", name, took)
		}
		_, _, err = run(t, "", append(args[:1:1], strings.Split(strings.ReplaceAll(strings.Join(args[1:], "\n"), pipe,
			"/dev/zero"), "\n")...)...)
		if err == nil || !strings.Contains(err.Error(), "/dev/zero") {
			t.Errorf("%s of a device: %v", name, err)
		}
	}
}

// A trace may come from a pipe, as a shell makes one. Waiting for it can be interrupted.
func TestTraceFromPipe(t *testing.T) {
	region := villageRegion(t)
	const trace = `{"path":[{"lat":39.16,"lng":-75.529},{"lat":39.16,"lng":-75.511}]}`
	want, _, err := run(t, trace, "match", region, "-", "--radius", "20")
	if err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(pipe, []byte(trace), 0o600) }()
	got, _, err := run(t, "", "match", region, pipe, "--radius", "20")
	if err != nil || got != want {
		t.Errorf("%v, %q, want %q", err, got, want)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	done := make(chan error, 1)
	go func() {
		_, _, err := runContext(t, ctx, "", "match", region, pipe)
		done <- err
	}()
	select {
	case err := <-done:
		if err == nil || err.Error() != "interrupted" {
			t.Errorf("interrupted: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("an interrupt does not end the waiting for a trace")
	}
	// Lets go of the goroutine that waits for the pipe's other end.
	if w, err := os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
		w.Close()
	}
}
