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

// run looks at the path when it is asked to and, after the first time, again and again.
func (w *Watched) run() {
	defer close(w.ended)
	defer w.close()
	var ticks <-chan time.Time
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-w.wake:
		case <-ticks:
		}
		forced := w.begin()
		w.end(w.look(forced))
		if ticks == nil {
			ticker := time.NewTicker(w.every)
			defer ticker.Stop()
			ticks = ticker.C
		}
	}
}

func (w *Watched) close() {
	w.mu.Lock()
	p := w.current.Swap(nil)
	w.mu.Unlock()
	if p != nil {
		p.Release()
	}
}

func (w *Watched) begin() (forced bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	forced, w.forced = w.forced, false
	w.answering, w.asked = w.asked, nil
	w.looking, w.verifying, w.read = true, nil, 0
	w.alarm = time.AfterFunc(w.patience, w.noteDelay)
	return forced
}

func (w *Watched) end(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looking, w.verifying = false, nil
	w.alarm.Stop()
	w.answer(err)
	w.responds()
}

// answer tells those that wait for the present look; mu is held.
func (w *Watched) answer(err error) {
	for _, answer := range w.answering {
		answer <- err
	}
	w.answering = nil
}

func (w *Watched) responds() {
	if w.hangs.CompareAndSwap(true, false) {
		w.Logger.Info("the file system of a region file responds again", zap.String("path", w.Path))
	}
}

// noteDelay is called while a look takes long. Unless a file is being verified and that makes progress, the file system
// hangs: those that wait get an error, and requests that would read the file get 503, until it responds.
func (w *Watched) noteDelay() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.looking {
		return
	}
	w.alarm.Reset(w.patience)
	if w.verifying != nil {
		if read := w.verifying.Read(); read > w.read {
			w.read = read
			w.responds()
			return
		}
	}
	w.answering, w.asked = append(w.answering, w.asked...), nil
	w.answer(w.hanging())
	if w.hangs.CompareAndSwap(false, true) {
		w.Logger.Error("a region file cannot be read; requests that need it get 503", zap.String("path", w.Path),
			zap.Error(errHangs))
	}
}

func (w *Watched) hanging() error { return fmt.Errorf("%s: %w", w.Path, errHangs) }

// look opens the file at the path if it is another one than the current one, and swaps it in. A good file is replaced
// only by one of which all has been compared with its checksums. The first file, and one that was changed in place,
// serve at once: there is no good one, and each block is checked when it is first read.
//
// A file that cannot be served is tried again when it changes. It is logged when it has not changed between two looks,
// so that one that is being copied gives no lines unless it stays broken.
func (w *Watched) look(forced bool) error {
	current := w.current.Load()
	found, err := w.identify()
	good := current != nil && current.overwritten.Load() == nil
	same := good && err == nil && current.identity.same(found)
	if known, problem := w.known(current, same, forced, found, err); known {
		return problem
	}
	var next *Pinned
	if err == nil {
		next, err = w.openPinned()
	}
	if err != nil {
		return w.refuse(current, found, err, forced)
	}
	if good && !current.identity.sameFile(next.identity) && !next.verified {
		err := w.verifyWhole(next)
		if w.ctx.Err() != nil {
			next.Release()
			return nil // nobody waits for it any more
		}
		if err != nil {
			next.Release()
			return w.refuse(current, found, err, forced)
		}
	}
	w.swap(current, next)
	if forced && !next.verified {
		return w.verifyCurrent(next)
	}
	return nil
}

// known reports whether there is nothing to do about what was found at the path, and what is wrong with it.
func (w *Watched) known(current *Pinned, same, forced bool, found fileIdentity, err error) (known bool, problem error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case same && (!forced || current.verified && current.met.Load() == nil):
		w.problem = nil
		return true, nil
	case w.Awaited && current == nil && errors.Is(err, fs.ErrNotExist):
		w.problem, w.refused, w.reported = err, found, true
		return true, err
	case !forced && w.problem != nil && w.refused.same(found):
		if !w.reported {
			w.reported = true
			w.report(current)
		}
		return true, w.problem
	}
	return false, nil
}

// refuse records that the file at the path cannot be served.
func (w *Watched) refuse(current *Pinned, found fileIdentity, err error, report bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refused, w.problem, w.reported = found, err, report
	var system *fs.PathError
	if current != nil && current.identity.sameFile(found) && !errors.As(err, &system) {
		// The current file itself was changed: nothing in it can be relied on.
		current.overwritten.Store(&region.DamageError{Path: w.Path, Problem: "it was changed in place"})
	}
	if report {
		w.report(current)
	}
	return err
}

func (w *Watched) report(current *Pinned) {
	if current == nil && !w.Awaited {
		return // the server does not start, and says why
	}
	outcome := "the file at a region's path cannot be served; the last good one stays in service"
	switch {
	case current == nil:
		outcome = "a region file cannot be opened; requests that need it get 503"
	case current.overwritten.Load() != nil:
		outcome = "a region file was changed in place and cannot be read; requests that need it get 503"
	}
	w.Logger.Error(outcome, zap.String("path", w.Path), zap.Error(w.problem))
}

// verifyWhole compares all of a file with its checksums. It ends with the process.
func (w *Watched) verifyWhole(p *Pinned) error {
	w.mu.Lock()
	w.verifying = p.File
	w.mu.Unlock()
	err := w.verify(p.File, w.ctx)
	w.mu.Lock()
	w.verifying = nil
	w.mu.Unlock()
	if err == nil && p.File.Changed() {
		err = p.beingChanged()
	}
	p.verified = err == nil
	return err
}

// verifyCurrent verifies a file that is in use. Most of one that is damaged can still be read.
func (w *Watched) verifyCurrent(p *Pinned) error {
	if !p.File.Acquire() {
		return nil
	}
	defer p.Release()
	err := w.verifyWhole(p)
	if w.ctx.Err() != nil {
		return nil
	}
	return p.Report(err)
}

// swap makes the next file the current one.
func (w *Watched) swap(current, next *Pinned) {
	w.mu.Lock()
	w.problem = nil
	w.current.Store(next)
	w.mu.Unlock()
	fields := []zap.Field{zap.String("path", w.Path), zap.String("checksum", next.Checksum)}
	if current == nil {
		w.Logger.Info("region file opened", fields...)
		return
	}
	if current.Checksum != next.Checksum || current.overwritten.Load() != nil {
		w.Logger.Info("a new region file is served", fields...)
	}
	current.Release()
}

// fileIdentity tells a file from another that replaces it. The zero value is that of no file.
type fileIdentity struct{ info fs.FileInfo }

func (w *Watched) identify() (fileIdentity, error) {
	info, err := w.stat(w.Path)
	return fileIdentity{info}, err
}

// same reports whether neither the file nor its content has been replaced, as far as size and time tell.
func (a fileIdentity) same(b fileIdentity) bool {
	if a.info == nil || b.info == nil {
		return a.info == nil && b.info == nil
	}
	return a.sameFile(b) && a.info.Size() == b.info.Size() && a.info.ModTime().Equal(b.info.ModTime())
}

// sameFile reports whether both are one file, even if its content has changed.
func (a fileIdentity) sameFile(b fileIdentity) bool {
	return a.info != nil && b.info != nil && os.SameFile(a.info, b.info)
}
