package fetch

import (
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

const size = 1 << 20

// etag serves a file with an ETag of one letter.
func etag(content []byte, letter string) http.HandlerFunc {
	return file(content, `"`+letter+`"`, time.Time{})
}

// TestFetch: the server's file is fetched once, with any validators that it sends, and another file when there is one.
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
			t.Parallel()
			s := newServer(t, file(first, tc.etags[0], tc.modified[0]))
			f := newFixture(t, s)
			f.asks(t, "")
			f.has(t, first, ".json .lock")

			s.become(file(first, tc.etags[0], tc.modified[0]))
			f.asks(t, "")
			header, requests, sent := s.last(t)
			if user, password, _ := (&http.Request{Header: header}).BasicAuth(); user != "ann" || password != "hunter2" {
				t.Errorf("asked as %s", user)
			}
			if requests != 1 || sent > size || tc.condition != "" && (sent > 0 || header.Get(tc.condition) == "") ||
				f.logs.FilterMessage("a region file was fetched").Len() != 1 {
				t.Errorf("the same file again: %d requests, %d bytes, %v", requests, sent, header)
			}

			s.become(file(second, tc.etags[1], tc.modified[1]))
			f.asks(t, "")
			f.has(t, second, ".json .lock")
			checksum, _ := f.readCopy()
			origin, status := ReadOrigin(f.Path, checksum), f.Status()
			if origin == nil || origin.ETag != tc.etags[1] || origin.URL != s.URL+"/maps/x.region" ||
				time.Since(origin.Fetched) > time.Minute || status.Problem != "" || status.ETag != origin.ETag ||
				!status.Fetched.Equal(origin.Fetched) || status.Asked.IsZero() {
				t.Errorf("the copy came from %+v, status %+v", origin, status)
			}
		})
	}
}

// TestAskedFor: the request depends on what there is, and on whether that can still be used.
func TestAskedFor(t *testing.T) {
	first, second := content(t, 1, size), content(t, 2, size)
	older := append([]byte(nil), first...)
	older[8]--
	for name, tc := range map[string]struct {
		change    func(t *testing.T, f *fixture) // after the first fetch
		condition string                         // If-None-Match of the second
		whole     bool                           // whether all is fetched again
	}{
		"nothing has changed":           {func(*testing.T, *fixture) {}, `"a"`, false},
		"another signature":             {func(_ *testing.T, f *fixture) { f.URL.RawQuery += "2" }, "", false},
		"another URL":                   {func(_ *testing.T, f *fixture) { f.URL.Path = "/other" }, "", false},
		"the copy has gone":             {func(_ *testing.T, f *fixture) { _ = os.Remove(f.Path) }, "", true},
		"nothing is known":              {func(_ *testing.T, f *fixture) { _ = os.Remove(f.Path + originSuffix) }, "", false},
		"the JSON is torn":              {func(t *testing.T, f *fixture) { write(t, f.Path+originSuffix, []byte("{")) }, "", false},
		"the copy is damaged":           {func(t *testing.T, f *fixture) { f.damage(t) }, "", true},
		"the copy is no region":         {func(t *testing.T, f *fixture) { write(t, f.Path, []byte("no region")) }, "", true},
		"the copy is of another format": {func(t *testing.T, f *fixture) { write(t, f.Path, older) }, "", true},
		"the copy is another file":      {func(t *testing.T, f *fixture) { write(t, f.Path, second) }, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, etag(first, "a"))
			f := newFixture(t, s)
			f.asks(t, "")
			tc.change(t, f)
			s.become(etag(first, "a"))
			f.asks(t, "")
			f.has(t, first, ".json .lock")
			header, _, sent := s.last(t)
			if got := header.Get("If-None-Match"); got != tc.condition || sent > size != tc.whole {
				t.Errorf("asked with %q, and %d bytes were sent", got, sent)
			}
		})
	}
}

// TestCutOff: a download that was cut off leaves nothing, and the next one begins again.
func TestCutOff(t *testing.T) {
	t.Parallel()
	first := content(t, 1, size)
	for _, serve := range []http.HandlerFunc{
		etag(first, "a"), // with a length
		func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(first) }, // chunked
	} {
		s := newServer(t, nil)
		f := newFixture(t, s)
		for _, after := range []int{5000, size / 2, len(first) - 1} {
			s.become(cut(serve, after))
			f.asks(t, "cut off after")
			f.has(t, nil, ".lock")
		}
		s.become(serve)
		f.asks(t, "")
		f.has(t, first, ".json .lock")
	}
}

// TestRefuse: when anything is wrong with the server's file, the copy stays, and the problem is reported once.
func TestRefuse(t *testing.T) {
	first, second := content(t, 1, size), content(t, 2, size)
	flipped := append([]byte(nil), second...)
	flipped[len(flipped)/2] ^= 1
	older := append([]byte("\x89CMAPS\r\n\x03"), second[9:]...)
	for name, tc := range map[string]struct {
		serve  http.HandlerFunc
		want   string
		atMost int // bytes that may be sent, those included that the sockets hold of a body that is not read
	}{
		"HTML":              {status(200), "is not a region file of caddy-maps (its Content-Type is \"text/html\")", size},
		"HTML without end":  {endless([]byte("<html>")), "is not a region file", 32 << 20},
		"empty":             {etag(nil, "b"), "is not a region file", size},
		"half":              {etag(second[:size/2], "b"), "its header says", size},
		"of another format": {etag(older, "b"), "was made by an older version", size},
		"damaged":           {etag(flipped, "b"), "does not match its checksum", 2 * size},
		"without end":       {endless(second), "is longer than", 32 << 20},
		"longer":            {etag(append(second[:len(second):len(second)], 0), "b"), "its header says", 2 * size},
		"401":               {status(401), "check the region's URL and credentials", size},
		"404":               {status(404), "answers 404 Not Found", size},
		"500":               {status(500), "answers 500 Internal Server Error", size},
		"206 unasked":       {status(206), "answers 206", size},
		"304 unasked":       {status(304), "answers 304", size},
		"ftp":               {status(302, "Location", "ftp://127.0.0.1/s1gnature"), `unsupported protocol scheme "ftp"`, size},
		"no URL":            {status(302, "Location", "http://s1gnature:x:y/"), "redirects to an invalid URL", size},
		"a loop":            {status(302, "Location", "?s1gnature"), "redirects more than 10 times", size},
		"no server there":   {status(302, "Location", "http://127.0.0.1:1/?s1gnature"), "the request failed", size},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, file(first, "", time.Time{}))
			f := newFixture(t, s)
			f.asks(t, "")
			s.become(tc.serve)
			f.asks(t, tc.want)
			f.has(t, first, ".json .lock")
			if _, _, sent := s.last(t); sent > tc.atMost || !strings.Contains(f.Status().Problem, tc.want) {
				t.Errorf("%d bytes were sent, status %+v", sent, f.Status())
			}
			// A file that was refused after all of it has come is not downloaded again before the next refresh.
			if wait := f.next(f.attempt(t.Context())); (wait >= f.Refresh*9/10) != (name == "damaged") {
				t.Errorf("the next request is due in %v", wait)
			}
			if n := f.logs.FilterMessageSnippet("cannot be fetched").Len(); n != 1 {
				t.Errorf("%d lines in the log about the same problem", n)
			}
			s.become(etag(second, "c"))
			f.asks(t, "")
			f.has(t, second, ".json .lock")
			if f.Status().Problem != "" || f.logs.FilterMessageSnippet("again").Len() != 1 {
				t.Errorf("after it: %+v", f.Status())
			}
		})
	}
}
