package main

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWriteCredentials(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "credentials.json")
	for _, want := range []credentials{
		{BaseURL: "http://127.0.0.1:8080", UserToken: "u", ClientToken: "c", ServerToken: "s",
			AccessToken: "a", RefreshToken: "r"},
		{BaseURL: "http://127.0.0.1:8081"}, // replaces the first
	} {
		if err := writeCredentials(path, want); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var got credentials
		if err := json.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("mode is %v, want 0600", mode)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left in the directory: %v, %v", entries, err)
	}
}

// The addresses of the pages come last, and no line has a long token.
func TestPagesComeLast(t *testing.T) {
	var out strings.Builder
	token := strings.Repeat("x", 53)
	printRequests(&out, settings{}, credentials{BaseURL: "http://127.0.0.1:8080", ClientToken: token, ServerToken: token,
		UserToken: strings.Repeat("u", 600)})
	_, pages, found := strings.Cut(out.String(), "\nstart page")
	if !found || strings.Contains(pages, "curl") || strings.Contains(out.String(), "uuu") {
		t.Errorf("%s", out.String())
	}
	for _, address := range []string{"/\n", "/playground/\n", "/docs/\n"} {
		if !strings.Contains(pages, "  http://127.0.0.1:8080"+address) {
			t.Errorf("%s is not among the last of\n%s", address, out.String())
		}
	}
}

func TestTakenPortIsNamed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	err = portFree(l.Addr().String())
	if err == nil || !strings.Contains(err.Error(), l.Addr().String()+" is taken") {
		t.Errorf("error %v does not say that %s is taken", err, l.Addr())
	}
	// A demo that finds its port taken leaves the credentials of the running one untouched.
	dir := t.TempDir()
	path := filepath.Join(dir, "credentials.json")
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	t.Setenv("MAPS_PORT", port)
	if err := run(t.Context(), dir); err == nil {
		t.Error("ran on a port that is taken")
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// A second demo in the same directory, on any ports, says that one is running and does not touch its files.
func TestSecondDemo(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "credentials.json")
	first := settings{dir: dir, port: "12345", credentials: path}
	release, err := takeDirectory(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeCredentials(path, credentials{BaseURL: first.baseURL()}); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("MAPS_PORT", "0")
	t.Setenv("MAPS_ADMIN", "127.0.0.1:0")
	err = run(t.Context(), dir)
	if err == nil || !strings.Contains(err.Error(), "running already") ||
		!strings.Contains(err.Error(), first.baseURL()) || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second demo: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the credentials are %q, %v", after, err)
	}
	release()
	if release, err = takeDirectory(first); err != nil {
		t.Fatalf("after the end of the first: %v", err)
	}
	release()
}

// A demo that is killed while it writes its credentials leaves a file with secrets, which the next one removes.
func TestUnfinishedCredentials(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "credentials.json")
	for _, name := range []string{path, filepath.Join(dir, unfinished+"123"), filepath.Join(dir, "server.log")} {
		if err := os.WriteFile(name, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := removeCredentials(path); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != "server.log" {
		t.Errorf("left are %v, %v", entries, err)
	}
}
