package fetch

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const size = 1 << 20

// What the server has is fetched once, whatever validators it sends, and another file when there is one.
func TestFetch(t *testing.T) {
	first, second := content(t, 1, size), content(t, 2, size)
	for name, tc := range map[string]struct {
		etags     [2]string
		modified  [2]time.Time
		condition string // the header that asks for another file
	}{
		"strong ETag":   {etags: [2]string{`"a"`, `"b"`}, condition: "If-None-Match"},
		"weak ETag":     {etags: [2]string{`W/"a"`, `W/"b"`}, condition: "If-None-Match"},
		"Last-Modified": {modified: [2]time.Time{day(1), day(2)}, condition: "If-Modified-Since"},
		"neither":       {},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, file(first, tc.etags[0], tc.modified[0]))
			f := newFixture(t, s, filepath.Join(t.TempDir(), "x.region"))
			f.asks(t, "")
			f.has(t, first)
			f.leaves(t, ".json", ".lock")

			s.become(file(first, tc.etags[0], tc.modified[0]))
			f.asks(t, "")
			header, requests, sent := s.last(t)
			if user, password, _ := (&http.Request{Header: header}).BasicAuth(); user != "ann" || password != "hunter2" {
				t.Errorf("asked as %s", user)
			}
			if requests != 1 || sent > size || tc.condition != "" && (sent > 0 || header.Get(tc.condition) == "") {
				t.Errorf("the same file again: %d requests, %d bytes, %v", requests, sent, header)
			}
			if n := f.logs.FilterMessage("a region file was fetched").Len(); n != 1 {
				t.Errorf("the copy was replaced %d times", n)
			}

			s.become(file(second, tc.etags[1], tc.modified[1]))
			f.asks(t, "")
			f.has(t, second)
			f.leaves(t, ".json", ".lock")
			checksum, _ := f.readCopy()
			origin := ReadOrigin(f.Path, checksum)
			if origin == nil || origin.ETag != tc.etags[1] || origin.URL != s.URL+"/maps/x.region" ||
				time.Since(origin.Fetched) > time.Minute {
				t.Fatalf("the copy came from %+v", origin)
			}
			if status := f.Status(); status.Problem != "" || status.ETag != origin.ETag ||
				!status.Fetched.Equal(origin.Fetched) || status.Asked.IsZero() {
				t.Errorf("status %+v", status)
			}
		})
	}
}

// A download that was cut off leaves nothing, and the next one begins again.
func TestCutOff(t *testing.T) {
	first := content(t, 1, size)
	for name, serve := range map[string]http.HandlerFunc{
		"with a length": file(first, `"a"`, time.Time{}),
		"chunked":       func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(first) },
	} {
		s := newServer(t, nil)
		f := newFixture(t, s, filepath.Join(t.TempDir(), "x.region"))
		for _, after := range []int{5000, size / 2, len(first) - 1} {
			s.become(cut(serve, after))
			f.asks(t, "cut off after")
			f.has(t, nil)
			f.leaves(t, ".lock")
		}
		s.become(serve)
		f.asks(t, "")
		if f.has(t, first); t.Failed() {
			t.Fatal(name)
		}
	}
}

// Whatever is wrong with the server's file, the copy stays, and the problem is reported once.
func TestRefuse(t *testing.T) {
	first, second := content(t, 1, size), content(t, 2, size)
	flipped := append([]byte(nil), second...)
	flipped[len(flipped)/2] ^= 1
	older := append([]byte("\x89CMAPS\r\n\x03"), second[9:]...)
	etag := func(content []byte) http.HandlerFunc { return file(content, `"b"`, time.Time{}) }
	for name, tc := range map[string]struct {
		serve  http.HandlerFunc
		want   string
		atMost int // bytes that may be sent; what the sockets hold of a body that nobody reads counts, too
	}{
		"HTML":              {status(200), "is not a region file of caddy-maps (its Content-Type is \"text/html\")", size},
		"HTML without end":  {endless([]byte("<html>"), 0), "is not a region file", 32 << 20},
		"empty":             {etag(nil), "is not a region file", size},
		"half":              {etag(second[:size/2]), "its header says", size},
		"of another format": {etag(older), "was made by an older version", size},
		"damaged":           {etag(flipped), "does not match its checksum", 2 * size},
		"without end":       {endless(second, 0), "is longer than", 32 << 20},
		"longer":            {etag(append(second[:len(second):len(second)], 0)), "its header says", 2 * size},
		"401":               {status(401), "check the region's URL and credentials", size},
		"404":               {status(404), "answers 404 Not Found", size},
		"500":               {status(500), "answers 500 Internal Server Error", size},
		"206 unasked":       {status(206), "answers 206", size},
		"304 unasked":       {status(304), "answers 304", size},
		"ftp":               {status(302, "Location", "ftp://127.0.0.1/s1gnature"), `unsupported protocol scheme "ftp"`, size},
		"no URL":            {status(302, "Location", "http://s1gnature:x:y/"), "redirects to an invalid URL", size},
		"a loop":            {status(302, "Location", "?s1gnature"), "redirects more than 10 times", size},
		"nobody there":      {status(302, "Location", "http://127.0.0.1:1/?s1gnature"), "the request failed", size},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, file(first, "", time.Time{}))
			f := newFixture(t, s, filepath.Join(t.TempDir(), "x.region"))
			f.asks(t, "")
			s.become(tc.serve)
			f.asks(t, tc.want)
			f.has(t, first)
			f.leaves(t, ".json", ".lock")
			if _, _, sent := s.last(t); sent > tc.atMost {
				t.Errorf("%d bytes were sent", sent)
			}
			if status := f.Status(); !strings.Contains(status.Problem, tc.want) {
				t.Errorf("status %+v", status)
			}
			// A file that was refused after all of it has come is not downloaded again before the next refresh.
			if wait := f.next(f.attempt(t.Context())); (wait >= f.Refresh*9/10) != (name == "damaged") {
				t.Errorf("the next request is due in %v", wait)
			}
			if n := f.logs.FilterMessageSnippet("cannot be fetched").Len(); n != 1 {
				t.Errorf("%d lines in the log about the same problem", n)
			}
			s.become(file(second, `"c"`, time.Time{}))
			f.asks(t, "")
			f.has(t, second)
			if f.Status().Problem != "" || f.logs.FilterMessageSnippet("again").Len() != 1 {
				t.Errorf("after it: %+v", f.Status())
			}
		})
	}
}
