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

// Origin describes where a copy came from. It is kept as JSON beside the copy.
type Origin struct {
	// URL is the address of the file, without userinfo and query, which may be secret.
	URL string `json:"url"`
	// ETag and LastModified are the validators that the server sent, unchanged; empty if it sent none.
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"lastModified,omitempty"`
	// Fetched is when the copy was complete, or was found to have the checksum of the server's file.
	Fetched time.Time `json:"fetched"`
	// Checksum is that of the region file that this describes. A file with another one came from somewhere else.
	Checksum string `json:"checksum"`
	// Query tells the URL's query from another one. It is too short to reveal the query.
	Query string `json:"query,omitempty"`
}

const (
	originSuffix  = ".json"
	maxOriginSize = 64 << 10 // bytes
)

// ReadOrigin reads what is known of a copy with the given checksum. The error is fs.ErrNotExist if there is nothing, or
// if it describes another file.
func ReadOrigin(path, checksum string) (*Origin, error) {
	path += originSuffix
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
	if origin.Checksum != checksum {
		return nil, fmt.Errorf("%s: %w for this file: it describes another one", path, os.ErrNotExist)
	}
	return origin, nil
}

// writeOrigin writes what is known of the copy. If the process ends halfway, the text cannot be read, and the copy is
// one of unknown origin: it is served, and the next request has no condition.
func (m *Mirror) writeOrigin(o *Origin) error {
	text, err := json.MarshalIndent(o, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(m.Path+originSuffix, append(text, '\n'), 0o644)
}

// originOf describes the file of a response.
func (m *Mirror) originOf(h http.Header, checksum string) *Origin {
	return &Origin{URL: Redact(m.URL), Query: fingerprint(m.URL.RawQuery), ETag: h.Get("ETag"),
		LastModified: h.Get("Last-Modified"), Fetched: time.Now().UTC(), Checksum: checksum}
}

// isOf reports whether the copy came from this URL.
func (o *Origin) isOf(u *url.URL) bool {
	return o.URL == Redact(u) && o.Query == fingerprint(u.RawQuery)
}

// Redact returns a URL as it may be shown: without userinfo, query and fragment, which hold credentials and signatures.
func Redact(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return shown.String()
}

// CopyPath is where a region's copy of the file at a URL is kept. It depends on neither query nor userinfo, so that the
// copy is still found after a signature or a password has changed.
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
