package regions

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"go.uber.org/zap"
)

// run polls the path on request and, after the first request, regularly.
func (w *Watched) run() {
	var ticks <-chan time.Time
	for {
		var request pollRequest
		select {
		case <-w.ctx.Done():
			return
		case request = <-w.polls:
		case <-ticks:
		}
		w.mu.Lock()
		w.read, w.alarm = 0, time.AfterFunc(w.timeout, w.noteDelay)
		w.mu.Unlock()
		err := w.poll(request.verify)
		w.mu.Lock()
		w.alarm.Stop()
		w.alarm = nil
		w.setHangs(false)
		w.mu.Unlock()
		if request.result != nil {
			request.result <- err
		}
		if ticks == nil {
			ticker := time.NewTicker(w.every)
			defer ticker.Stop()
			ticks = ticker.C
		}
	}
}

// noteDelay is called when a poll takes long. The file system hangs, unless a verification makes progress.
func (w *Watched) noteDelay() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.alarm == nil {
		return // the poll has just ended
	}
	w.alarm.Reset(w.timeout)
	var read int64
	if verifying := w.verifying.Load(); verifying != nil {
		read = verifying.Read()
	}
	w.setHangs(read == w.read)
	w.read = read
}

// setHangs records whether the file system hangs. While it does, requests and polls get an error at once. mu is locked.
func (w *Watched) setHangs(hangs bool) {
	switch before := w.hangs.Swap(hangs); {
	case hangs && !before:
		w.Logger.Error("a region file cannot be read; requests that need it get 503", zap.String("path", w.Path),
			zap.Error(errHangs))
	case before && !hangs:
		w.Logger.Info("the file system of a region file responds again", zap.String("path", w.Path))
	}
}

func (w *Watched) hanging() error { return fmt.Errorf("%s: %w", w.Path, errHangs) }

// poll opens the file at the path if it is not the current one, and swaps it in. A good file is only replaced by one
// that has been verified. The first file, and one that was changed in place, are served at once, since there is no good
// one; each block is verified when it is first read. A forced poll verifies them while they are served.
//
// A file that cannot be served is tried again when it changes. It is logged when two polls find it unchanged, so that a
// file that is being copied is not logged.
func (w *Watched) poll(forced bool) error {
	current := w.current.Load()
	good := current != nil && !current.overwritten.Load()
	found, err := w.stat(w.Path) // before it is opened, so that a file that replaces it in between is noticed
	if good && err == nil && same(current.identity, found) &&
		(!forced || current.verified && current.damage.Load() == nil) {
		w.setProblem(nil)
		return nil
	}
	if !forced && w.problem != nil && same(w.refused, found) {
		w.report(current)
		return w.problem
	}
	var next *Pinned
	if err == nil {
		next, err = w.open(w.Path)
	}
	if err != nil {
		return w.refuse(current, found, err, forced)
	}
	w.mu.Lock()
	next.identity, next.verified = found, w.checked != nil && same(w.checked, found)
	w.mu.Unlock()
	if good && !os.SameFile(current.identity, found) && !next.verified {
		if err := w.verifyWhole(next); err != nil {
			next.Release()
			return w.refuse(current, found, err, forced)
		}
	}
	if !w.swap(current, next) || !forced || next.verified || !next.File.Acquire() {
		return nil
	}
	defer next.Release()
	return next.Report(w.verifyWhole(next)) // it stays in use: most of a damaged file can be read
}

// refuse records that the file at the path cannot be served.
func (w *Watched) refuse(current *Pinned, found fs.FileInfo, err error, report bool) error {
	if ended := w.ctx.Err(); ended != nil {
		return ended
	}
	if current != nil && os.SameFile(current.identity, found) && !errors.As(err, new(*fs.PathError)) {
		current.overwritten.Store(true) // none of it is reliable
	}
	w.setProblem(err)
	if w.refused, w.reported = found, false; report {
		w.report(current)
	}
	return err
}

func (w *Watched) setProblem(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problem = err
}

// report logs the problem, once.
func (w *Watched) report(current *Pinned) {
	if w.reported || current == nil && (!w.Awaited || errors.Is(w.problem, fs.ErrNotExist)) {
		return // Start returns the error, or has logged that the file is awaited
	}
	w.reported = true
	outcome := "the file at a region's path cannot be served; the last good one stays in service"
	switch {
	case current == nil:
		outcome = "a region file cannot be opened; requests that need it get 503"
	case current.overwritten.Load():
		outcome = "a region file was changed in place and cannot be read; requests that need it get 503"
	}
	w.Logger.Error(outcome, zap.String("path", w.Path), zap.Error(w.problem))
}

// verifyWhole verifies all of a file, until Destruct.
func (w *Watched) verifyWhole(p *Pinned) error {
	w.verifying.Store(p.File)
	defer w.verifying.Store(nil)
	err := w.verify(p.File, w.ctx)
	if err == nil && p.File.Changed() {
		err = p.changed()
	}
	p.verified = err == nil
	return err
}

// swap makes the next file the current one, unless Destruct was called.
func (w *Watched) swap(current, next *Pinned) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ctx.Err() != nil {
		next.Release()
		return false
	}
	w.problem = nil
	w.current.Store(next)
	message := "region file opened"
	if current != nil {
		current.Release()
		message = "a new region file is served"
	}
	w.Logger.Info(message, zap.String("path", w.Path), zap.String("checksum", next.Checksum))
	return true
}

// same reports whether both are the same unchanged file, by identity, size and time; nil is no file.
func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
