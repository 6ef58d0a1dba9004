// Package pages has the Caddy handlers of the pages that are part of the program: `maps_start`, `maps_playground`,
// `maps_console` and `maps_docs`. Their files are embedded: web has a folder for each page, and web/shared for what
// they share. They are sent with headers that let a browser load nothing from elsewhere and run only files of the page.
//
// The pages use the API and add only `POST token` of the playground, for anonymous visitors. Start with page.go and
// header.go, then start.go, playground.go, console.go or docs.go.
package pages

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
	"github.com/mapsedge/caddy-maps/modules/app"
)

// web has a folder for each page, web/shared for all pages, and the template of their header.
//
//go:embed web
var web embed.FS

// embedded returns the files of a folder of web.
func embedded(folder string) fs.FS {
	tree, err := fs.Sub(web, "web/"+folder)
	if err != nil {
		panic(err) // fs.Sub only checks that the name is a valid path
	}
	return tree
}

// fileSet is a set of files of a page.
type fileSet struct {
	at     string // the folder of the page in which the files appear, such as `lib`; "" for the top
	fs     fs.FS
	names  []string      // the files to serve; empty for all
	maxAge time.Duration // how long browsers may cache the files; 0 makes them revalidate each time, with the ETag
}

// contentPolicy is what a page may load beyond its own files, as sources of a Content-Security-Policy.
type contentPolicy struct {
	connect      []string // further origins that scripts may send requests to
	images       []string // further sources of images, such as `data:`
	trustedTypes bool     // neither the page nor its libraries write markup as text
}

// String returns the value of the header Content-Security-Policy.
func (p contentPolicy) String() string {
	text := "default-src 'none'; script-src 'self'; style-src 'self'; img-src " +
		strings.Join(append([]string{"'self'"}, p.images...), " ") + "; connect-src " +
		strings.Join(append([]string{"'self'"}, p.connect...), " ") +
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	if p.trustedTypes {
		text += "; require-trusted-types-for 'script'; trusted-types 'none'"
	}
	return text
}

// page is a set of files in memory, ready to be sent.
type page struct {
	policy string
	files  map[string]*file // by path below the page, without a slash in front
}

// file is a file of a page. It is compressed or unpacked at its first request, since most files are not requested
// between two reloads.
type file struct {
	media        string
	cacheControl string
	plain, gzip  func() content // gzip returns nothing if it would not be smaller
}

type content struct {
	bytes []byte
	etag  string
}

// newPage reads the files of a page: those of its folder, of web/shared below `shared`, and more. Its index.html gets
// the header, and is served at the address of the page.
func newPage(folder string, policy contentPolicy, more ...fileSet) (*page, error) {
	p := &page{policy: policy.String(), files: make(map[string]*file)}
	sources := []fileSet{{at: "shared", fs: embedded("shared")}, {fs: embedded(folder)}}
	for _, source := range append(sources, more...) {
		names := source.names
		if len(names) == 0 {
			err := fs.WalkDir(source.fs, ".", func(name string, entry fs.DirEntry, err error) error {
				if err == nil && !entry.IsDir() {
					names = append(names, name)
				}
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("listing the files of a page: %w", err)
			}
		}
		for _, name := range names {
			data, err := fs.ReadFile(source.fs, name)
			if err != nil {
				return nil, fmt.Errorf("reading a file of a page: %w", err)
			}
			p.add(path.Join(source.at, name), data, source.maxAge)
		}
	}
	if _, ok := p.files["index.html"]; ok {
		index, err := withHeader(folder)
		if err != nil {
			return nil, fmt.Errorf("the header of a page: %w", err)
		}
		p.add("index.html", index, 0)
	}
	return p, nil
}

// add adds or replaces a file at a path below the page. The media type follows from the extension. A page that is being
// served must not be changed.
func (p *page) add(name string, data []byte, maxAge time.Duration) {
	p.put(name, maxAge, func() []byte { return data }, func() []byte { return compress(data) })
}

// addScopes adds scopes.json, which says which scopes the configuration uses. It is made at the first request, because
// handlers may be provisioned after the page.
func (p *page) addScopes(a *app.App) {
	data := sync.OnceValue(func() []byte {
		text, err := json.Marshal(a.ScopeUse())
		if err != nil {
			panic(err) // lists of strings
		}
		return text
	})
	p.put("scopes.json", 0, data, func() []byte { return compress(data()) })
}

// addCompressed adds a gzip-compressed file under its name without `.gz`. The data must be part of the program: if it
// cannot be unpacked, it is served as it is.
func (p *page) addCompressed(name string, data []byte, maxAge time.Duration) {
	p.put(name, maxAge, func() []byte { return unpack(data) }, func() []byte { return data })
}

func (p *page) put(name string, maxAge time.Duration, plain, compressed func() []byte) {
	f := &file{media: mediaType(name), cacheControl: "no-cache",
		plain: sync.OnceValue(func() content { return newContent(plain()) })}
	f.gzip = sync.OnceValue(func() (none content) {
		if data := compressed(); len(data) < len(f.plain().bytes) {
			return newContent(data)
		}
		return none
	})
	if maxAge > 0 {
		f.cacheControl = "public, max-age=" + strconv.FormatInt(int64(maxAge/time.Second), 10)
	}
	p.files[name] = f
}

func compress(data []byte) []byte {
	var buf bytes.Buffer
	// None of these can fail: the level is valid, and a buffer has no errors.
	w, _ := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	_, _ = w.Write(data)
	_ = w.Close()
	return buf.Bytes()
}

func unpack(data []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return data
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		return data
	}
	return plain
}

