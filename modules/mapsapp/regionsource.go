package mapsapp

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/apierror"
	"github.com/mapsedge/caddy-maps/internal/region"
)

// lookEvery is how often region files are looked at.
const lookEvery = 2 * time.Second

// regionSource is a path and the region file that was last found there, for all configurations that name it.
type regionSource struct {
	path    string
	logger  *zap.Logger
	current atomic.Pointer[Pinned] // nil before it is opened and after it is closed

	mu       sync.Mutex // of opening and swapping
	watching bool
	stop     chan struct{}
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
		return &regionSource{path: path, logger: zap.New(currentLog{}).Named("maps.region"), stop: make(chan struct{})}, nil
	})
	if err != nil {
		panic(err) // the constructor above has no error
	}
	return value.(*regionSource)
}

// pin returns the current file with a reference to it.
func (s *regionSource) pin() (*Pinned, error) {
	for {
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		p, err := s.openPinned()
		return p, s.unavailable(err)
	}
	if err := s.open(); err != nil {
		return nil, s.unavailable(err)
	}
	p := s.current.Load()
	p.File.Acquire() // cannot fail: while mu is held, the current file stays
	return p, nil
}

// unavailable logs why a request cannot have the region, and returns what its client may know of that.
func (s *regionSource) unavailable(err error) error {
	if err == nil {
		return nil
	}
	s.logger.Error("a region file cannot be opened; the request is answered 503", zap.String("path", s.path), zap.Error(err))
	return apierror.Unavailable()
}

// open opens the file if none is open; mu is held.
func (s *regionSource) open() error {
	if s.current.Load() != nil {
		return nil
	}
	p, err := s.openPinned()
	if err != nil {
		return err
	}
	s.current.Store(p)
	s.logger.Info("region file opened", zap.String("path", s.path), zap.String("checksum", p.File.Checksum()))
	return nil
}

// start opens the file if none is open, and begins to watch it.
func (s *regionSource) start() error {
	s.mu.Lock()
	wasOpen := s.current.Load() != nil
	err := s.open()
	if err == nil && !s.watching {
		s.watching = true
		go s.watch()
	}
	s.mu.Unlock()
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: make it with `caddy maps build <extract> --output %s`", err, s.path)
	}
	if err == nil && wasOpen {
		_ = s.look(false) // what is wrong with a new file is logged when it has settled; the old one serves
	}
	return err
}

// Destruct gives up the file. The pool calls it when no configuration names the path any more.
func (s *regionSource) Destruct() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	close(s.stop)
	if p := s.current.Swap(nil); p != nil {
		p.Release()
	}
	return nil
}

func (s *regionSource) watch() {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
			_ = s.look(false)
		}
	}
}

// look swaps in the file that stands at the path, if it is not the current one or force is set. A file that cannot be opened
// is tried again when it changes, and logged when it has not changed between two looks, so that one that is being copied
// gives no lines until it stays broken.
func (s *regionSource) look(force bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	current := s.current.Load()
	if s.closed || current == nil && !force {
		return nil
	}
	found, err := identify(s.path)
	switch {
	case force:
	case err == nil && current.identity.same(found) && current.overwritten.Load() == nil:
		s.problem = nil
		return nil
	case s.problem != nil && s.refused.same(found):
		if !s.reported {
			s.reported = true
			s.report(current)
		}
		return s.problem
	}
	var next *Pinned
	if err == nil {
		next, err = s.openPinned()
	}
	if err != nil {
		s.refused, s.problem, s.reported = found, err, force
		s.checkOverwritten(current, found, err)
		return err
	}
	s.problem = nil
	s.current.Store(next)
	if current != nil {
		current.Release()
	}
	s.logger.Info("a new region file is served", zap.String("path", s.path), zap.String("checksum", next.File.Checksum()))
	return nil
}

// replaceEvery is how often requests may have a file opened anew that is being written over in place.
const replaceEvery = 50 * time.Millisecond

// replace looks at the path for a request that found the file changed in place, and reports whether another one is current now.
func (s *regionSource) replace(changed *Pinned) bool {
	s.mu.Lock()
	now := time.Now()
	soon := now.Sub(s.replaced) < replaceEvery
	if other := s.current.Load() != changed; other || soon {
		s.mu.Unlock()
		return other
	}
	s.replaced = now
	s.mu.Unlock()
	_ = s.look(false) // what is wrong is logged when it has settled
	return s.current.Load() != changed
}

// checkOverwritten finds out whether the current file itself was changed in place. Then nothing in it can be relied on, and it
// is not served until the path holds a whole file again.
func (s *regionSource) checkOverwritten(current *Pinned, found fileIdentity, err error) {
	var system *fs.PathError
	if current != nil && current.identity.sameFile(found) && !errors.As(err, &system) {
		current.overwritten.Store(&region.DamageError{Path: s.path, Problem: "it was changed in place"})
	}
}

func (s *regionSource) report(current *Pinned) {
	outcome := "the file at a region's path cannot be opened; the one before it is served"
	if current.overwritten.Load() != nil {
		outcome = "a region file was changed in place and cannot be read; its requests are answered 503"
	}
	s.logger.Error(outcome, zap.String("path", s.path), zap.Error(s.problem))
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

// fileIdentity tells a file from another that takes its place. The zero value is that of no file.
type fileIdentity struct{ info fs.FileInfo }

func identify(path string) (fileIdentity, error) {
	info, err := os.Stat(path)
	return fileIdentity{info}, err
}

// same reports whether neither the file nor its content has been replaced, as far as size and time tell.
func (a fileIdentity) same(b fileIdentity) bool {
	if a.info == nil || b.info == nil {
		return a.info == nil && b.info == nil
	}
	return a.sameFile(b) && a.info.Size() == b.info.Size() && a.info.ModTime().Equal(b.info.ModTime())
}

// sameFile reports whether both are one file, whatever it holds.
func (a fileIdentity) sameFile(b fileIdentity) bool {
	return a.info != nil && b.info != nil && os.SameFile(a.info, b.info)
}
