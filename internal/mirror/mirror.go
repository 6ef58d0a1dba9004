// Package mirror keeps a copy of a region file that an HTTP server has: it asks the server again and again whether
// there is another one, fetches it to a file beside the copy, resumes what was cut off, and lets it take the place of
// the copy when every block of it has been checked. Whatever goes wrong, the copy stays.
//
// Several processes may keep one copy: one of them fetches at a time.
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

// Options say what to copy to where.
type Options struct {
	// URL is an http or https URL. Its userinfo is sent by HTTP Basic authentication.
	URL *url.URL
	// Header is sent with each request, but not to another host that the server redirects to.
	Header http.Header
	// Path is the absolute path of the copy. Its directory exists; other files in it begin with the same name.
	Path string
	// Refresh is how long after one answer the server is asked again, less up to a tenth, by chance.
	Refresh time.Duration
	// Timeout is how long the server may take to answer, and then for each 4 KiB.
	Timeout time.Duration
	// MaxSize is the largest file that is fetched, in bytes; 0 is no limit but that of the disk.
	MaxSize int64
	// Retry is how long after a first failure the server is asked again; 2 seconds where it is 0. It doubles with each.
	Retry time.Duration
	// Check reports why a region file cannot be served. It reads all of the file.
	Check func(ctx context.Context, path string) error
	// Damaged reports whether the copy must be fetched anew, though the server has no other one.
	Damaged func() bool
	// Replaced is called when another file has taken the place of the copy.
	Replaced func()
	// Logger gets a line for each file that was fetched, and for each problem that is another than the one before.
	Logger *zap.Logger
}

// Status tells how a copy stands.
type Status struct {
	// Origin is where the copy came from; nil where there is none, or where nobody knows.
	Origin *Origin
	// URL is what is asked, without userinfo and query.
	URL string
	// Asked is when the copy was last found to be what the server has, and Next when that will be asked again.
	Asked, Next time.Time
	// Received of Size bytes have come while a file is being fetched; 0 of 0 otherwise.
	Received, Size int64
	// Problem is why the copy may be older than what the server has; nil where it is not.
	Problem error
}

const (
	defaultRetry = 2 * time.Second
	// maxRetry bounds how long the server is left alone after failures, unless it asks for more.
	maxRetry = 15 * time.Minute
	// busyRetry is how long after another process was found to fetch the same copy one looks again.
	busyRetry = 5 * time.Second
	// busyPause is the same where somebody waits for the answer.
	busyPause = 200 * time.Millisecond
	// maxFirstDelay spreads the first questions of servers that are started together, where they have a copy.
	maxFirstDelay = 30 * time.Second
	// endPatience bounds how long the end waits.
	endPatience = time.Second
	// maxRetryAfter bounds what a server may ask for.
	maxRetryAfter = 24 * time.Hour
)

// Mirror keeps one copy.
type Mirror struct {
	Options
	client *http.Client
	free   func(path string) (bytes int64, known bool) // freeSpace, but for tests
	asks   chan chan error
	ctx    context.Context // ends with Destruct
	cancel context.CancelFunc
	start  sync.Once
	ended  chan struct{} // closed when nothing goes on any more
	copied chan struct{} // closed when there is a copy

	// For the goroutine that asks alone.
	failures int
	refused  refusal
	reached  reached
	said     string // the problem that the log has

	mu     sync.Mutex
	status Status
}

// New returns a mirror that asks nobody yet.
func New(o Options) *Mirror {
	if o.Retry == 0 {
		o.Retry = defaultRetry
	}
	m := &Mirror{
		Options: o,
		client:  newClient(o.Header),
		free:    freeSpace,
		asks:    make(chan chan error),
		ended:   make(chan struct{}),
		copied:  make(chan struct{}),
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.status.URL = Redact(o.URL)
	return m
}

// Start begins to keep the copy, until Destruct. Where there is none yet it is fetched at once. It may be called again.
func (m *Mirror) Start() { m.start.Do(func() { go m.run(m.ctx) }) }

// Destruct ends what Start began. A file system that hangs may hold that up, for which it does not wait. The error is
// always nil.
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
	ErrEnded = errors.New("the region is not kept any more")
	// ErrUnderWay is what Ask and Wait return when their context ends first.
	ErrUnderWay = errors.New("the region file is still on its way")
)

