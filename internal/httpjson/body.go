// Package httpjson reads JSON request bodies as the service's endpoints want them, and writes JSON answers: bounded, strict,
// and with errors that name the field.
package httpjson

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/mapsedge/caddy-maps/internal/apierror"
)

// SmallBody is the limit, in bytes, of the bodies of tokens, accounts and the admin API.
const SmallBody = 16 << 10

// ContentType returns the media type of a request's body without its parameters, in lower case; "application/json" where the
// request names none. ok is false if it cannot be read as text in UTF-8: a malformed header, another charset, or a content
// encoding.
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
	if charset, has := params["charset"]; has && !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "us-ascii") {
		return "", false
	}
	return media, true
}

// ReadBody reads a request's body of at most limit bytes. The error is an apierror.Error: TooLarge, or FailedValidation for a
// body that broke off.
func ReadBody(r *http.Request, limit int64) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	if r.ContentLength > limit {
		linger(r, limit)
		return nil, apierror.TooLarge()
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	var maxBytes *http.MaxBytesError
	switch {
	case errors.As(err, &maxBytes):
		return nil, apierror.TooLarge()
	case int64(len(body)) > limit:
		linger(r, limit)
		return nil, apierror.TooLarge()
	case err != nil:
		return nil, apierror.FailedValidation("body: it ended early")
	}
	return body, nil
}

// linger throws away what follows of a body that is somewhat too large. Many clients send the whole body before they read
// the answer, and would see a broken connection instead of it. A much larger body is not waited for, and a client that
// asked first (Expect) sends none.
func linger(r *http.Request, limit int64) {
	if r.ContentLength <= 4*limit && r.Header.Get("Expect") == "" {
		_, _ = io.CopyN(io.Discard, r.Body, 4*limit) // the answer is the same whatever comes of it
	}
}

// ReadObject reads a request's body as one JSON object of at most limit bytes. The error is an apierror.Error.
func ReadObject(r *http.Request, limit int64) (Object, error) {
	media, ok := ContentType(r)
	if !ok || media != "application/json" {
		return Object{}, apierror.UnsupportedMediaType()
	}
	body, err := ReadBody(r, limit)
	if err != nil {
		return Object{}, err
	}
	obj, err := ParseObject(body)
	if err != nil {
		return Object{}, apierror.FailedValidation(err.Error())
	}
	return obj, nil
}
