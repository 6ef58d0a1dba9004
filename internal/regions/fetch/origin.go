package fetch

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// Origin describes where a copy came from. It is kept as JSON beside the copy.
type Origin struct {
	// URL is the address of the file, without userinfo and query, which may be secret.
	URL string `json:"url"`
	// ETag and LastModified are the validators that the server sent, unchanged; empty if it sent none.
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"lastModified,omitempty"`
	// Fetched is when the copy was complete, or was found to have the checksum of the server's file.
	Fetched time.Time `json:"fetched,omitzero"`
	// Checksum is that of the region file that this describes. A file with another one came from somewhere else.
	Checksum string `json:"checksum,omitempty"`
	// Source tells the URL and its query from others. It is too short to reveal the query.
	Source string `json:"source,omitempty"`
}

const originSuffix = ".json"

// ReadOrigin returns what is known of a copy with the given checksum: nil if nothing can be read, or if it describes
// another file.
func ReadOrigin(path, checksum string) *Origin {
	origin := new(Origin)
	text, err := os.ReadFile(path + originSuffix)
	if err != nil || json.Unmarshal(text, origin) != nil || origin.Checksum != checksum {
		return nil
	}
	return origin
}

// write keeps what is known of the copy. If the process ends halfway, the text cannot be read, and the copy is one of
// unknown origin: it is served, and the next request has no condition.
func (o *Origin) write(path string) error {
	text, _ := json.MarshalIndent(o, "", "  ") // strings and a time cannot fail
	return os.WriteFile(path+originSuffix, append(text, '\n'), 0o644)
}

func sourceOf(u *url.URL) string {
	sum := sha256.Sum256([]byte(Redact(u) + "?" + u.RawQuery))
	return fmt.Sprintf("%x", sum[:4])
}

// Redact returns a URL as it may be shown: without userinfo, query and fragment, which hold credentials and signatures.
func Redact(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return shown.String()
}

var notSafe = regexp.MustCompile(`[^\w-]`)

// CopyPath is where a region's copy of the file at a URL is kept. It depends on neither query nor userinfo, so that the
// copy is still found after a signature or a password has changed.
func CopyPath(dir, name string, u *url.URL) string {
	sum := sha256.Sum256([]byte(name + "\n" + Redact(u)))
	return filepath.Join(dir, fmt.Sprintf("%.64s-%x.region", notSafe.ReplaceAllString(name, "_"), sum[:6]))
}
