// Package fetch keeps a local copy of a region file on an HTTP server. It requests the file regularly, downloads a new
// one beside the copy, verifies it, and renames it over the copy. If anything fails, the copy stays. Several processes
// can share a copy; only one of them downloads at a time.
//
// It serves no requests: package regions watches the copy. Start with Mirror, and with fetch.go for one download.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/regions"
)

// Options configure a Mirror.
type Options struct {
	// URL is an http or https URL. Its userinfo is used for HTTP Basic authentication.
	URL *url.URL
	// Header is sent with each request, except to other hosts after a redirect. Names are canonical.
	Header http.Header
	// Path is the absolute path of the copy. Its directory exists. Other files of the Mirror have the path as a prefix.
	Path string
	// Refresh is the time between a response and the next request, minus a random part of up to a tenth.
	Refresh time.Duration
	// Timeout is how long the server may take to respond, and then for each 64 KiB.
	Timeout time.Duration
	// MaxSize is the maximum size of the file, in bytes; 0 for no limit.
	MaxSize int64
	// Watched serves the copy. It checks new files, and reports a damaged copy, which is then downloaded again.
	Watched *regions.Watched
	// Logger gets an entry for each download, and for each problem that differs from the last one.
	Logger *zap.Logger
}

// Status is the state of a copy.
type Status struct {
	// Origin is the origin of the copy, without the checksum; if unknown, only the URL.
	Origin
	// Asked is when the copy was last found to be current, and Next is the time of the next request.
	Asked time.Time `json:"asked,omitzero"`
	Next  time.Time `json:"next,omitzero"`
	// Problem is why the copy may be outdated, and what to do; empty if it is current.
	Problem string `json:"problem,omitempty"`
}

const (
	// firstRetry is the time between a first failure and the next request. It doubles with each failure.
	firstRetry = 2 * time.Second
	// maxRetry is the maximum time between attempts after failures, unless the server requests more.
	maxRetry = 15 * time.Minute
	// maxFirstDelay is the maximum random delay of the first request if there is a copy.
	maxFirstDelay = 30 * time.Second
)

// Mirror keeps one copy.
type Mirror struct {
	Options
	client *http.Client
	polls  chan chan error
	ctx    context.Context // ends with Destruct
	cancel context.CancelFunc
	start  sync.Once

	status atomic.Pointer[Status]

	failures int // since the last success; only for the goroutine that downloads
}

// New returns a Mirror that does not send requests before Start.
func New(o Options) *Mirror {
	m := &Mirror{Options: o, client: newClient(o.Header), polls: make(chan chan error)}
	m.status.Store(&Status{Origin: Origin{URL: Redact(o.URL)}})
	m.ctx, m.cancel = context.WithCancel(context.Background())
	return m
}

// Start begins to keep the copy, until Destruct. If there is no copy, it is downloaded at once. Further calls do
// nothing.
func (m *Mirror) Start() { m.start.Do(func() { go m.run() }) }

// Destruct stops the Mirror without waiting for it. The error is always nil.
func (m *Mirror) Destruct() error {
	m.cancel()
	return nil
}

// Poll sends a request now. If the file is being downloaded, also by another process, it waits for that first. The
// error says why the copy may be outdated. It is regions.ErrUnderWay if ctx ends first, and context.Canceled after
// Destruct.
func (m *Mirror) Poll(ctx context.Context) error {
	result := make(chan error, 1)
	for polls := m.polls; ; {
		select {
		case polls <- result:
			polls = nil
		case err := <-result:
			return err
		case <-m.ctx.Done():
			return m.ctx.Err()
		case <-ctx.Done():
			return regions.ErrUnderWay
		}
	}
}

// Status returns the current state of the copy.
func (m *Mirror) Status() Status { return *m.status.Load() }

// setOrigin sets the origin of the copy in the status.
func (m *Mirror) setOrigin(o *Origin) {
	status := m.Status()
	status.Origin = Origin{o.URL, o.ETag, o.LastModified, o.Fetched, "", ""}
	m.status.Store(&status)
}

func (m *Mirror) run() {
	timer := time.NewTimer(m.firstDelay())
	defer timer.Stop()
	for {
		var result chan error
		select {
		case <-m.ctx.Done():
			return
		case <-timer.C:
		case result = <-m.polls:
		}
		err := m.attempt(m.ctx)
		if m.ctx.Err() != nil {
			return
		}
		timer.Reset(time.Until(m.Status().Next))
		if result != nil {
			result <- err
		}
	}
}

// firstDelay is 0 if there is no copy, and random otherwise, so that servers that start together do not all send a
// request at once.
func (m *Mirror) firstDelay() time.Duration {
	checksum, known := m.readCopy()
	if checksum == "" {
		return 0
	}
	m.setOrigin(known)
	return rand.N(min(m.Refresh/10, maxFirstDelay) + 1)
}

// attempt sends one request and records the result.
func (m *Mirror) attempt(ctx context.Context) error {
	err := m.fetch(ctx)
	if errors.As(err, new(*fs.PathError)) || errors.As(err, new(*os.LinkError)) {
		err = fmt.Errorf("the cache cannot be written to; make room, or check its directory: %w", err)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	status := m.Status()
	before := status.Problem
	if err == nil {
		m.failures, status.Problem, status.Asked = 0, "", time.Now().UTC()
	} else {
		m.failures++
		status.Problem = err.Error()
	}
	status.Next = time.Now().Add(m.next(err)).UTC()
	m.status.Store(&status)
	switch {
	case status.Problem == before: // logged before
	case err == nil:
		m.Logger.Info("the region can be fetched again", zap.String("url", status.URL))
	default:
		m.Logger.Error("a region cannot be fetched; the file that is there is served, and without one requests get 503",
			zap.String("url", status.URL), zap.String("path", m.Path), zap.Error(err))
	}
	return err
}

// next returns the time until the next attempt.
func (m *Mirror) next(err error) time.Duration {
	if err == nil {
		return m.refresh()
	}
	wait := min(firstRetry<<min(m.failures-1, 20), m.Refresh, maxRetry)
	wait -= rand.N(wait/2 + 1)
	if later, ok := errors.AsType[*retryError](err); ok {
		wait = max(wait, later.wait)
	}
	return wait
}

func (m *Mirror) refresh() time.Duration { return m.Refresh - rand.N(m.Refresh/10+1) }
