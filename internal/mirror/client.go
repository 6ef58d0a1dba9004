package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	maxRedirects     = 10
	maxResponseHead  = 32 << 10 // bytes of a response's header; the origin's JSON may be larger
	maxRetryAfter    = 24 * time.Hour
	stallBytes       = 64 << 10
	clientIdentifier = "caddy-maps"
)

var errStalled = errors.New("the server sends too little; check it and the network, or raise the timeout")

// statusError is a response without a file.
type statusError struct {
	status     int
	retryAfter time.Duration
}

// Error says what the status means to the operator.
func (e *statusError) Error() string {
	text := fmt.Sprintf("the server answers %d %s", e.status, http.StatusText(e.status))
	switch e.status {
	case http.StatusUnauthorized, http.StatusForbidden:
		text += "; check the credentials in the region's header or URL"
	case http.StatusNotFound, http.StatusGone:
		text += "; check the region's URL, or upload the file"
	}
	return text
}

// newClient returns a client that follows redirects as far as that is safe. It uses the proxy of the environment.
func newClient(secret http.Header) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxResponseHeaderBytes = maxResponseHead
	return &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		switch {
		case len(via) > maxRedirects:
			return fmt.Errorf("the server redirects more than %d times", maxRedirects)
		case req.URL.Scheme != "http" && req.URL.Scheme != "https":
			return fmt.Errorf("the server redirects to %s:, which is neither http nor https", req.URL.Scheme)
		case via[len(via)-1].URL.Scheme == "https" && req.URL.Scheme == "http":
			return errors.New("the server redirects from https to http, which is not followed")
		}
		req.Header.Del("Referer") // it would show the query to the next server
		if first := via[0].URL; first.Scheme != req.URL.Scheme || first.Host != req.URL.Host {
			for name := range secret {
				req.Header.Del(name)
			}
		}
		return nil
	}}
}

// newRequest asks for the file, if it is another one than known describes.
func (m *Mirror) newRequest(ctx context.Context, known *Origin) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.URL.String(), nil)
	if err != nil {
		return nil, failure(ctx, err)
	}
	for name, values := range m.Header {
		req.Header[name] = values
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", clientIdentifier)
	}
	req.Header.Set("Accept-Encoding", "identity")
	switch {
	case known == nil || !known.isOf(m.URL):
	case known.ETag != "":
		req.Header.Set("If-None-Match", known.ETag)
	case known.LastModified != "":
		req.Header.Set("If-Modified-Since", known.LastModified)
	}
	return req, nil
}

// failure returns why a request failed, without a URL: its query and userinfo may be secret, also those of a redirect.
func failure(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if strings.Contains(err.Error(), "Location header") {
		return errors.New("the server redirects to an invalid URL") // the header may hold a signature
	}
	return fmt.Errorf("the request failed: %w", err)
}

// retryAfter reads the header, in seconds or as a date; 0 if there is none that can be read.
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

// stallTimeout ends a context with errStalled when fewer than stallBytes have come within the limit. Without a minimum,
// a byte now and then would keep a download alive forever.
type stallTimeout struct {
	io.Reader
	timer *time.Timer
	limit time.Duration
	came  int // bytes since the timer was reset
}

func newStallTimeout(ctx context.Context, limit time.Duration) (context.Context, *stallTimeout, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(limit, func() { cancel(errStalled) })
	return ctx, &stallTimeout{timer: timer, limit: limit}, func() {
		timer.Stop()
		cancel(nil)
	}
}

// Read implements io.Reader.
func (s *stallTimeout) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if s.came += n; s.came >= stallBytes {
		s.came = 0
		s.timer.Reset(s.limit)
	}
	return n, err
}
