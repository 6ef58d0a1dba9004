// Package mirror keeps a copy of a region file that an HTTP server has. It asks the server from time to time whether
// there is another one, downloads it beside the copy, compares all of it with its checksums, and renames it over the
// copy. Whatever goes wrong, the copy stays.
//
// Several processes may share a copy: one of them downloads at a time.
package mirror

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"
	"time"

	"go.uber.org/zap"
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
	// Retry is the time between a first failure and the next request; it doubles with each. 0 means 2 seconds.
	Retry time.Duration
	// Check reports why a region file cannot be served. It reads all of the file.
	Check func(ctx context.Context, path string) error
	// Damaged reports whether the copy must be downloaded again, though the server has no other one.
	Damaged func() bool
	// Replaced is called when a new file has replaced the copy.
	Replaced func()
	// Logger gets a line for each file that was downloaded, and for each problem that differs from the last one.
	Logger *zap.Logger
}

// Status describes a copy.
type Status struct {
	// Origin is where the copy came from; nil if there is no copy, or if that is not known.
	Origin *Origin
	// URL is where it is downloaded from, without userinfo and query.
	URL string
	// Asked is when the copy was last found to be what the server has, and Next when the server will be asked again.
	Asked, Next time.Time
	// Problem is why the copy may be older than what the server has; nil if it is not.
	Problem error
}

const (
	defaultRetry = 2 * time.Second
	// maxRetry bounds the time between attempts after failures, unless the server asks for more.
	maxRetry = 15 * time.Minute
	// maxFirstDelay spreads the first requests of servers that start together and have a copy.
	maxFirstDelay = 30 * time.Second
	// endPatience bounds how long Destruct waits.
	endPatience = time.Second
)

// Mirror keeps one copy.
type Mirror struct {
	Options
	client *http.Client
	asks   chan chan error
	ctx    context.Context // ends with Destruct
	cancel context.CancelFunc
	start  sync.Once
	ended  chan struct{} // closed when Destruct was called and nothing goes on any more
	copied chan struct{} // closed when there is a copy

	// Of the goroutine that downloads.
	failures int
	logged   string // the present problem, if there is one

	mu     sync.Mutex
	status Status
}

// New returns a mirror that sends no requests yet.
func New(o Options) *Mirror {
	if o.Retry == 0 {
		o.Retry = defaultRetry
	}
	m := &Mirror{
		Options: o,
		client:  newClient(o.Header),
		asks:    make(chan chan error),
		ended:   make(chan struct{}),
		copied:  make(chan struct{}),
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.status.URL = Redact(o.URL)
	return m
}

// Start begins to keep the copy, until Destruct. If there is none yet, it is downloaded at once. Further calls do
// nothing.
func (m *Mirror) Start() { m.start.Do(func() { go m.run() }) }

// Destruct ends what Start began. If a file system hangs, it does not wait for it. The error is always nil.
func (m *Mirror) Destruct() error {
	m.cancel()
	m.start.Do(func() { close(m.ended) }) // it never began
	select {
	case <-m.ended:
	case <-time.After(endPatience):
	}
	m.client.CloseIdleConnections()
	return nil
}

var (
	// ErrEnded is what Ask and Wait return after Destruct.
	ErrEnded = errors.New("the configuration has no such region any more")
	// ErrUnderWay is what Ask and Wait return when their context ends first.
	ErrUnderWay = errors.New("the region file is still being fetched")
)

// Ask sends a request now, even if the next one is due later. If the file is being downloaded already, also by another
// process, it waits for that first. The error is ErrUnderWay if ctx ends before, and otherwise why the copy may be
// older than what the server has.
func (m *Mirror) Ask(ctx context.Context) error {
	answer := make(chan error, 1)
	for asks := m.asks; ; {
		select {
		case asks <- answer:
			asks = nil
		case err := <-answer:
			return err
		case <-m.ended:
			return ErrEnded
		case <-ctx.Done():
			return ErrUnderWay
		}
	}
}

// Wait returns when there is a copy. When ctx ends before, the error says why there is none.
func (m *Mirror) Wait(ctx context.Context) error {
	select {
	case <-m.copied:
		return nil
	case <-m.ended:
		return ErrEnded
	case <-ctx.Done():
		if problem := m.Status().Problem; problem != nil {
			return problem
		}
		return ErrUnderWay
	}
}

// Status describes the copy now.
func (m *Mirror) Status() Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.status
}

func (m *Mirror) change(f func(*Status)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(&m.status)
}

func (m *Mirror) run() {
	defer close(m.ended)
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
		next := m.next(err)
		m.change(func(s *Status) { s.Next = time.Now().Add(next).UTC() })
		timer.Reset(next)
		if answer != nil {
			answer <- err
		}
	}
}

// firstDelay is 0 if there is no copy, and random otherwise, so that servers that start together do not send their
// requests at the same moment.
func (m *Mirror) firstDelay() time.Duration {
	have := m.readCopy()
	if have == nil {
		return 0
	}
	m.found(have.origin)
	return rand.N(min(m.Refresh/10, maxFirstDelay) + 1)
}

// found records that there is a copy.
func (m *Mirror) found(origin *Origin) {
	m.change(func(s *Status) { s.Origin = origin })
	if !m.hasCopy() {
		close(m.copied)
	}
}

func (m *Mirror) hasCopy() bool {
	select {
	case <-m.copied:
		return true
	default:
		return false
	}
}

// attempt sends one request and records the result.
func (m *Mirror) attempt(ctx context.Context) error {
	err := m.fetch(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		m.failures = 0
		m.change(func(s *Status) { s.Problem, s.Asked = nil, time.Now().UTC() })
		if m.logged != "" {
			m.logged = ""
			m.Logger.Info("the region can be fetched again", zap.String("url", m.status.URL))
		}
		return nil
	}
	m.failures++
	m.change(func(s *Status) { s.Problem = err })
	if m.logged != err.Error() {
		m.logged = err.Error()
		m.Logger.Error("a region cannot be fetched; the file that is there is served, and without one requests get 503",
			zap.String("url", m.status.URL), zap.String("path", m.Path), zap.Error(err))
	}
	return err
}

// next is the time between an attempt and the next one.
func (m *Mirror) next(err error) time.Duration {
	refused, _ := errors.AsType[*refusedError](err)
	if err == nil || refused != nil && refused.whole && m.hasCopy() { // it would be downloaded whole each time
		return m.Refresh - rand.N(m.Refresh/10+1)
	}
	wait := min(m.Retry<<min(m.failures-1, 20), m.Refresh, maxRetry)
	wait -= rand.N(wait/2 + 1)
	if status, ok := errors.AsType[*statusError](err); ok {
		wait = max(wait, status.retryAfter)
	}
	return wait
}
