package regions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/region"
)

const (
	// lookEvery is how often region files are looked at.
	lookEvery = 2 * time.Second
	// replaceEvery is how often requests may have a file opened anew that is being written over in place.
	replaceEvery = 50 * time.Millisecond

	// How long somebody waits for a file system that does not answer.
	openPatience  = 10 * time.Second // for a file that a configuration or an operator wants open
	lookPatience  = 5 * time.Second  // for a look at a path whose file is open
	closePatience = time.Second
)

var (
	errHangs   = errors.New("its file system does not answer; look at the drive or the network share that it is on")
	errExiting = errors.New("the server is ending")
)

// exclusively runs f in a goroutine of its own, after any other that is under way, and waits for what it returns: a
// file with a reference, nil, or an error. When that takes longer than patience, or the process ends, it returns an
// error, and f goes on by itself. As long as it does, nobody else touches the path: a file system that hangs holds
// one thread, not one for each attempt.
func (s *Watched) exclusively(patience time.Duration, f func() (*Pinned, error)) (*Pinned, error) {
	type result struct {
		p   *Pinned
		err error
	}
	results, abandoned := make(chan result), make(chan struct{})
	go func() {
		select {
		case s.turn <- struct{}{}:
		case <-abandoned:
			return
		}
		var r result
		r.p, r.err = f()
		if s.hangs.CompareAndSwap(true, false) {
			s.Logger.Info("the file system of a region file answers again", zap.String("path", s.Path))
		}
		<-s.turn
		select {
		case results <- r:
		case <-abandoned:
			if r.p != nil {
				r.p.Release()
			}
		}
	}()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case r := <-results:
			return r.p, r.err
		case now := <-tick.C:
			if exiting := s.Exiting(); exiting || now.After(deadline) {
				close(abandoned)
				if exiting {
					return nil, errExiting
				}
				return nil, s.noteHang()
			}
		}
	}
}

// noteHang makes requests that would read the file be refused, until the file system answers.
func (s *Watched) noteHang() error {
	s.mu.Lock()
	s.problem = errHangs
	s.mu.Unlock()
	if s.hangs.CompareAndSwap(false, true) {
		s.Logger.Error("a region file cannot be read; its requests are answered 503", zap.String("path", s.Path),
			zap.Error(errHangs))
	}
	return fmt.Errorf("%s: %w", s.Path, errHangs)
}

// open opens the file if none is open, and returns it with a reference. After the end, the file is the caller's alone.
func (s *Watched) open() (*Pinned, error) {
	if p := s.current.Load(); p != nil && p.File.Acquire() {
		return p, nil
	}
	p, err := s.openPinned()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return p, nil
	}
	p.File.Acquire() // the caller's: the first is that of current
	s.problem = nil
	s.store(p)
	s.Logger.Info("region file opened", zap.String("path", s.Path), zap.String("checksum", p.File.Checksum()))
	return p, nil
}

// store makes a file the current one; mu is held.
func (s *Watched) store(p *Pinned) {
	s.current.Store(p)
	s.absent.Store(false) // only now: requests that go on find the file
}

// Start opens the file if none is open, and begins to watch it. The error says why it cannot be opened; a file that is
// awaited and not there is none.
func (s *Watched) Start() error {
	wasOpen := s.current.Load() != nil
	if !wasOpen {
		if err := s.openFirst(); err != nil {
			return err
		}
	}
	s.mu.Lock()
	if !s.watching {
		s.watching = true
		go s.watch()
	}
	s.mu.Unlock()
	if wasOpen {
		_ = s.Look(false) // what is wrong with a new file is logged when it has settled; the old one serves
	}
	return nil
}

// openFirst opens the file. An awaited one that cannot be opened counts as one that has not come: another will take its
// place. What is wrong with it is logged by the looks that follow.
func (s *Watched) openFirst() error {
	p, err := s.exclusively(openPatience, s.open)
	if err == nil {
		p.Release()
		return nil
	}
	if !s.Awaited || errors.Is(err, errHangs) || errors.Is(err, errExiting) {
		return s.explain(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current.Load() == nil {
		s.problem = err
		s.absent.Store(true)
	}
	return nil
}

// Try opens the file and closes it again, and returns why that cannot be done.
func (s *Watched) Try() error {
	_, err := s.exclusively(lookPatience, func() (*Pinned, error) {
		p, err := s.openPinned()
		if err == nil {
			p.Release()
		}
		return nil, err
	})
	return s.explain(err)
}

// explain says how to make a file that is not there.
func (s *Watched) explain(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: make it with `caddy maps build EXTRACT --output %s`", err, s.Path)
	}
	return err
}

func (s *Watched) watch() {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
			_ = s.Look(false)
		}
	}
}