func newContent(data []byte) content {
	sum := sha256.Sum256(data)
	return content{data, `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
}

// mediaType returns the media type of a file's extension. Those of pages are fixed here, because machines' tables
// differ.
func mediaType(name string) string {
	switch ext := path.Ext(name); ext {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".json":
		return "application/json"
	case ".yaml":
		return "application/yaml"
	case ".gpx":
		return "application/gpx+xml"
	default:
		if media := mime.TypeByExtension(ext); media != "" {
			return media
		}
		return "application/octet-stream"
	}
}

// setHeaders sets the headers of every response of a page, errors and data included.
func (p *page) setHeaders(h http.Header) {
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Security-Policy", p.policy)
	// Browsers send no Origin header with a GET to the same origin. Restrictions by origin then need the Referer.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// accepts sets the headers of a response, and refuses methods that read nothing.
func (p *page) accepts(w http.ResponseWriter, r *http.Request) bool {
	p.setHeaders(w.Header())
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	apierror.Platform.Write(w, apierror.MethodNotAllowed(http.MethodGet, http.MethodHead))
	return false
}

// serve responds with the file at rest, the request's path below the page (request.Prefix.Below). The address of the
// page without its final slash, as the client sees it, is redirected, so that relative addresses work. Errors are in
// the platform style.
func (p *page) serve(w http.ResponseWriter, r *http.Request, rest string) {
	if !p.accepts(w, r) {
		return
	}
	address := r.URL.Path
	if original, ok := r.Context().Value(caddyhttp.OriginalRequestCtxKey).(http.Request); ok {
		address = original.URL.Path // handle_path makes /console and /console/ the same
	}
	if rest == "" && !strings.HasSuffix(address, "/") {
		// Relative, so that it is correct behind a proxy that serves the page at another path.
		w.Header().Set("Location", path.Base(address)+"/")
		w.WriteHeader(http.StatusPermanentRedirect)
		return
	}
	name := strings.TrimPrefix(rest, "/")
	if name == "" {
		name = "index.html"
	}
	f, ok := p.files[name]
	if !ok {
		apierror.Platform.Write(w, apierror.NotFound("not found"))
		return
	}
	f.serve(w, r)
}

func (f *file) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", f.media)
	h.Set("Cache-Control", f.cacheControl)
	c := f.plain()
	if compressed := f.gzip(); len(compressed.bytes) > 0 {
		h.Set("Vary", "Accept-Encoding")
		if request.AcceptsGzip(r.Header) {
			c = compressed
			h.Set("Content-Encoding", "gzip")
		}
	}
	h.Set("ETag", c.etag)
	if h.Get("Content-Encoding") != "" {
		r = withoutRange(r) // a range of compressed data is useless
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(c.bytes))
}

func withoutRange(r *http.Request) *http.Request {
	if r.Header.Get("Range") == "" {
		return r
	}
	r = r.Clone(r.Context())
	r.Header.Del("Range")
	return r
}
