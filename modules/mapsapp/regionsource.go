package mapsapp

import (
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/apierror"
)

// regionSource is a path and the region file that was last found there, for all configurations that name it.
//
// A file system may hang: a network drive whose server is away lets everybody wait who touches it. So the path is
// looked at and opened in a goroutine of its own, for which others wait a bounded time (see exclusively), and never
// while mu is held.
type regionSource struct {
	path    string
	logger  *zap.Logger
	current atomic.Pointer[Pinned]            // nil before it is opened and after it is closed
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

var regionPool = caddy.NewUsagePool() // absolute path → *regionSource

func acquireRegion(path string) *regionSource {
	value, _, err := regionPool.LoadOrNew(path, func() (caddy.Destructor, error) {
		return newRegionSource(path, zap.New(currentLog{}).Named("maps.region")), nil
	})
	if err != nil {
		panic(err) // the constructor above has no error
	}
	return value.(*regionSource)
}

func newRegionSource(path string, logger *zap.Logger) *regionSource {
	return &regionSource{path: path, logger: logger, turn: make(chan struct{}, 1), stat: os.Stat,
		stop: make(chan struct{})}
}

// pin returns the current file with a reference to it.
func (s *regionSource) pin() (*Pinned, error) {
	for {
		if s.hangs.Load() {
			// A request that reads the file may wait for ever, and a thread of the system with it.
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

// pinClosed is pin for a request that comes before the app has started, or after a reload has closed the region. The latter
// opens the file for itself: its configuration is gone, but it was let in.
func (s *regionSource) pinClosed() (*Pinned, error) {
	p, err := s.exclusively(openPatience, s.open)
	if err != nil {
		s.logger.Error("a region file cannot be opened; the request is answered 503", zap.String("path", s.path),
			zap.Error(err))
		return nil, apierror.Unavailable() // what its client may know of that
	}
	return p, nil
}

// Destruct gives up the file. The pool calls it when no configuration names the path any more.
func (s *regionSource) Destruct() error {
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

func (s *regionSource) status() RegionStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	status := RegionStatus{Status: unavailable, Path: s.path, Problem: s.problem, unusable: !s.closed}
	p := s.current.Load()
	if p == nil {
		return status
	}
	status.unusable = false
	status.Checksum, status.Timestamp, status.Opened = p.File.Checksum(), p.timestamp, p.opened.UTC()
	met := p.met.Load()
	switch {
	case s.hangs.Load():
		status.Status, status.unusable = unavailable, true
	case p.overwritten.Load() != nil:
		status.Status, status.unusable = damaged, true
	case met != nil:
		status.Status, status.Problem = damaged, met
	case s.problem != nil:
		status.Status = stale
	default:
		status.Status = ok
	}
	return status
}
