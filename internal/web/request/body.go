package request

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/base/text"
	"github.com/mapsedge/caddy-maps/internal/web/admission"
	"github.com/mapsedge/caddy-maps/internal/web/apierror"
)

// SmallBody is the maximum size, in bytes, of bodies of the token, account and admin APIs.
const SmallBody = 16 << 10

// ContentType returns the media type of a request's body, in lower case, and its parameters. The default is
// "application/json". The error is UnsupportedMediaType if it is none of accepted, and for a malformed header, a
// charset other than UTF-8, or a content encoding.
func ContentType(r *http.Request, accepted ...string) (media string, params map[string]string, err error) {
	refuse := func(format string, args ...any) (string, map[string]string, error) {
		return "", nil, apierror.UnsupportedMediaType(fmt.Sprintf(format, args...), accepted...)
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return refuse("Content-Encoding: %.40s is not accepted; send the body as it is", encoding)
	}
	header := r.Header.Get("Content-Type")
	if header == "" {
		return "application/json", nil, nil
	}
	if media, params, err = mime.ParseMediaType(header); err != nil {
		return refuse("Content-Type: is malformed; send %s", text.OrList(accepted))
	}
	if !slices.Contains(accepted, media) {
		return refuse("Content-Type: %.80s is not accepted; send %s", media, text.OrList(accepted))
	}
	if charset, has := params["charset"]; has && !strings.EqualFold(charset, "utf-8") &&
		!strings.EqualFold(charset, "us-ascii") {
		return refuse("Content-Type: charset %.40s is not accepted; send UTF-8", charset)
	}
	return media, params, nil
}

const (
	// bodyCost is the memory in bytes that a byte of a body counts for: itself, and its parsed form.
	bodyCost = 2
	// firstPart is the memory that a body gets before any of it has arrived, in bytes.
	firstPart = 32 << 10
)

// ReadBody reads a request's body of at most limit bytes. The error is an apierror.Error: TooLarge, Busy if there is no
// memory, RequestTimeout if the server's timeout has expired, or FailedValidation if the body ended early.
func ReadBody(r *http.Request, limit int64, memory *admission.Reservation) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	if r.ContentLength > limit {
		drainExcess(r, limit)
		return nil, apierror.TooLarge()
	}
	body, err := Receive(r, limit, memory)
	var maxBytes *http.MaxBytesError
	var busy *admission.OverloadError
	switch {
	case err == nil:
		return body, nil
	case errors.Is(err, ErrBodyTooLarge):
		drainExcess(r, limit)
		return nil, apierror.TooLarge()
	case errors.As(err, &maxBytes):
		return nil, apierror.TooLarge()
	case errors.As(err, &busy):
		drainExcess(r, limit)
		return nil, apierror.Busy(busy.RetryAfter)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, apierror.RequestTimeout()
	}
	return nil, apierror.FailedValidation("body: it ended early")
}

// ErrBodyTooLarge is the error of Receive for a body that is larger than the limit.
var ErrBodyTooLarge = errors.New("the body is larger than the limit")

// Receive reads a body of at most limit bytes. It reserves memory while the body arrives, independent of the announced
// length; the caller keeps the reservation for as long as it uses the body. The error is ErrBodyTooLarge after one byte
// more than the limit, an *admission.OverloadError, or that of the request's context or of the body. It comes with the
// part that was read.
func Receive(r *http.Request, limit int64, memory *admission.Reservation) (body []byte, err error) {
	expected := min(limit, r.ContentLength) // size, as far as it is known
	if r.ContentLength < 0 {
		expected = min(limit, firstPart)
	}
	from := &yieldingReader{Reader: r.Body}
	for {
		if err := memory.Resize(r.Context(), bodyCost*expected); err != nil {
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
		expected = min(limit, max(4*expected, firstPart)) // more than announced
	}
}

// readUpTo reads a body until it ends, which is io.EOF, or is longer than expected.
func readUpTo(from io.Reader, body []byte, expected int64) ([]byte, error) {
	for int64(len(body)) <= expected {
		if len(body) == cap(body) {
			// One byte more, to notice the end.
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

// yieldingReader yields the processor after each 64 KiB. A client that sends faster than its body is read would
// otherwise use a processor until the Go scheduler preempts it after 10 ms.
type yieldingReader struct {
	io.Reader
	read int // since it last yielded
}

func (p *yieldingReader) Read(part []byte) (int, error) {
	const much = 64 << 10
	n, err := p.Reader.Read(part[:min(len(part), much)])
	if p.read += n; p.read >= much {
		p.read = 0
		runtime.Gosched()
	}
	return n, err
}

// drainExcess discards the rest of a body that is somewhat too large. Many clients send the whole body before they read
// the response, and would otherwise only see a broken connection. It does not wait for a much larger body, or for a
// client that sent an Expect header.
func drainExcess(r *http.Request, limit int64) {
	if r.ContentLength <= 4*limit && r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, &yieldingReader{Reader: r.Body}, 4*limit) // an error does not change the response
	}
}

// ReadObject reads a request's body of at most limit bytes as a JSON object, with UnmarshalObject. The error is
// UnsupportedMediaType, one of ReadBody, or FailedValidation with the error of UnmarshalObject.
func ReadObject(r *http.Request, limit int64, memory *admission.Reservation, dst any) error {
	if _, _, err := ContentType(r, "application/json"); err != nil {
		return err
	}
	body, err := ReadBody(r, limit, memory)
	if err != nil {
		return err
	}
	if err := UnmarshalObject(body, dst); err != nil {
		return apierror.FailedValidation(err.Error())
	}
	return nil
}
