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

// Origin describes where a copy came from. It is stored as JSON beside the copy.
type Origin struct {
	// URL is the URL of the file without userinfo and query, which may be secret.
	URL string `json:"url"`
	// ETag and LastModified are the validators that the server sent; empty if it sent none.
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"lastModified,omitempty"`
	// Fetched is when the copy was downloaded, or was found to be the same file.
	Fetched time.Time `json:"fetched,omitzero"`
	// Checksum is the checksum of the region file. A file with another one has another origin.
	Checksum string `json:"checksum,omitempty"`
	// Source is a hash of the URL and its query, too short to reveal the query.
	Source string `json:"source,omitempty"`
}

const originSuffix = ".json"

// ReadOrigin returns the origin of a copy with the given checksum, or nil if it is unknown.
func ReadOrigin(path, checksum string) *Origin {
	origin := new(Origin)
	text, err := os.ReadFile(path + originSuffix)
	if err != nil || json.Unmarshal(text, origin) != nil || origin.Checksum != checksum {
		return nil
	}
	return origin
}

// write stores the origin. If it is interrupted, the origin is unknown, and the next request is unconditional.
func (o *Origin) write(path string) error {
	text, _ := json.MarshalIndent(o, "", "  ") // never fails for strings and a time
	return os.WriteFile(path+originSuffix, append(text, '\n'), 0o644)
}

func sourceOf(u *url.URL) string {
	sum := sha256.Sum256([]byte(Redact(u) + "?" + u.RawQuery))
	return fmt.Sprintf("%x", sum[:4])
}

// Redact returns a URL without userinfo, query and fragment, which may contain credentials.
func Redact(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return shown.String()
}

var notSafe = regexp.MustCompile(`[^\w-]`)

// CopyPath returns the path of a region's copy of the file at a URL. It does not depend on the query and the userinfo,
// so that the copy is found after a signature or a password has changed.
func CopyPath(dir, name string, u *url.URL) string {
	sum := sha256.Sum256([]byte(name + "\n" + Redact(u)))
	return filepath.Join(dir, fmt.Sprintf("%.64s-%x.region", notSafe.ReplaceAllString(name, "_"), sum[:6]))
}
