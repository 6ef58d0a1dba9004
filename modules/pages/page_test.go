package pages

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// script is long enough to become smaller when it is compressed.
var script = strings.Repeat("const answer = 42;\n", 20)

func testPage(t *testing.T) *page {
	t.Helper()
	page, err := newPage(contentPolicy{connect: []string{"https://id.example.com"}, images: []string{"data:"}}, sharedFiles(),
		fileSet{fs: fstest.MapFS{"index.html": {Data: []byte("<!doctype html>")}, "page.js": {Data: []byte(script)}}},
		fileSet{at: "lib", names: []string{"one.js"}, maxAge: time.Hour,
			fs: fstest.MapFS{"one.js": {Data: []byte("1")}, "other.js": {Data: []byte("2")}}})
	if err != nil {
		t.Fatal(err)
	}
	return page
}

func getFile(page *page, method, target, rest string, headers ...string) *http.Response {
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	page.serve(w, r, rest)
	return w.Result()
}

func TestPageFiles(t *testing.T) {
	page := testPage(t)
	for _, test := range []struct {
		name, method, target, rest string
		status                     int
		header, want               string
	}{
		{"page", "GET", "/page/", "/", 200, "Content-Type", "text/html; charset=utf-8"},
		{"page at the top of a site", "GET", "/", "", 200, "Content-Type", "text/html; charset=utf-8"},
		{"script", "GET", "/page/page.js", "/page.js", 200, "Content-Type", "text/javascript; charset=utf-8"},
		{"head", "HEAD", "/page/page.js", "/page.js", 200, "Cache-Control", "no-cache"},
		{"shared style", "GET", "/page/shared/base.css", "/shared/base.css", 200, "Content-Type", "text/css; charset=utf-8"},
		{"library", "GET", "/page/lib/one.js", "/lib/one.js", 200, "Cache-Control", "public, max-age=3600"},
		{"library's other file", "GET", "/page/lib/other.js", "/lib/other.js", 404, "Content-Type", "application/json"},
		{"no slash", "GET", "/maps/page", "", 308, "Location", "page/"},
		{"what is not there", "GET", "/page/none.js", "/none.js", 404, "Cache-Control", "no-cache"},
		{"directory", "GET", "/page/lib/", "/lib/", 404, "Content-Type", "application/json"},
		{"dots", "GET", "/page/../page.js", "/../page.js", 404, "Content-Type", "application/json"},
		{"post", "POST", "/page/", "/", 405, "Allow", "GET, HEAD"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := getFile(page, test.method, test.target, test.rest)
			if got.StatusCode != test.status || got.Header.Get(test.header) != test.want {
				t.Errorf("%d, %s %q; want %d, %q", got.StatusCode, test.header, got.Header.Get(test.header), test.status, test.want)
			}
			want := "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self' " +
				"https://id.example.com; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
			if policy := got.Header.Get("Content-Security-Policy"); policy != want {
				t.Errorf("policy %q", policy)
			}
			if got.Header.Get("Referrer-Policy") != "same-origin" || got.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("headers %v", got.Header)
			}
		})
	}
}

func TestServeCompressed(t *testing.T) {
	page := testPage(t)
	page.addCompressed("packed.js", compress([]byte(script)), 0)
	for _, test := range []struct {
		accept string
		gzip   bool
	}{
		{"", false}, {"gzip", true}, {"br, GZIP;q=0.5", true}, {"gzip;q=0", false}, {"gzip;q=0.0", false}, {"gzipped", false},
	} {
		for _, name := range []string{"/page.js", "/packed.js"} {
			t.Run(test.accept+name, func(t *testing.T) {
				got := getFile(page, "GET", "/page"+name, name, "Accept-Encoding", test.accept, "Range", "bytes=0-")
				body, _ := io.ReadAll(got.Body)
				if compressed := got.Header.Get("Content-Encoding") == "gzip"; compressed != test.gzip {
					t.Fatalf("compressed %v", compressed)
				}
				if test.gzip {
					body = unpack(body)
				}
				if string(body) != script || got.Header.Get("Vary") != "Accept-Encoding" {
					t.Errorf("body of %d bytes, Vary %q", len(body), got.Header.Get("Vary"))
				}
				again := getFile(page, "GET", "/page"+name, name, "Accept-Encoding", test.accept,
					"If-None-Match", got.Header.Get("ETag"))
				if again.StatusCode != http.StatusNotModified {
					t.Errorf("with its ETag: %d", again.StatusCode)
				}
			})
		}
	}
}

func TestNewMissing(t *testing.T) {
	if _, err := newPage(contentPolicy{}, fileSet{fs: fstest.MapFS{}, names: []string{"gone.js"}}); err == nil ||
		!strings.Contains(err.Error(), "gone.js") {
		t.Errorf("a file that is not there: %v", err)
	}
}
