package mirror

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mapsedge/caddy-maps/internal/regularfile"
)

// Origin is what is known of where a copy came from. It is kept as JSON beside the copy.
type Origin struct {
	// URL is the address that was asked, without userinfo and query, which may be secret.
	URL string `json:"url"`
	// ETag and LastModified are the validators that the server sent, as they came; empty where it sent none.
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"lastModified,omitempty"`
	// Fetched is when the copy was complete, or last found to be what the origin has.
	Fetched time.Time `json:"fetched"`
	// Checksum is that of the region file which this is about. Another file beside it came from somewhere else.
	Checksum string `json:"checksum"`
	// Query tells the URL's query from another one. It is too short to say what the query is.
	Query string `json:"query,omitempty"`
}

const (
	originSuffix  = ".json"
	maxOriginSize = 64 << 10 // bytes; what a server sends in its header is limited to less
)

// ReadOrigin reads what is beside a copy of the given checksum. The error is fs.ErrNotExist where nothing is, or where
// it is about another file.
func ReadOrigin(path, checksum string) (*Origin, error) {
	origin, err := readOriginFile(path + originSuffix)
	if err != nil {
		return nil, err
	}
	if origin.Checksum != checksum {
		return nil, fmt.Errorf("%s: %w for this file: it is about another one", path+originSuffix, os.ErrNotExist)
	}
	return origin, nil
}

func readOriginFile(path string) (*Origin, error) {
	file, _, err := regularfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxOriginSize))
	if err != nil {
		return nil, err
	}
	origin := new(Origin)
	if err := json.Unmarshal(text, origin); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return origin, nil
}

// write replaces the JSON at a path.
func (o *Origin) write(path string) error {
	text, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// isOf reports whether the origin is what a URL leads to.
func (o *Origin) isOf(u *url.URL) bool {
	return o.URL == Redact(u) && o.Query == fingerprint(u.RawQuery)
}

// originOf is what the header of an answer says of the content.
func (m *Mirror) originOf(h http.Header) *Origin {
	return &Origin{URL: Redact(m.URL), Query: fingerprint(m.URL.RawQuery),
		ETag: h.Get("ETag"), LastModified: h.Get("Last-Modified")}
}

// setConditions asks for an answer only if it is about another content than this.
func (o *Origin) setConditions(h http.Header) {
	switch {
	case o.ETag != "":
		h.Set("If-None-Match", o.ETag)
	case o.LastModified != "":
		h.Set("If-Modified-Since", o.LastModified)
	}
}

// rangeValidator is what If-Range can name; empty where the origin sends nothing that tells every byte apart.
func (o *Origin) rangeValidator() string {
	switch {
	case strings.HasPrefix(o.ETag, "W/"):
		return ""
	case o.ETag != "":
		return o.ETag
	}
	return o.LastModified
}

// Redact returns a URL as it may be shown: without userinfo, query and fragment, where credentials and signatures are.
func Redact(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return shown.String()
}

// CopyPath is where the copy of what a URL leads to is kept for a region. It depends on the query as little as on
// userinfo, so that a new signature keeps what has been fetched with the one before.
func CopyPath(dir, name string, u *url.URL) string {
	safe := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, name)
	sum := sha256.Sum256([]byte(name + "\n" + Redact(u)))
	return filepath.Join(dir, fmt.Sprintf("%.64s-%s.region", safe, hex.EncodeToString(sum[:6])))
}

func fingerprint(query string) string {
	if query == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(query))
	return hex.EncodeToString(sum[:4])
}
