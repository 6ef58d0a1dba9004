package mirror

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
			if requests != 1 || sent > size/2 || tc.condition != "" && (sent > 0 || header.Get(tc.condition) == "") {
				t.Errorf("the same file again: %d requests, %d bytes, %v", requests, sent, header)
			}
			if f.replaced != 1 {
				t.Errorf("the copy was replaced %d times", f.replaced)
			}

			s.become(file(second, tc.etags[1], tc.modified[1]))
			f.asks(t, "")
			f.has(t, second)
			f.leaves(t, ".json", ".lock")
			origin, err := ReadOrigin(f.Path, f.readCopy().checksum)
			if err != nil || origin.ETag != tc.etags[1] || origin.URL != s.URL+"/maps/x.region" ||
				time.Since(origin.Fetched) > time.Minute {
				t.Errorf("the copy came from %+v, %v", origin, err)
			}
			if status := f.Status(); status.Problem != nil || *status.Origin != *origin || status.Asked.IsZero() {
				t.Errorf("status %+v", status)
			}
		})
	}
}

// What was cut off is resumed by another process, also where the server does not play along.
func TestResume(t *testing.T) {
	first, second := content(t, 1, size), content(t, 2, size)
	good := file(first, `"a"`, time.Time{})
	for name, tc := range map[string]struct {
		begun, then http.HandlerFunc
		want        []byte
		problems    []string // of the attempts that follow, before one succeeds
		atMost      int      // bytes that may be sent after the break
		ranges      bool     // whether the rest alone is asked for
		query       string   // what is added to the query of the URL
	}{
		"the rest alone": {begun: good, then: good, want: first, atMost: size/2 + 10_000, ranges: true},
		"by Last-Modified": {begun: file(first, "", day(1)), then: file(first, "", day(1)), want: first,
			atMost: size/2 + 10_000, ranges: true},
		"without validators": {begun: file(first, "", time.Time{}), then: file(first, "", time.Time{}), want: first,
			atMost: 2 * size},
		"weak ETag": {begun: file(first, `W/"a"`, day(1)), then: file(first, `W/"a"`, day(1)), want: first,
			atMost: 2 * size},
		"another signature": {begun: good, then: good, want: first, atMost: size/2 + 10_000, ranges: true, query: "2"},
		"range ignored": {begun: good, then: func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Range")
			good(w, r)
		}, want: first, atMost: 2 * size, ranges: true},
		"another file": {begun: good, then: file(second, `"b"`, time.Time{}), want: second, atMost: 2 * size, ranges: true},
		"If-Range ignored": {begun: good, then: func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("If-Range")
			file(second, `"b"`, time.Time{})(w, r)
		}, want: second, problems: []string{"continues another file"}, atMost: 2 * size},
		"If-Range ignored, no ETag": {begun: good, then: func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("If-Range")
			file(second, "", time.Time{})(w, r)
		}, want: second, problems: []string{"that of another file"}, atMost: 3 * size},
		"another part": {begun: good, then: func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "" {
				r.Header.Set("Range", "bytes=7-")
			}
			good(w, r)
		}, want: first, problems: []string{"another part"}, atMost: 3 * size},
		"no such part": {begun: good, then: func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "" {
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
				return
			}
			good(w, r)
		}, want: first, atMost: 2 * size},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, cut(tc.begun, size/2))
			f := newFixture(t, s, filepath.Join(t.TempDir(), "x.region"))
			f.asks(t, "cut off after")
			f.has(t, nil)
			f.leaves(t, ".lock", ".part", ".part.json")

			s.become(tc.then)
			f = newFixture(t, s, f.Path)
			f.URL.RawQuery += tc.query
			for _, problem := range tc.problems {
				f.asks(t, problem)
				f.has(t, nil)
			}
			f.asks(t, "")
			f.has(t, tc.want)
			f.leaves(t, ".json", ".lock")
			header, _, sent := s.last(t)
			if sent > tc.atMost || (header.Get("Range") != "") != tc.ranges {
				t.Errorf("%d bytes were sent, of the range %q", sent, header.Get("Range"))
			}
		})
	}
}

