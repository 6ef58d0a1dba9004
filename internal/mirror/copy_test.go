package mirror

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
		"nothing has changed":   {func(*testing.T, *fixture) {}, `"a"`, false},
		"another signature":     {func(_ *testing.T, f *fixture) { f.URL.RawQuery += "2" }, "", false},
		"another URL":           {func(_ *testing.T, f *fixture) { f.URL.Path = "/other" }, "", false},
		"the copy has gone":     {func(t *testing.T, f *fixture) { remove(t, f.Path) }, "", true},
		"nothing is known":      {func(t *testing.T, f *fixture) { remove(t, f.Path+originSuffix) }, "", false},
		"the copy is damaged":   {func(_ *testing.T, f *fixture) { f.Damaged = func() bool { return true } }, "", true},
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

// A file that came whole before the process ended is checked and served, and the server asked for what is newer.
func TestEndedBeforeTheCheck(t *testing.T) {
	first := content(t, 1, size)
	s := newServer(t, file(first, `"a"`, time.Time{}))
	f := newFixture(t, s, filepath.Join(t.TempDir(), "x.region"))
	ctx, end := context.WithCancel(context.Background())
	f.Check = func(ctx context.Context, _ string) error {
		end()
		<-ctx.Done()
		return ctx.Err()
	}
	if err := f.attempt(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	f.leaves(t, ".lock", ".part", ".part.json")
	s.become(file(first, `"a"`, time.Time{}))
	f = newFixture(t, s, f.Path)
	f.asks(t, "")
	f.has(t, first)
	if header, requests, sent := s.last(t); requests != 1 || sent > 0 || header.Get("If-None-Match") != `"a"` {
		t.Errorf("%d requests, %d bytes, %v", requests, sent, header)
	}
}

// The same damaged file is not fetched again and again; another one at the same place is.
func TestRefusedTwice(t *testing.T) {
	first := content(t, 1, size)
	flipped := append([]byte(nil), first...)
	flipped[len(flipped)/2] ^= 1
	s := newServer(t, nil)
	f := newFixture(t, s, filepath.Join(t.TempDir(), "x.region"))
	for i, whole := range []bool{true, true, false, false} {
		s.become(file(flipped, `"a"`, time.Time{}))
		f.asks(t, "does not match its checksum")
		if _, _, sent := s.last(t); sent > size != whole {
			t.Errorf("attempt %d: %d bytes were sent", i+1, sent)
		}
	}
	s.become(file(first, `"b"`, time.Time{}))
	f.asks(t, "")
	f.has(t, first)
}

// What is wrong with a file is told without where it is on this machine.
func TestRefusedWithoutPath(t *testing.T) {
	for problem, want := range map[string]string{
		" has no roads": "refused: it has no roads", ": no trees": "refused: it cannot be served: no trees",
	} {
		s := newServer(t, file(content(t, 1, size), `"a"`, time.Time{}))
		f := newFixture(t, s, filepath.Join(t.TempDir(), "x.region"))
		f.Check = func(_ context.Context, path string) error { return errors.New(path + problem) }
		f.asks(t, want)
	}
}

// Two processes that keep one copy do not fetch at the same time.
func TestOneFetchesAtATime(t *testing.T) {
	first := content(t, 1, size)
	begun, goOn := make(chan struct{}, 2), make(chan struct{})
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-goOn
		file(first, `"a"`, time.Time{})(w, r)
	})
	path := filepath.Join(t.TempDir(), "x.region")
	one, other := newFixture(t, s, path), newFixture(t, s, path)
	done := make(chan error, 1)
	go func() { done <- one.attempt(context.Background()) }()
	<-begun
	other.asks(t, errBusy.Error())
	if status := other.Status(); status.Problem != nil || other.logs.Len() > 0 {
		t.Errorf("that another process fetches is no problem: %+v", status)
	}
	close(goOn)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	other.asks(t, "")
	header, requests, _ := s.last(t)
	if requests != 2 || header.Get("If-None-Match") != `"a"` || other.Status().Origin.ETag != `"a"` {
		t.Errorf("%d requests, the last with %v", requests, header)
	}
}

// Who asks while another process fetches the same copy waits for it.
func TestAskWhileAnotherFetches(t *testing.T) {
	first := content(t, 1, size)
	begun, goOn := make(chan struct{}, 100), make(chan struct{})
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-goOn
		file(first, `"a"`, time.Time{})(w, r)
	})
	path := filepath.Join(t.TempDir(), "x.region")
	one, other := newFixture(t, s, path), newFixture(t, s, path)
	done := make(chan error, 1)
	go func() { done <- one.attempt(context.Background()) }()
	<-begun
	other.Start()
	defer other.Destruct()
	short, cancel := context.WithTimeout(t.Context(), 3*busyPause)
	defer cancel()
	if err := other.Ask(short); !errors.Is(err, ErrUnderWay) {
		t.Errorf("while another process fetches: %v", err)
	}
	asked := make(chan error, 1)
	go func() { asked <- other.Ask(t.Context()) }()
	close(goOn)
	if err := errors.Join(<-done, <-asked); err != nil {
		t.Fatal(err)
	}
	other.has(t, first)
	if status := other.Status(); status.Origin == nil || status.Asked.IsZero() {
		t.Errorf("after the wait: %+v", status)
	}
}

// A server may be slow, but not silent; what is too large is not fetched.
func TestLimits(t *testing.T) {
	first := content(t, 1, 64<<10)
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
		"slow":         {slowly(8<<10, 200*time.Millisecond), 0, ""},
		"drop by drop": {slowly(1, 20*time.Millisecond), 0, "sends too little"},
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

// Credentials go to the server that they are for alone.
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
