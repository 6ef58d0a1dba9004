// Package regions keeps region files open while requests read them and other files take their place: each file is
// looked at every 2 seconds, a new one is swapped in, and the one before is unmapped when the last request that pinned
// it has released it.
package regions

import (
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/apierror"
)

// Options say what to watch.
type Options struct {
	// Path is the absolute path of the region file. Symbolic links are not resolved: one that is pointed at another file
	// is a replaced file.
	Path string
	// Awaited says that the file may come later: Start goes on without it, and requests are answered 503 until then.
	Awaited bool
	// Logger gets a line for each file that is opened, and for each that cannot be.
	Logger *zap.Logger
	// Exiting reports whether the process is about to end, so that nobody waits for a file system any more. Nil means
	// that it never is.
	Exiting func() bool
}

// Watched is a path and the region file that was last found there, for all configurations that name it.
//
// A file system may hang: a network drive whose server is away lets everybody wait who touches it. So the path is
// looked at and opened in a goroutine of its own, for which others wait a bounded time (see exclusively), and never
// while mu is held.
type Watched struct {
	Options

	current atomic.Pointer[Pinned]            // nil before it is opened and after it is closed
	absent  atomic.Bool                       // an awaited file has not come yet
	hangs   atomic.Bool                       // the file system has not answered in time, and has not since
	turn    chan struct{}                     // holds something while the path is looked at or opened
	stat    func(string) (fs.FileInfo, error) // os.Stat, but for tests
	stop    chan struct{}

	mu       sync.Mutex // of all below, and of changes of current
	watching bool
	closed   bool

	// What stands at the path and cannot be opened, and why; problem is nil where the current file is what stands there.
	refused  fileIdentity
	problem  error
	reported bool

	replaced time.Time // when a request last had the file opened anew
}

// NewWatched returns a path that nobody has looked at yet. Start begins to watch it, and Destruct ends that.
func NewWatched(o Options) *Watched {
	if o.Exiting == nil {
		o.Exiting = func() bool { return false }
	}
	return &Watched{Options: o, turn: make(chan struct{}, 1), stat: os.Stat, stop: make(chan struct{})}
}

// pin returns the current file with a reference to it.
func (s *Watched) pin() (*Pinned, error) {
	for {
		if s.hangs.Load() || s.absent.Load() {
			// A request that reads a file that hangs may wait for ever, and a thread of the system with it.
			return nil, apierror.Unavailable()
		}
		p := s.current.Load()
		if p == nil {
			return s.pinClosed()
		}
		if !p.File.Acquire() {
			continue // it was replaced just now
		}
		if damage := p.overwritten.Load(); damage != nil {
			p.Release()
			if s.replace(p) {
				continue
			}
			return nil, p.Report(damage)
		}
		return p, nil
	}
}

// pinClosed is pin for a request that comes before the file has been opened, or after a reload has closed it. The
// latter opens the file for itself: its configuration is gone, but it was let in.
func (s *Watched) pinClosed() (*Pinned, error) {
	p, err := s.exclusively(openPatience, s.open)
	if err != nil {
		s.Logger.Error("a region file cannot be opened; the request is answered 503", zap.String("path", s.Path),
			zap.Error(err))
		return nil, apierror.Unavailable() // what its client may know of that
	}
	return p, nil
}

// Destruct gives up the file. Requests that have pinned it keep it open. The error is always nil.
func (s *Watched) Destruct() error {
	s.mu.Lock()
	s.closed = true
	close(s.stop)
	p := s.current.Swap(nil)
	s.mu.Unlock()
	if p == nil {
		return nil
	}
	released := make(chan struct{})
	go func() {
		p.Release() // closing a file may hang, too
		close(released)
	}()
	select {
	case <-released:
	case <-time.After(closePatience):
	}
	return nil
}