// A file that comes in pieces is asked for soon again; one that is begun anew each time at growing intervals.
func TestCutOffAgainAndAgain(t *testing.T) {
	whole := file(content(t, 1, size), `"a"`, time.Time{})
	withoutRanges := func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Range")
		whole(w, r)
	}
	s := newServer(t, nil)
	for name, tc := range map[string]struct {
		serve http.HandlerFunc
		want  [4]int
	}{
		"in pieces":      {whole, [4]int{1, 1, 1, 1}},
		"without ranges": {withoutRanges, [4]int{1, 2, 3, 4}},
	} {
		s.become(cut(tc.serve, size/8))
		f := newFixture(t, s, filepath.Join(t.TempDir(), "x.region"))
		for i, want := range tc.want {
			f.asks(t, "cut off after")
			if f.failures != want {
				t.Errorf("%s: attempt %d counts as failure %d, want %d", name, i+1, f.failures, want)
			}
		}
		s.become(whole)
		f.asks(t, "")
		if f.failures != 0 || f.reached != (reached{}) {
			t.Errorf("%s: after the whole file: %d failures, %+v", name, f.failures, f.reached)
		}
	}
}

// Whatever is wrong with what the server has, the copy stays, and the problem is told.
func TestRefuse(t *testing.T) {
	first, second := content(t, 1, size), content(t, 2, size)
	flipped := append([]byte(nil), second...)
	flipped[len(flipped)/2] ^= 1
	older := append([]byte(nil), second...)
	older[8]--
	etag := func(content []byte) http.HandlerFunc { return file(content, `"b"`, time.Time{}) }
	for name, tc := range map[string]struct {
		serve  http.HandlerFunc
		want   string
		atMost int // bytes that may be sent; what the sockets hold of a body that nobody reads counts, too
	}{
		"HTML":              {status(200), "is not a region file of caddy-maps (it is sent as \"text/html\")", size},
		"HTML without end":  {endless([]byte("<html>"), 0), "is not a region file", 32 << 20},
		"empty":             {etag(nil), "is not a region file", size},
		"half":              {etag(second[:size/2]), "its header says", size},
		"of another format": {etag(older), "has region format", size},
		"damaged":           {etag(flipped), "does not match its checksum", 2 * size},
		"without end":       {endless(second, 0), "is longer than", 32 << 20},
		"longer":            {etag(append(second[:len(second):len(second)], 0)), "its header says", 2 * size},
		"401":               {status(401), "look at the credentials", size},
		"404":               {status(404), "upload the file", size},
		"500":               {status(500), "answers 500 Internal Server Error", size},
		"206 unasked":       {status(206), "answers 206", size},
		"304 unasked":       {status(304), "answers 304", size},
		"ftp":               {status(302, "Location", "ftp://127.0.0.1/s1gnature"), "neither http nor https", size},
		"no URL":            {status(302, "Location", "http://s1gnature:x:y/"), "redirects to what is no URL", size},
		"a loop":            {status(302, "Location", "?s1gnature"), "redirects more than 10 times", size},
		"nobody there":      {status(302, "Location", "http://127.0.0.1:1/?s1gnature"), "cannot be asked", size},
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
			if status := f.Status(); status.Problem == nil || !strings.Contains(status.Problem.Error(), tc.want) {
				t.Errorf("status %+v", status)
			}
			f.asks(t, tc.want)
			if n := f.logs.FilterMessageSnippet("cannot be fetched").Len(); n != 1 {
				t.Errorf("%d lines in the log about the same problem", n)
			}
			s.become(file(second, `"c"`, time.Time{}))
			f.asks(t, "")
			f.has(t, second)
			if f.Status().Problem != nil || f.logs.FilterMessageSnippet("again").Len() != 1 {
				t.Errorf("after it: %+v", f.Status())
			}
		})
	}
}
