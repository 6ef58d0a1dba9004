// Package webpage serves the pages that are part of the program: files that are embedded in it, with headers that let
// a browser load nothing from elsewhere and run nothing that does not come as a file of the page.
package webpage

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
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

	"github.com/mapsedge/caddy-maps/internal/web/apierror"
	"github.com/mapsedge/caddy-maps/internal/web/request"
)

// shared is what every page is made with: the look, the token in memory, and how the document is changed.
//
//go:embed shared
var shared embed.FS

// Shared returns the files that all pages have in common, to be served below `shared`.
func Shared() Files { return Files{At: "shared", FS: sub(shared, "shared")} }

// sub is fs.Sub of a directory that is embedded, so that it cannot fail.
func sub(f embed.FS, dir string) fs.FS {
	tree, err := fs.Sub(f, dir)
	if err != nil {
		panic(err) // the name is a constant, and a valid one
	}
	return tree
}

// Files are files of a page.
type Files struct {
	// At is the directory of the page in which they appear, such as `lib`; "" for the top.
	At string
	FS fs.FS
	// Names lists the files to serve; all of FS where it is empty.
	Names []string
	// MaxAge is for how long a browser need not ask again. Without one it asks each time, and is told by the ETag that
	// nothing has changed.
	MaxAge time.Duration
}

// Policy is what a page may do beyond nothing. The values are sources of the Content-Security-Policy, such as 'self'.
type Policy struct {
	// Connect lists sources beyond the page's own origin that scripts may ask.
	Connect []string
	// Images lists sources beyond the page's own origin that images may come from, such as `data:`.
	Images []string
	// TrustedTypes is set where neither the page nor its libraries write markup as text.
	TrustedTypes bool
}

// String returns the value of the header Content-Security-Policy.
func (p Policy) String() string {
	text := "default-src 'none'; script-src 'self'; style-src 'self'; img-src " +
		strings.Join(append([]string{"'self'"}, p.Images...), " ") + "; connect-src " +
		strings.Join(append([]string{"'self'"}, p.Connect...), " ") +
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	if p.TrustedTypes {
		text += "; require-trusted-types-for 'script'; trusted-types 'none'"
	}
	return text
}

// Page is a set of files in memory, ready to be sent.
type Page struct {
	policy string
	files  map[string]*file // by path below the page, without a slash in front
}

// file is a file of a page. Most pages are never asked for between two reloads of the configuration, so that it is
// compressed, or unpacked, when the first request for it comes.
type file struct {
	media        string
	cacheControl string
	plain, gzip  func() content // gzip's is empty where it would not be smaller
}

type content struct {
	bytes []byte
	etag  string
}

// New reads the files of a page. `index.html` at the top is what its address shows.
func New(policy Policy, sources ...Files) (*Page, error) {
	p := &Page{policy: policy.String(), files: make(map[string]*file)}
	for _, source := range sources {
		names := source.Names
		if len(names) == 0 {
			err := fs.WalkDir(source.FS, ".", func(name string, entry fs.DirEntry, err error) error {
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
			data, err := fs.ReadFile(source.FS, name)
			if err != nil {
				return nil, fmt.Errorf("reading a file of a page: %w", err)
			}
			p.Add(path.Join(source.At, name), data, source.MaxAge)
		}
	}
	return p, nil
}

// Add adds a file under a path below the page, in place of one that has it already. Its type is that of its extension.
// A page that is being served must not be changed.
func (p *Page) Add(name string, data []byte, maxAge time.Duration) {
	p.add(name, maxAge, func() []byte { return data }, func() []byte { return compress(data) })
}

// AddCompressed is Add for a file that comes compressed by gzip, under its name without the ending for that. The data
// has to be part of the program: what cannot be unpacked is served as it is.
func (p *Page) AddCompressed(name string, data []byte, maxAge time.Duration) {
	p.add(name, maxAge, func() []byte { return unpack(data) }, func() []byte { return data })
}

func (p *Page) add(name string, maxAge time.Duration, plain, compressed func() []byte) {
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
	// Neither can fail: the level is a valid one, and the buffer takes what comes.
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

// mediaType is that of a file's extension. Those of pages are written here, since the tables of machines differ.
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

// SetHeaders sets what every answer of a page carries, its errors and its data too. Nothing is kept that does not say
// for how long: what is not there today may be tomorrow.
func (p *Page) SetHeaders(h http.Header) {
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Security-Policy", p.policy)
	// Browsers send no Origin with a GET to the page's own origin, so that only the Referer tells where it comes from.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}

// Serve answers with the file at rest, which is the request's path below the page as request.Prefix.Below gives it.
// Without its last slash the page's own address is redirected, for relative addresses to work. What is not there is
// 404, and a method other than GET and HEAD 405, in the platform style.
func (p *Page) Serve(w http.ResponseWriter, r *http.Request, rest string) {
	p.SetHeaders(w.Header())
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		apierror.Platform.Write(w, apierror.MethodNotAllowed(http.MethodGet, http.MethodHead))
		return
	}
	if rest == "" && !strings.HasSuffix(r.URL.Path, "/") {
		// Relative, so that it is right behind a proxy that has moved the page, too.
		w.Header().Set("Location", path.Base(r.URL.Path)+"/")
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
		r = withoutRange(r) // a range of what is compressed is of no use to anybody
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
