// Package httpjson reads JSON request bodies as the service's endpoints want them, and writes JSON answers: bounded,
// strict, and with errors that name the field.
package request

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/web/admission"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
)

// SmallBody is the limit, in bytes, of the bodies of tokens, accounts and the admin API.
const SmallBody = 16 << 10

// ContentType returns the media type of a request's body without its parameters, in lower case; "application/json"
// where the request names none. ok is false if it cannot be read as text in UTF-8: a malformed header, another
// charset, or a content encoding.
func ContentType(r *http.Request) (media string, ok bool) {
	if enc := r.Header.Get("Content-Encoding"); enc != "" && !strings.EqualFold(enc, "identity") {
		return "", false
	}
	header := r.Header.Get("Content-Type")
	if header == "" {
		return "application/json", true
	}
	media, params, err := mime.ParseMediaType(header)
	if err != nil {
		return "", false
	}
	if charset, has := params["charset"]; has && !strings.EqualFold(charset, "utf-8") &&
		!strings.EqualFold(charset, "us-ascii") {
		return "", false
	}
	return media, true
}

const (
	// bodyCost is the memory that a byte of a body counts for: for itself, and for what it takes to understand it.
	bodyCost = 2
	// firstPart is how much memory a body gets before any of it has come, in bytes.
	firstPart = 32 << 10
)

// ReadBody reads a request's body of at most limit bytes. The error is an apierror.Error: TooLarge, Busy where there
// is no memory for it, RequestTimeout for one that the server has given up waiting for, or FailedValidation for one
// that broke off.
func ReadBody(r *http.Request, limit int64, hold *admission.Hold) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	if r.ContentLength > limit {
		linger(r, limit)
		return nil, apierror.TooLarge()
	}
	body, err := Receive(r, limit, hold)
	var maxBytes *http.MaxBytesError
	var busy *admission.OverloadError
	switch {
	case err == nil:
		return body, nil
	case errors.Is(err, ErrBodyTooLarge):
		linger(r, limit)
		return nil, apierror.TooLarge()
	case errors.As(err, &maxBytes):
		return nil, apierror.TooLarge()
	case errors.As(err, &busy):
		linger(r, limit)
		return nil, apierror.Busy(busy.RetryAfter)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, apierror.RequestTimeout()
	}
	return nil, apierror.FailedValidation("body: it ended early")
}

// ErrBodyTooLarge is the error of Receive for a body that is larger than the limit.
var ErrBodyTooLarge = errors.New("the body is larger than the limit")

// Receive reads a body of at most limit bytes into memory that hold has to allow, for as long as the body is used. It
// takes memory as it comes, whatever length it claims to have. The error is ErrTooLarge, after one byte more than the
// limit, an *admission.OverloadError, the error of the request's context or that of the body; with it comes what was
// read before.
func Receive(r *http.Request, limit int64, hold *admission.Hold) (body []byte, err error) {
	expected := min(limit, r.ContentLength) // where it ends, as far as that is known
	if r.ContentLength < 0 {
		expected = min(limit, firstPart)
	}
	from := &polite{Reader: r.Body}
	for {
		if err := hold.Resize(r.Context(), bodyCost*expected); err != nil {
			return body, err
		}
		switch body, err = readUpTo(from, body, expected); {
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return body, err
		case expected >= limit:
			return body, ErrBodyTooLarge
		}
		expected = min(limit, max(4*expected, firstPart)) // more than before, whatever length was claimed
	}
}

// readUpTo reads a body until it ends, which is io.EOF, or is longer than expected.
func readUpTo(from io.Reader, body []byte, expected int64) ([]byte, error) {
	for int64(len(body)) <= expected {
		if len(body) == cap(body) {
			// One byte more, to see the end.
			next := min(expected+1, max(firstPart, 2*int64(len(body))))
			body = slices.Grow(body, int(next)-len(body))
		}
		n, err := from.Read(body[len(body):min(int64(cap(body)), expected+1)])
		if body = body[:len(body)+n]; err != nil {
			return body, err
		}
	}
	return body, nil
}

// polite reads a part at a time and lets others work in between. A client that sends faster than its body is read
// would otherwise keep a processor until the Go scheduler takes it away, ten milliseconds later, and many such
// clients all of them.
type polite struct {
	io.Reader
	read int // since others were let work
}

func (p *polite) Read(part []byte) (int, error) {
	const much = 64 << 10
	n, err := p.Reader.Read(part[:min(len(part), much)])
	if p.read += n; p.read >= much {
		p.read = 0
		runtime.Gosched()
	}
	return n, err
}

// linger throws away what follows of a body that is somewhat too large. Many clients send the whole body before they
// read the response, and would see a broken connection instead of it. A much larger body is not waited for, and a
// client that asked first (Expect) sends none.
func linger(r *http.Request, limit int64) {
	if r.ContentLength <= 4*limit && r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, &polite{Reader: r.Body}, 4*limit) // the response is the same whatever comes of it
	}
}

// ReadObject reads a request's body of at most limit bytes as one JSON object, by Unmarshal. The error is
// UnsupportedMediaType, one of ReadBody, or FailedValidation with what Unmarshal says.
func ReadObject(r *http.Request, limit int64, hold *admission.Hold, dst any) error {
	if media, ok := ContentType(r); !ok || media != "application/json" {
		return apierror.UnsupportedMediaType()
	}
	body, err := ReadBody(r, limit, hold)
	if err != nil {
		return err
	}
	if err := UnmarshalObject(body, dst); err != nil {
		return apierror.FailedValidation(err.Error())
	}
	return nil
}
