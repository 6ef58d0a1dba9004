package browsertest

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// A page that does what no page of ours may is caught at all of it.
func TestProblems(t *testing.T) {
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	defer elsewhere.Close()
	pages := http.NewServeMux()
	pages.HandleFunc("/policy", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Security-Policy", "script-src 'self'")
		w.Write([]byte(`<script>document.title = "inline"</script>`))
	})
	pages.HandleFunc("/exception", func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(`<script>undefinedName()</script>`))
	})
	pages.HandleFunc("/console", func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(`<script>console.error("not good")</script>`))
	})
	pages.HandleFunc("/elsewhere", func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(`<!doctype html><img src="` + elsewhere.URL + `/image.png">`))
	})
	server := httptest.NewServer(pages)
	defer server.Close()
	tab := Open(t, 400, 300)
	for _, test := range []struct{ path, want string }{
		{"/policy", "Content Security Policy"}, {"/exception", "undefinedName is not defined"}, {"/console", "not good"},
	} {
		tab.Go(server.URL + test.path)
		problems := tab.Problems()
		if !slices.ContainsFunc(problems, func(p string) bool { return strings.Contains(p, test.want) }) {
			t.Errorf("%s: problems %q, none with %q", test.path, problems, test.want)
		}
	}
	tab.Go(server.URL + "/elsewhere")
	tab.Wait("the image", "document.images[0].complete")
	if !slices.ContainsFunc(tab.Requests(), func(r Request) bool { return strings.HasPrefix(r.URL, elsewhere.URL) }) {
		t.Errorf("the request to another origin was not seen: %v", tab.Requests())
	}
}
