package fetch

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/regions"
)

// What the server is asked for depends on what there is, and on whether that can still be used.
func TestAskedFor(t *testing.T) {
	first := content(t, 1, size)
	serve := file(first, `"a"`, time.Time{})
	for name, tc := range map[string]struct {
		change    func(t *testing.T, f *fixture) // after the first fetch
		condition string                         // If-None-Match of the second
		whole     bool                           // whether all is fetched again
	}{
		"nothing has changed": {func(*testing.T, *fixture) {}, `"a"`, false},
		"another signature":   {func(_ *testing.T, f *fixture) { f.URL.RawQuery += "2" }, "", false},
		"another URL":         {func(_ *testing.T, f *fixture) { f.URL.Path = "/other" }, "", false},
		"the copy has gone":   {func(t *testing.T, f *fixture) { remove(t, f.Path) }, "", true},
		"nothing is known":    {func(t *testing.T, f *fixture) { remove(t, f.Path+originSuffix) }, "", false},
		"the JSON is torn": {func(t *testing.T, f *fixture) {
			if err := os.Truncate(f.Path+originSuffix, 50); err != nil {
				t.Fatal(err)
			}
		}, "", false},
		"the copy is damaged":   {func(t *testing.T, f *fixture) { f.damage(t) }, "", true},
		"the copy is no region": {func(t *testing.T, f *fixture) { write(t, f.Path, []byte("no region")) }, "", true},
		"the copy is of another format": {func(t *testing.T, f *fixture) {
			older := append([]byte(nil), first...)
			older[8]--
			write(t, f.Path, older)
		}, "", true},
		"the copy is another file": {func(t *testing.T, f *fixture) { write(t, f.Path, content(t, 2, size)) }, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, serve)
			f := newFixture(t, s, filepath.Join(t.TempDir(), "x.region"))
			f.asks(t, "")
			tc.change(t, f)
			s.become(serve)
			f.asks(t, "")
			f.has(t, first)
			f.leaves(t, ".json", ".lock")
			header, _, sent := s.last(t)
			if got := header.Get("If-None-Match"); got != tc.condition || sent > size != tc.whole {
				t.Errorf("asked with %q, and %d bytes were sent", got, sent)
			}
		})
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Two processes that share a copy do not download at the same time: one waits for the other, and then finds that it has
// what the server has.
func TestSharedCopy(t *testing.T) {
	first := content(t, 1, size)
	begun, goOn := make(chan struct{}, 2), make(chan struct{})
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-goOn
		file(first, `"a"`, time.Time{})(w, r)
	})
	path := filepath.Join(t.TempDir(), "x.region")
	one, other := newFixture(t, s, path), newFixture(t, s, path)
	done := make(chan error, 2)
	go func() { done <- one.attempt(t.Context()) }()
	<-begun
	other.Start()
	defer other.Destruct()
	short, cancel := context.WithTimeout(t.Context(), 3*lockRetry)
	defer cancel()
	if err := other.Ask(short); !errors.Is(err, regions.ErrUnderWay) {
		t.Errorf("while another process fetches: %v", err)
	}
	if status := other.Status(); status.Problem != "" || other.logs.Len() > 0 {
		t.Errorf("that another process fetches is no problem: %+v", status)
	}
	go func() { done <- other.Ask(t.Context()) }()
	close(goOn)
	if err := errors.Join(<-done, <-done); err != nil {
		t.Fatal(err)
	}
	other.has(t, first)
	header, _, sent := s.last(t)
	if sent > size+size/2 || header.Get("If-None-Match") != `"a"` || other.Status().ETag != `"a"` {
		t.Errorf("%d bytes were sent, the last request had %v", sent, header)
	}
}

