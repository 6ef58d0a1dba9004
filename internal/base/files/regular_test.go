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
	socket := filepath.Join("/tmp", filepath.Base(dir)+".sock") // the names of sockets have to be short
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

// TestOpenRaced: a named pipe that takes the file's place between the two looks keeps nobody waiting either.
func TestOpenRegularRaced(t *testing.T) {
	dir := t.TempDir()
	path, file, pipe := filepath.Join(dir, "path"), filepath.Join(dir, "file"), filepath.Join(dir, "pipe")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	swap := func(target string) {
		if err := os.Symlink(target, path+".new"); err != nil {
			t.Error(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Error(err)
		}
	}
	swap(file)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				swap(pipe)
				swap(file)
			}
		}
	}()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 2000 {
			if f, _, err := OpenRegular(path); err == nil {
				f.Close()
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Error("opening waits for the other end of a pipe")
	}
	close(stop)
	<-stopped
}
