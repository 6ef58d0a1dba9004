//go:build unix

package files

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestOpenRegular(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(path("file"), []byte("content"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": "file", "pipelink": "pipe", "dangling": "nothing",
		"devicelink": "/dev/zero"} {
		if err := os.Symlink(target, path(link)); err != nil {
			t.Fatal(err)
		}
	}
	socket := filepath.Join("/tmp", filepath.Base(dir)+".sock") // the names of sockets must be short
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()

	for _, name := range []string{"file", "link"} {
		f, info, err := OpenRegular(path(name))
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(f)
		if err != nil || string(content) != "content" || info.Size() != 7 {
			t.Errorf("%s: %q, %d bytes, %v", name, content, info.Size(), err)
		}
		f.Close()
	}
	for p, want := range map[string]string{
		path("pipe"): "a named pipe", path("pipelink"): "a named pipe", dir: "a directory", socket: "a socket",
		"/dev/zero": "a device", path("devicelink"): "a device",
		path("dangling"): "no such file", path("nothing"): "no such file",
	} {
		begun := time.Now()
		f, _, err := OpenRegular(p)
		if err == nil {
			f.Close()
			t.Errorf("%s was opened", p)
			continue
		}
		var system *fs.PathError
		if !errors.As(err, &system) || !strings.Contains(err.Error(), p) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", p, err, want)
		}
		if is := errors.Is(err, ErrNotRegular); is != (want[:2] == "a ") {
			t.Errorf("%s: ErrNotRegular is %v", p, is)
		}
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("%s took %v", p, took)
		}
	}
}

// TestOpenRaced: a named pipe that replaces the file between the two checks delays no one either.
func TestOpenRaced(t *testing.T) {
	dir := t.TempDir()
	path, file, pipe := filepath.Join(dir, "path"), filepath.Join(dir, "file"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), syscall.Mkfifo(pipe, 0o600), os.Symlink(file, path)); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 2000 { // which ends only if no call waits for the other end of the pipe
			if f, _, err := OpenRegular(path); err == nil {
				f.Close()
			}
		}
	}()
	for target := pipe; ; {
		select {
		case <-done:
			return
		default:
		}
		if err := errors.Join(os.Symlink(target, path+".new"), os.Rename(path+".new", path)); err != nil {
			t.Fatal(err)
		}
		if target = file; time.Now().UnixNano()%2 == 0 {
			target = pipe
		}
	}
}
