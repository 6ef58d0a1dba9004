package regions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/region"
	"github.com/mapsedge/caddy-maps/internal/routing"
)

const (
	// pollEvery is the interval at which paths are polled.
	pollEvery = 2 * time.Second
	// hangTimeout is how long one operation of a file system may take before requests that need the file get
	// ErrUnavailable.
	hangTimeout = 10 * time.Second
)

// ErrUnavailable means that a region has no file, or one that cannot be opened. It has been logged.
var ErrUnavailable error = unavailable{}

type unavailable struct{}

func (unavailable) Error() string { return "the region is unavailable" }

// Unavailable makes package answer respond with 503.
func (unavailable) Unavailable() bool { return true }

// ErrUnderWay means that a poll has not ended before the context of the caller. The poll goes on.
var ErrUnderWay = errors.New("the region file is still being fetched or verified")

var errHangs = errors.New("its file system does not respond; check the drive or the network share")

// Options configure a Watched.
type Options struct {
	// Path is the absolute path of the region file. Symbolic links are not resolved, so that a link to another file counts
	// as a new file.
	Path string
	// Awaited means that the file may appear later: Start succeeds without it, and requests get ErrUnavailable until then.
	Awaited bool
	// Logger gets an entry for each file that is opened or cannot be opened.
	Logger *zap.Logger
}

// Watched is a path with its current region file. All configurations that name the path share it.
//
// A file system may hang: a network drive whose server is unavailable blocks every access. So one goroutine polls the
// path, opens the file and verifies it (see poll.go). Other goroutines wait for it only with a timeout, and it never
// holds mu during these operations.
type Watched struct {
	Options

	current   atomic.Pointer[Pinned]         // nil before it is opened, while there is none, and after Destruct
	hangs     atomic.Bool                    // the file system does not respond
	verifying atomic.Pointer[region.File]    // nil while no file is being verified
	speeds    atomic.Pointer[routing.Speeds] // see Region.SetSpeeds
	polls     chan pollRequest
	ctx       context.Context // ends with Destruct
	cancel    context.CancelFunc

	// Tests change these before the first poll.
	every, timeout time.Duration
	stat           func(string) (fs.FileInfo, error)
	verify         func(*region.File, context.Context) error

	// The last file at the path that could not be served, and whether that was logged; only for the goroutine.
	refused  fs.FileInfo
	reported bool

	mu      sync.Mutex  // of all below, and of changes of current
	problem error       // why the file at the path is not the current one; only the goroutine changes it
	checked fs.FileInfo // the last file that Check accepted
	alarm   *time.Timer // fires when the current poll takes long; nil between polls
	read    int64       // bytes of the file being verified, when the alarm last fired
}

// pollRequest is a call of Poll.
type pollRequest struct {
	verify bool
	result chan error // with a buffer of one
}

// NewWatched returns a Watched that has not polled its path yet. Its goroutine runs until Destruct.
func NewWatched(o Options) *Watched {
	w := &Watched{Options: o, polls: make(chan pollRequest), every: pollEvery, timeout: hangTimeout,
		stat: os.Stat, verify: (*region.File).VerifyWhole}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	go w.run()
	return w
}

// Start opens the file if none is open, and begins to poll the path. The error says why the file cannot be opened; for
// an awaited file it is nil unless the file system hangs. It takes little more than 10 seconds.
func (w *Watched) Start() error {
	if w.current.Load() != nil {
		return nil
	}
	err := w.Poll(w.ctx, false)
	switch {
	case err == nil, w.Awaited && !errors.Is(err, errHangs):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w; make it with `caddy maps build EXTRACT --output %s`, or write `awaited` if it comes later",
			err, w.Path)
	case errors.Is(err, errHangs) || errors.As(err, new(*fs.PathError)):
		return err
	}
	return fmt.Errorf("%w; replace it, or make it with `caddy maps build EXTRACT --output %s`", err, w.Path)
}

// Poll polls the path now. It swaps in a new file that is good. verify also verifies the current file, unless this
// process has done so, and tries a refused file again. The error says why the file at the path is not in use, or what
// is damaged; it is ErrUnderWay if ctx ends first. After Destruct it is nil.
func (w *Watched) Poll(ctx context.Context, verify bool) error {
	polls, request := w.polls, pollRequest{verify, make(chan error, 1)}
	ticker := time.NewTicker(w.timeout / 10)
	defer ticker.Stop()
	for !w.hangs.Load() {
		select {
		case polls <- request:
			polls = nil
		case err := <-request.result:
			return err
		case <-w.ctx.Done():
			return nil
		case <-ctx.Done():
			return ErrUnderWay
		case <-ticker.C:
		}
	}
	return w.hanging()
}

// Check opens a region file at any path with its engines, and verifies all of it. If it is then renamed to the watched
// path, it is swapped in without being verified again. The error says why it cannot be served, or is that of ctx.
func (w *Watched) Check(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	p, err := w.open(path)
	if err != nil {
		return err
	}
	defer p.Release()
	if err := w.verify(p.File, ctx); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.checked = info
	return nil
}

// pin returns the current file with a reference to it.
func (w *Watched) pin() (*Pinned, error) {
	for {
		if w.hangs.Load() {
			// A request that reads the file might block forever, with a thread of the system.
			return nil, ErrUnavailable
		}
		p := w.current.Load()
		switch {
		case p == nil:
			if p, err := w.pinUnopened(); p != nil || err != nil {
				return p, err
			}
		case !p.File.Acquire(): // it was replaced just now
		case !p.overwritten.Load():
			return p, nil
		default:
			p.Release()
			if !w.replace(p) {
				return nil, p.Report(p.changed())
			}
		}
	}
}

// pinUnopened is pin for a request before the file has been opened, or after a reload has closed it. The latter opens
// the file itself, to finish a request of the old configuration. If the file is open now, it returns neither a file nor
// an error.
func (w *Watched) pinUnopened() (p *Pinned, err error) {
	w.mu.Lock()
	absent := w.problem != nil
	w.mu.Unlock()
	switch {
	case absent:
		return nil, ErrUnavailable
	case w.ctx.Err() != nil:
		p, err = w.open(w.Path)
	default:
		err = w.Poll(w.ctx, false)
	}
	if err != nil {
		w.Logger.Error("a region file cannot be opened; the request gets 503", zap.String("path", w.Path), zap.Error(err))
		return nil, ErrUnavailable // err is not for clients
	}
	return p, nil
}

// replace polls the path for a request that found the file changed in place, and reports whether the current file is
// another one now.
func (w *Watched) replace(changed *Pinned) bool {
	if w.verifying.Load() == nil && w.current.Load() == changed {
		_ = w.Poll(w.ctx, false) // an error is logged when the file no longer changes
	}
	return w.current.Load() != changed
}

// Destruct releases the file, and stops polls and verifications. Requests that have pinned the file keep it open. The
// error is always nil.
func (w *Watched) Destruct() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancel()
	if p := w.current.Swap(nil); p != nil {
		p.Release()
	}
	return nil
}
