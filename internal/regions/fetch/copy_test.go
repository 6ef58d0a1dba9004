package fetch

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/regions"
)

// TestSharedCopy: two processes that share a copy do not download at the same time. One waits for the other, and then
// finds that the copy is current.
func TestSharedCopy(t *testing.T) {
	t.Parallel()
	first := content(t, 1, size)
	begun, goOn := make(chan struct{}, 2), make(chan struct{})
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-goOn
		etag(first, "a")(w, r)
	})
	one := newFixture(t, s)
	other := sharing(t, s, one.Path)
	done := make(chan error, 2)
	go func() { done <- one.attempt(t.Context()) }()
	<-begun
	other.Start()
	defer other.Destruct()
	short, cancel := context.WithTimeout(t.Context(), 3*lockRetry)
	defer cancel()
	if err := other.Poll(short); !errors.Is(err, regions.ErrUnderWay) || other.Status().Problem != "" || other.logs.Len() > 0 {
		t.Errorf("while another process fetches: %v, %+v", err, other.Status())
	}
	go func() { done <- other.Poll(t.Context()) }()
	close(goOn)
	if err := errors.Join(<-done, <-done); err != nil {
		t.Fatal(err)
	}
	other.has(t, first, ".json .lock")
	header, _, sent := s.last(t)
	if sent > size+size/2 || header.Get("If-None-Match") != `"a"` || other.Status().ETag != `"a"` {
		t.Errorf("%d bytes were sent, the last request had %v", sent, header)
	}
}

// TestKilled: a process that is killed during a download leaves the copy as it is, and the next one begins again.
func TestKilled(t *testing.T) {
	if path := os.Getenv("MIRROR_TEST_PATH"); path != "" {
		m := New(Options{URL: must(url.Parse(os.Getenv("MIRROR_TEST_URL"))), Path: path, Refresh: time.Hour, Timeout: time.Minute,
			Logger: zap.NewNop(), Watched: regions.NewWatched(regions.Options{Path: path, Awaited: true, Logger: zap.NewNop()})})
		t.Fatal(m.attempt(t.Context())) // it does not get so far
	}
	t.Parallel()
	first, second := content(t, 1, size), content(t, 2, size)
	s := newServer(t, etag(first, "a"))
	f := newFixture(t, s)
	f.asks(t, "")
	s.become(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(second[:size/2])
		<-r.Context().Done()
	})
	process := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	process.Env = append(os.Environ(), "MIRROR_TEST_PATH="+f.Path, "MIRROR_TEST_URL="+s.URL)
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	defer process.Process.Kill()
	eventually(t, "a download that has begun", func() bool {
		info, err := os.Stat(f.Path + ".part")
		return err == nil && info.Size() > size/4
	})
	_ = process.Process.Kill()
	_ = process.Wait()
	f.has(t, first, ".json .lock .part")
	s.become(etag(second, "b"))
	f.asks(t, "")
	f.has(t, second, ".json .lock")
}

// TestLimits: a server may be slow, but not silent. A file that is too large is not fetched.
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
		"slow":          {slowly(64<<10, 200*time.Millisecond), 0, ""},
		"drop by drop":  {slowly(1<<10, 50*time.Millisecond), 0, "sends too little"},
		"silent":        {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 0, "sends too little"},
		"not too large": {etag(first, "a"), int64(len(first)), ""},
		"too large":     {etag(first, "a"), int64(len(first)) - 1, "more than the"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, newServer(t, tc.serve))
			f.Timeout, f.MaxSize = time.Second, tc.max
			f.asks(t, tc.want)
		})
	}
}

// TestRedirect: credentials go only to the server that they are for, and a file that was asked for over https is not
// fetched over http.
func TestRedirect(t *testing.T) {
	t.Parallel()
	first := content(t, 1, 4096)
	for name, otherHost := range map[string]bool{"to the same host": false, "to another host": true} {
		s, other := newServer(t, nil), newServer(t, etag(first, "a"))
		target := s
		if otherHost {
			target = other
		}
		s.become(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/there" {
				etag(first, "a")(w, r)
				return
			}
			http.Redirect(w, r, target.URL+"/there", http.StatusFound)
		})
		f := newFixture(t, s)
		f.Header.Set("Authorization", "Bearer t0ken")
		f.asks(t, "")
		f.has(t, first, ".json .lock")
		header, _, _ := target.last(t)
		for field, values := range header {
			if strings.Contains(strings.Join(values, " "), "s1gnature") {
				t.Errorf("%s: %s tells the signature: %q", name, field, values)
			}
		}
		if header.Get("X-Api-Key") != "" == otherHost || header.Get("Authorization") != "" == otherHost {
			t.Errorf("%s: sent %v", name, header)
		}
	}
	open := newServer(t, etag(first, "a"))
	secret := httptest.NewTLSServer(http.RedirectHandler(open.URL, http.StatusFound))
	defer secret.Close()
	f := newFixture(t, open)
	f.URL.Scheme, f.URL.Host = "https", secret.Listener.Addr().String()
	f.client.Transport = secret.Client().Transport
	f.asks(t, "redirects from https to http")
}
