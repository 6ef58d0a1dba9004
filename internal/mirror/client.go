package mirror

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

const (
	maxRedirects     = 10
	maxResponseHead  = 32 << 10 // bytes of a response's header; less than what is read of an Origin
	clientIdentifier = "caddy-maps"
)

// newClient returns a client that follows redirects as far as that is safe. It asks by way of the proxy that the
// environment names.
func newClient(secret http.Header) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxResponseHeaderBytes = maxResponseHead
	return &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		before := via[len(via)-1].URL
		switch {
		case len(via) > maxRedirects:
			return fmt.Errorf("the server redirects more than %d times", maxRedirects)
		case req.URL.Scheme != "http" && req.URL.Scheme != "https":
			return fmt.Errorf("the server redirects to %s:, which is neither http nor https", req.URL.Scheme)
		case before.Scheme == "https" && req.URL.Scheme == "http":
			return errors.New("the server redirects from https to http, which is not followed")
		}
		req.Header.Del("Referer") // it would tell the next server the query of this one
		if first := via[0].URL; first.Scheme != req.URL.Scheme || first.Host != req.URL.Host {
			for name := range secret {
				req.Header.Del(name)
			}
		}
		return nil
	}}
}

// newRequest is the question for a file, still without conditions. Its header goes to the first host alone.
func newRequest(ctx context.Context, u *url.URL, header http.Header) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, withoutURL(err)
	}
	req.Header = header.Clone()
	if req.Header == nil {
		req.Header = make(http.Header)
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", clientIdentifier)
	}
	// Ranges and checksums are about the file as it is, not about what a compression makes of it.
	req.Header.Set("Accept-Encoding", "identity")
	return req, nil
}

// patience ends a context when less than patientFor has come for a while.
type patience struct {
	timer *time.Timer
	limit time.Duration
	came  int // bytes since it was renewed
}

// patientFor is how many bytes have to come in time: with one byte now and then, a file would never come to its end.
const patientFor = 4 << 10

// newPatience returns a context that ends with errSilent when the patience has not been renewed in time.
func newPatience(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc, *patience) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(limit, func() { cancel(errSilent) })
	return ctx, func() {
		timer.Stop()
		cancel(nil)
	}, &patience{timer: timer, limit: limit}
}

// reader renews the patience as bytes come, and tells progress how many.
func (p *patience) reader(r io.Reader, progress func(n int)) io.Reader {
	return readerFunc(func(buf []byte) (int, error) {
		n, err := r.Read(buf)
		progress(n)
		if p.came += n; p.came >= patientFor {
			p.came = 0
			p.timer.Reset(p.limit)
		}
		return n, err
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
