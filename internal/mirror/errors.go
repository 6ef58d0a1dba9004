package mirror

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"
)

var (
	errBusy   = errors.New("another process is fetching the same file")
	errSilent = errors.New("the server sends too little; look at it and the way to it, or let the timeout be longer")
)

// statusError is an answer that is no file.
type statusError struct {
	status     int
	retryAfter time.Duration
}

// Error says what the status means for whoever runs this server.
func (e *statusError) Error() string {
	text := fmt.Sprintf("the server answers %d %s", e.status, http.StatusText(e.status))
	switch e.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		text += "; look at the credentials in the region's header or URL"
	case http.StatusNotFound, http.StatusGone:
		text += "; look at the region's URL, or upload the file"
	}
	return text
}

// brokenError is a file that did not come whole.
type brokenError struct {
	checksum   string // of the file, where its first page has come
	have, size int64  // bytes: of all attempts, and of the file
	err        error
}

func (e *brokenError) Error() string {
	return fmt.Sprintf("cut off after %s of %s, and resumed soon: %v", humanize.IBytes(uint64(e.have)),
		humanize.IBytes(uint64(e.size)), e.err)
}

func (e *brokenError) Unwrap() error { return e.err }

// refusedError is a file that must not take the place of the copy.
type refusedError struct{ err error }

func (e *refusedError) Error() string {
	return fmt.Sprintf("what the server has is refused: it %v; upload a file that `caddy maps info --verify` accepts",
		e.err)
}

func (e *refusedError) Unwrap() error { return e.err }

// reached remembers how far a file came before it was cut off.
type reached struct {
	checksum string
	bytes    int64
}

// extendedBy reports whether an attempt came further than those before it. An origin that begins anew each time, and is
// cut off each time, never gets to the end.
func (r *reached) extendedBy(b *brokenError) bool {
	if b.have == 0 || b.checksum == r.checksum && b.have <= r.bytes {
		return false
	}
	*r = reached{b.checksum, b.have}
	return true
}

// refusal remembers a file that was refused after all of it had come.
type refusal struct {
	origin Origin
	err    error
	times  int
}

// isOf reports whether a file with a checksum and an origin is the one that was refused. Without validators nobody
// knows: an upload that went wrong may have been repeated.
func (r *refusal) isOf(checksum string, o *Origin) bool {
	return r.origin.Checksum == checksum && r.origin.ETag == o.ETag && r.origin.LastModified == o.LastModified &&
		(o.ETag != "" || o.LastModified != "")
}

// maxRefusals is how often the same file is fetched whole, and refused. What was damaged on its way may be good the
// second time; what is damaged at the origin stays so.
const maxRefusals = 2

// withoutURL takes the URL out of an error of net/http, since its query and userinfo may be secret, also those of a URL
// that was redirected to.
func withoutURL(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

// retryAfter reads the header, in seconds or as a date; 0 where there is none that can be read.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	var wait time.Duration
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if date, err := http.ParseTime(text); err == nil {
		wait = time.Until(date)
	}
	return min(max(wait, 0), maxRetryAfter)
}