// Ask has the server asked at once, whatever it was to wait for, and returns what came of that. Where a file is being
// fetched already, also by another process, it waits for that first.
func (m *Mirror) Ask(ctx context.Context) error {
	for {
		err := m.askOnce(ctx)
		if !errors.Is(err, errBusy) {
			return err
		}
		select {
		case <-time.After(busyPause):
		case <-m.ended:
			return ErrEnded
		case <-ctx.Done():
			return ErrUnderWay
		}
	}
}

func (m *Mirror) askOnce(ctx context.Context) error {
	answer := make(chan error, 1)
	select {
	case m.asks <- answer:
	case <-m.ended:
		return ErrEnded
	case <-ctx.Done():
		return ErrUnderWay
	}
	select {
	case err := <-answer:
		return err
	case <-m.ended:
		return ErrEnded
	case <-ctx.Done():
		return ErrUnderWay
	}
}

// Wait returns when there is a copy. The error says why there is none when ctx ends.
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

// Status tells how the copy stands now.
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

func (m *Mirror) run(ctx context.Context) {
	defer close(m.ended)
	timer := time.NewTimer(m.firstDelay())
	defer timer.Stop()
	for {
		var answer chan error
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case answer = <-m.asks:
		}
		err := m.attempt(ctx)
		if ctx.Err() != nil {
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

// firstDelay lets those wait who have a copy, so that many that start together do not ask at the same moment.
func (m *Mirror) firstDelay() time.Duration {
	have := m.readCopy()
	if have == nil {
		return 0
	}
	m.found(have)
	return rand.N(min(m.Refresh/10, maxFirstDelay) + 1)
}

// found takes note of the copy.
func (m *Mirror) found(c *localCopy) {
	m.change(func(s *Status) { s.Origin = c.origin })
	select {
	case <-m.copied:
	default:
		close(m.copied)
	}
}

// attempt asks the server once, and takes note of what came of it.
func (m *Mirror) attempt(ctx context.Context) error {
	err := m.fetch(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	m.change(func(s *Status) { s.Received, s.Size = 0, 0 })
	switch {
	case errors.Is(err, errBusy):
		return err // whoever fetches it knows how it stands
	case err == nil:
		m.failures, m.reached = 0, reached{}
		m.change(func(s *Status) { s.Problem, s.Asked = nil, time.Now().UTC() })
		if m.said != "" {
			m.said = ""
			m.Logger.Info("the region's origin has what can be served again", zap.String("url", m.status.URL))
		}
		return nil
	}
	level := zap.ErrorLevel
	var broken *brokenError
	if m.failures++; errors.As(err, &broken) && m.reached.extendedBy(broken) {
		m.failures, level = 1, zap.WarnLevel // it goes on
	}
	m.change(func(s *Status) { s.Problem = err })
	if m.said != err.Error() {
		m.said = err.Error()
		m.Logger.Log(level, "a region cannot be fetched; the file of before is served, or 503 where there is none",
			zap.String("url", m.status.URL), zap.String("path", m.Path), zap.Error(err))
	}
	return err
}

// next is how long to wait after an attempt.
func (m *Mirror) next(err error) time.Duration {
	switch {
	case err == nil:
		return m.Refresh - rand.N(m.Refresh/10+1)
	case errors.Is(err, errBusy):
		return min(m.Refresh, busyRetry)
	}
	wait := m.Retry << min(m.failures-1, 20)
	wait = min(wait, m.Refresh, maxRetry)
	wait -= rand.N(wait/2 + 1)
	var status *statusError
	if errors.As(err, &status) {
		wait = max(wait, status.retryAfter)
	}
	return wait
}
