package integration

import (
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What a page loads of our own, JavaScript and CSS, is small enough to be sent and read as it is.
func TestPageSize(t *testing.T) {
	leaveOut(t, "checks files")
	t.Parallel()
	const most, mostOfPlayground = 80_000, 96_000                            // bytes; the playground also routes and searches
	own := regexp.MustCompile(`(?:src|href|from)[= ]"([^":]+\.(?:js|css))"`) // of this server
	s := sharedServer(t)
	for _, page := range []struct {
		at    string
		files []string // some that it has to load
	}{
		{"/", []string{"/start/start.js", "/start/shared/base.css"}},
		{"/playground/", []string{"/playground/style.js", "/playground/shared/session.js", "/playground/playground.css"}},
		{"/console/", []string{"/console/login.js", "/console/shared/base.css"}},
		{"/docs/", []string{"/docs/docs.js", "/docs/shared/header.js"}},
	} {
		size, files := 0, []string{page.at}
		for i := 0; i < len(files); i++ {
			body := s.send(t, call{path: files[i]}).want(http.StatusOK).body
			if i > 0 {
				size += len(body)
			}
			for _, found := range own.FindAllSubmatch(body, -1) {
				file := path.Join(path.Dir(files[i]), string(found[1]))
				if !strings.HasPrefix(file, page.at+"lib/") && !slices.Contains(files, file) {
					files = append(files, file)
				}
			}
		}
		t.Logf("%s loads %d bytes of our own in %d files", page.at, size, len(files)-1)
		for _, file := range page.files {
			if !slices.Contains(files, file) {
				t.Errorf("%s loads %q, not %s", page.at, files, file)
			}
		}
		limit := most
		if page.at == "/playground/" {
			limit = mostOfPlayground
		}
		if size > limit {
			t.Errorf("%s loads %d bytes of our own, of at most %d", page.at, size, limit)
		}
	}
}