// A process that is killed in the midst of a download leaves the copy as it is, and the next one begins again.
func TestKilled(t *testing.T) {
	if path := os.Getenv("MIRROR_TEST_PATH"); path != "" {
		u, err := url.Parse(os.Getenv("MIRROR_TEST_URL"))
		if err != nil {
			t.Fatal(err)
		}
		m := New(Options{URL: u, Path: path, Refresh: time.Hour, Timeout: time.Minute, Logger: zap.NewNop(),
			Watched: regions.NewWatched(regions.Options{Path: path, Awaited: true, Logger: zap.NewNop()})})
		t.Fatal(m.attempt(t.Context())) // it does not get so far
	}
	first, second := content(t, 1, size), content(t, 2, size)
	s := newServer(t, file(first, `"a"`, time.Time{}))
	f := newFixture(t, s, filepath.Join(t.TempDir(), "x.region"))
	f.asks(t, "")
	half := make(chan struct{})
	s.become(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(second[:size/2])
		close(half)
		<-r.Context().Done()
	})
	process := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	process.Env = append(os.Environ(), "MIRROR_TEST_PATH="+f.Path, "MIRROR_TEST_URL="+s.URL)
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	defer process.Wait()
	defer process.Process.Kill()
	<-half
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if info, err := os.Stat(f.Path + ".part"); err == nil && info.Size() > size/4 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the download does not begin")
		}
	}
	if err := process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = process.Wait() // it was killed
	f.has(t, first)
	f.leaves(t, ".json", ".lock", ".part")
	s.become(file(second, `"b"`, time.Time{}))
	f.asks(t, "")
	f.has(t, second)
	f.leaves(t, ".json", ".lock")
}

// A server may be slow, but not silent; what is too large is not fetched.
func TestLimits(t *testing.T) {
	first := content(t, 1, size)
	slowly := func(bytes int, pause time.Duration) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for rest := first; len(rest) > 0; rest = rest[min(len(rest), bytes):] {
				if _, err := w.Write(rest[:min(len(rest), bytes)]); err != nil {
					return
				}
				time.Sleep(pause)
			}
		}
	}
	for name, tc := range map[string]struct {
		serve http.HandlerFunc
		max   int64
		want  string
	}{
		"slow":         {slowly(64<<10, 200*time.Millisecond), 0, ""},
		"drop by drop": {slowly(1<<10, 50*time.Millisecond), 0, "sends too little"},
		"silent": {func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
		}, 0, "sends too little"},
		"not too large": {slowly(len(first), 0), int64(len(first)), ""},
		"too large":     {slowly(len(first), 0), int64(len(first)) - 1, "more than the"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, newServer(t, tc.serve), filepath.Join(t.TempDir(), "x.region"))
			f.Timeout, f.MaxSize = time.Second, tc.max
			f.asks(t, tc.want)
			if tc.want == "" {
				f.has(t, first)
			}
		})
	}
}

// Credentials go only to the server that they are for.
func TestRedirect(t *testing.T) {
	first := content(t, 1, 4096)
	for name, otherHost := range map[string]bool{"to the same host": false, "to another host": true} {
		s, other := newServer(t, nil), newServer(t, file(first, "", time.Time{}))
		target := s
		if otherHost {
			target = other
		}
		s.become(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/there" {
				file(first, "", time.Time{})(w, r)
				return
			}
			http.Redirect(w, r, target.URL+"/there", http.StatusFound)
		})
		f := newFixture(t, s, filepath.Join(t.TempDir(), "x.region"))
		f.Header.Set("Authorization", "Bearer t0ken")
		f.asks(t, "")
		f.has(t, first)
		header, _, _ := target.last(t)
		for _, field := range []string{"X-Api-Key", "Authorization"} {
			if sent := header.Get(field) != ""; sent == otherHost {
				t.Errorf("%s: %s was sent: %v", name, field, sent)
			}
		}
		for field, values := range header {
			if strings.Contains(strings.Join(values, " "), "s1gnature") {
				t.Errorf("%s: %s tells the signature: %q", name, field, values)
			}
		}
	}
}

// What was asked for in secret is not fetched in the open.
func TestRedirectToHTTP(t *testing.T) {
	open := newServer(t, file(content(t, 1, 4096), "", time.Time{}))
	secret := httptest.NewTLSServer(http.RedirectHandler(open.URL, http.StatusFound))
	defer secret.Close()
	f := newFixture(t, open, filepath.Join(t.TempDir(), "x.region"))
	f.URL.Scheme, f.URL.Host = "https", secret.Listener.Addr().String()
	f.client.Transport = secret.Client().Transport
	f.asks(t, "redirects from https to http")
}
