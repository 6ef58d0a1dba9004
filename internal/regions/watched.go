// Package regions keeps region files open while requests read them and other files replace them. Each path is looked at
// every 2 seconds. A new file is compared with its checksums, all of it, and then swapped in; the old one is unmapped
// when the last request that pinned it has released it.
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
)

const (
	// lookEvery is how often region files are looked at.
	lookEvery = 2 * time.Second
	// hangAfter is how long a file system may take for one operation before requests that need the file get 503.
	hangAfter = 10 * time.Second
)

// ErrUnavailable is the error of requests for a region of which there is no file, or one that cannot be read.
var ErrUnavailable = errors.New("the region is unavailable")

// ErrUnderWay is what Look returns if its context ends first. The look goes on.
var ErrUnderWay = errors.New("the region file is still being fetched or verified")

var errHangs = errors.New("its file system does not respond; check the drive or the network share")

// Options describe what to watch.
type Options struct {
	// Path is the absolute path of the region file. Symbolic links are not resolved: one that is pointed at another file
	// is a replaced file.
	Path string
	// Awaited says that the file may come later: Start succeeds without it, and requests get 503 until then.
	Awaited bool
	// Logger gets a line for each file that is opened, and for each that cannot be.
	Logger *zap.Logger
}

// Watched is a path and the region file that was last found there, for all configurations that name it.
//
// A file system may hang: a network drive whose server is away blocks all that touch it. So one goroutine looks at the
// path, opens what is there and verifies it (see look.go). Nothing else waits for it without a bound, and mu is never
// held meanwhile.
type Watched struct {
	Options

	current   atomic.Pointer[Pinned]      // nil before it is opened, while there is none, and after Destruct
	hangs     atomic.Bool                 // the file system has not responded in time, and still does not
	verifying atomic.Pointer[region.File] // nil while no file is being verified
	asks      chan ask
	ctx       context.Context // ends with Destruct
	cancel    context.CancelFunc

	// Tests change these before the first look.
	every, patience time.Duration
	stat            func(string) (fs.FileInfo, error)
	verify          func(*region.File, context.Context) error

	// The last file at the path that cannot be served, and whether that was logged; only for the goroutine.
	refused  fs.FileInfo
	reported bool

	mu      sync.Mutex  // of all below, and of changes of current
	problem error       // why the file at the path is not the current one; only the goroutine changes it
	checked fs.FileInfo // the last file that Check accepted
	alarm   *time.Timer // fires when the present look takes long; nil between looks
	read    int64       // bytes of the file that is being verified, when the alarm fired last
}

// ask is a call of Look.
type ask struct {
	verify bool
	answer chan error // holds one
}

// NewWatched returns a path that was not looked at yet. Its goroutine runs until Destruct.
func NewWatched(o Options) *Watched {
	w := &Watched{Options: o, asks: make(chan ask), every: lookEvery, patience: hangAfter,
		stat: os.Stat, verify: (*region.File).VerifyWhole}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	go w.run()
	return w
}

// Start opens the file if none is open, and begins to watch the path. The error says why it cannot be opened; an
// awaited file that cannot be opened is no error, unless the file system hangs. It takes little more than 10 seconds.
func (w *Watched) Start() error {
	if w.current.Load() != nil {
		return nil
	}
	err := w.Look(w.ctx, false)
	switch {
	case err == nil, w.Awaited && !errors.Is(err, errHangs):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: make it with `caddy maps build EXTRACT --output %s`", err, w.Path)
	}
	return err
}

// Look has the path looked at, and returns when that has been done. A new file is swapped in if it is good. verify has
// a file compared with its checksums, if this process has not done so yet, also if it is in use already, and has one
// tried again that was refused. The error says why the file at the path is not in use, or what is wrong with it; it is
// ErrUnderWay if ctx ends first. After Destruct it is nil.
func (w *Watched) Look(ctx context.Context, verify bool) error {
	asks, asked := w.asks, ask{verify, make(chan error, 1)}
	ticker := time.NewTicker(w.patience / 10)
	defer ticker.Stop()
	for !w.hangs.Load() {
		select {
		case asks <- asked:
			asks = nil
		case err := <-asked.answer:
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

// Check reports why a region file cannot be served, wherever it is: it is opened with its engines, and all of it is
// compared with its checksums. If it is renamed to the path, it is swapped in without being read again. The error is
// that of ctx if it ends first.
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
			// A request that reads a file that hangs may wait forever, and a thread of the system with it.
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

// pinUnopened is pin for a request that comes before the file has been opened, or after a reload has closed it. The
// latter opens the file for itself: its configuration is gone, but it was let in. It returns neither a file nor an
// error if the file is open now.
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
		err = w.Look(w.ctx, false)
	}
	if err != nil {
		w.Logger.Error("a region file cannot be opened; the request gets 503", zap.String("path", w.Path), zap.Error(err))
		return nil, ErrUnavailable
	}
	return p, nil
}

// replace has the path looked at for a request that found the file changed in place, and reports whether another one is
// current now.
func (w *Watched) replace(changed *Pinned) bool {
	if w.verifying.Load() == nil && w.current.Load() == changed {
		_ = w.Look(w.ctx, false) // what is wrong is logged when the file does not change any more
	}
	return w.current.Load() != changed
}

// Destruct gives up the file, and ends a verification. Requests that have pinned the file keep it open. The error is
// always nil.
func (w *Watched) Destruct() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancel()
	if p := w.current.Swap(nil); p != nil {
		p.Release()
	}
	return nil
}