// Look swaps in the file that stands at the path, if it is not the current one or force is set. A file that cannot be
// opened is tried again when it changes, and logged when it has not changed between two looks, so that one that is
// being copied gives no lines until it stays broken. The error says why there is no other file than before.
func (s *Watched) Look(force bool) error {
	patience := lookPatience
	if force {
		patience = openPatience
	}
	_, err := s.exclusively(patience, func() (*Pinned, error) { return nil, s.lookNow(force) })
	return err
}

func (s *Watched) lookNow(force bool) error {
	current, open := s.beginLook(force)
	if !open {
		return nil
	}
	found, err := s.identify()
	if !force {
		if known, problem := s.known(current, found, err); known {
			return problem
		}
	}
	var next *Pinned
	if err == nil {
		next, err = s.openPinned()
	}
	return s.endLook(force, current, next, found, err)
}

// beginLook returns the current file, and whether there is anything to look for.
func (s *Watched) beginLook(force bool) (current *Pinned, wanted bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	current = s.current.Load()
	return current, !s.closed && (current != nil || force || s.absent.Load())
}

// known reports whether what was found at the path has been dealt with before, and what is wrong with it.
func (s *Watched) known(current *Pinned, found fileIdentity, err error) (known bool, problem error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case current == nil && errors.Is(err, fs.ErrNotExist):
		s.problem = err
		return true, err // it is still awaited
	case err == nil && current != nil && current.identity.same(found) && current.overwritten.Load() == nil:
		s.problem = nil
		return true, nil
	case s.problem != nil && s.problem != errHangs && s.refused.same(found):
		if !s.reported {
			s.reported = true
			s.report(current)
		}
		return true, s.problem
	}
	return false, nil
}

// endLook makes the next file the current one, or notes why there is none.
func (s *Watched) endLook(force bool, current, next *Pinned, found fileIdentity, err error) error {
	old := current
	s.mu.Lock()
	switch {
	case s.closed:
		old, err = next, nil // nobody waits for it any more
	case err != nil:
		old = nil
		s.refused, s.problem, s.reported = found, err, force
		s.checkOverwritten(current, found, err)
	default:
		s.problem = nil
		s.store(next)
		s.Logger.Info("a new region file is served", zap.String("path", s.Path), zap.String("checksum", next.File.Checksum()))
	}
	s.mu.Unlock()
	if old != nil {
		old.Release()
	}
	return err
}

// replace looks at the path for a request that found the file changed in place, and reports whether another one is
// current now.
func (s *Watched) replace(changed *Pinned) bool {
	s.mu.Lock()
	now := time.Now()
	soon := now.Sub(s.replaced) < replaceEvery
	if other := s.current.Load() != changed; other || soon {
		s.mu.Unlock()
		return other
	}
	s.replaced = now
	s.mu.Unlock()
	_ = s.Look(false) // what is wrong is logged when it has settled
	return s.current.Load() != changed
}

// checkOverwritten finds out whether the current file itself was changed in place. Then nothing in it can be relied
// on, and it is not served until the path holds a whole file again.
func (s *Watched) checkOverwritten(current *Pinned, found fileIdentity, err error) {
	var system *fs.PathError
	if current != nil && current.identity.sameFile(found) && !errors.As(err, &system) {
		current.overwritten.Store(&region.DamageError{Path: s.Path, Problem: "it was changed in place"})
	}
}

func (s *Watched) report(current *Pinned) {
	outcome := "the file at a region's path cannot be opened; the one before it is served"
	switch {
	case current == nil:
		outcome = "a region file cannot be opened; its requests are answered 503"
	case current.overwritten.Load() != nil:
		outcome = "a region file was changed in place and cannot be read; its requests are answered 503"
	}
	s.Logger.Error(outcome, zap.String("path", s.Path), zap.Error(s.problem))
}

// fileIdentity tells a file from another that takes its place. The zero value is that of no file.
type fileIdentity struct{ info fs.FileInfo }

func (s *Watched) identify() (fileIdentity, error) {
	info, err := s.stat(s.Path)
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
