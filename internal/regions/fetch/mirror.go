// Package mirror keeps a copy of a region file that an HTTP server has. It asks the server from time to time whether
// there is another one, downloads it beside the copy, compares all of it with its checksums, and renames it over the
// copy. Whatever goes wrong, the copy stays.
//
// Several processes may share a copy: one of them downloads at a time.
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

// Options describe the file and its copy.
type Options struct {
	// URL is an http or https URL. Its userinfo is sent by HTTP Basic authentication.
	URL *url.URL
	// Header is sent with each request, but not to another host that the server redirects to. Names are canonical.
	Header http.Header
	// Path is the absolute path of the copy. Its directory exists; other files in it begin with the same name.
	Path string
	// Refresh is the time between a response and the next request, less up to a tenth, by chance.
	Refresh time.Duration
	// Timeout is how long the server may take to respond, and then for each 64 KiB.
	Timeout time.Duration
	// MaxSize is the largest file that is downloaded, in bytes; 0 is no limit but that of the disk.
	MaxSize int64
	// Watched serves the copy. It checks new files, and reports a damaged copy, which is downloaded again.
	Watched *regions.Watched
	// Logger gets a line for each file that was downloaded, and for each problem that differs from the last one.
	Logger *zap.Logger
}

// Status describes a copy.
type Status struct {
	// Origin is where the copy came from, without the checksum; only the URL if the rest is not known.
	Origin
	// Asked is when the copy was last found to be what the server has, and Next when the server will be asked again.
	Asked time.Time `json:"asked,omitzero"`
	Next  time.Time `json:"next,omitzero"`
	// Problem is why the copy may be older than what the server has, and what to do; empty if it is not.
	Problem string `json:"problem,omitempty"`
}

const (
	// firstRetry is the time between a first failure and the next request; it doubles with each.
	firstRetry = 2 * time.Second
	// maxRetry bounds the time between attempts after failures, unless the server asks for more.
	maxRetry = 15 * time.Minute
	// maxFirstDelay spreads the first requests of servers that start together and have a copy.
	maxFirstDelay = 30 * time.Second
)

// Mirror keeps one copy.
type Mirror struct {
	Options
	client *http.Client
	asks   chan chan error
	ctx    context.Context // ends with Destruct
	cancel context.CancelFunc
	start  sync.Once

	status atomic.Pointer[Status]

	failures int // since the last success; only for the goroutine that downloads
}

// New returns a mirror that sends no requests yet.
func New(o Options) *Mirror {
	m := &Mirror{Options: o, client: newClient(o.Header), asks: make(chan chan error)}
	m.status.Store(&Status{Origin: Origin{URL: Redact(o.URL)}})
	m.ctx, m.cancel = context.WithCancel(context.Background())
	return m
}

// Start begins to keep the copy, until Destruct. If there is none yet, it is downloaded at once. Further calls do
// nothing.
func (m *Mirror) Start() { m.start.Do(func() { go m.run() }) }

// Destruct ends what Start began, and does not wait for it. The error is always nil.
func (m *Mirror) Destruct() error {
	m.cancel()
	return nil
}

// Ask sends a request now, even if the next one is due later. If the file is being downloaded already, also by another
// process, it waits for that first. The error is regions.ErrUnderWay if ctx ends before, and otherwise why the copy
// may be older than what the server has. After Destruct it is context.Canceled.
func (m *Mirror) Ask(ctx context.Context) error {
	answer := make(chan error, 1)
	for asks := m.asks; ; {
		select {
		case asks <- answer:
			asks = nil
		case err := <-answer:
			return err
		case <-m.ctx.Done():
			return m.ctx.Err()
		case <-ctx.Done():
			return regions.ErrUnderWay
		}
	}
}

// Status describes the copy now.
func (m *Mirror) Status() Status { return *m.status.Load() }

// cameFrom records the origin of the copy.
func (m *Mirror) cameFrom(o *Origin) {
	status := m.Status()
	status.Origin = Origin{o.URL, o.ETag, o.LastModified, o.Fetched, "", ""}
	m.status.Store(&status)
}

func (m *Mirror) run() {
	timer := time.NewTimer(m.firstDelay())
	defer timer.Stop()
	for {
		var answer chan error
		select {
		case <-m.ctx.Done():
			return
		case <-timer.C:
		case answer = <-m.asks:
		}
		err := m.attempt(m.ctx)
		if m.ctx.Err() != nil {
			return
		}
		timer.Reset(time.Until(m.Status().Next))
		if answer != nil {
			answer <- err
		}
	}
}

// firstDelay is 0 if there is no copy, and random otherwise, so that servers that start together do not send their
// requests at the same moment.
func (m *Mirror) firstDelay() time.Duration {
	checksum, known := m.readCopy()
	if checksum == "" {
		return 0
	}
	m.cameFrom(known)
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
	case status.Problem == before: // which has been logged
	case err == nil:
		m.Logger.Info("the region can be fetched again", zap.String("url", status.URL))
	default:
		m.Logger.Error("a region cannot be fetched; the file that is there is served, and without one requests get 503",
			zap.String("url", status.URL), zap.String("path", m.Path), zap.Error(err))
	}
	return err
}

// next is the time between an attempt and the next one.
func (m *Mirror) next(err error) time.Duration {
	if err == nil {
		return m.refresh()
	}
	wait := min(firstRetry<<min(m.failures-1, 20), m.Refresh, maxRetry)
	wait -= rand.N(wait/2 + 1)
	if later, ok := errors.AsType[*laterError](err); ok {
		wait = max(wait, later.wait)
	}
	return wait
}

func (m *Mirror) refresh() time.Duration { return m.Refresh - rand.N(m.Refresh/10+1) }
