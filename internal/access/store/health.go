package store

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// Error is an error of the database itself.
type Error struct {
	err     error
	damaged bool
}

// Error implements error.
func (e *Error) Error() string { return "accounts database: " + e.err.Error() }

// Unwrap returns the error of the driver.
func (e *Error) Unwrap() error { return e.err }

// Is makes errors about damage match account.ErrDamaged.
func (e *Error) Is(target error) bool { return e.damaged && target == account.ErrDamaged }

// Health is the state of the database. Its errors are for operators.
type Health struct {
	// Silent is how long the database has not responded; 0 if it responds.
	Silent time.Duration
	// Write is the error of the last change; nil if it succeeded.
	Write error
	// Damage describes damaged data; nil if none is known.
	Damage error
	// FailedWrites is the number of failed changes since the store was opened.
	FailedWrites uint64
}

const (
	// tolerated is how long the database, which is polled twice a second, may not respond.
	tolerated = 2500 * time.Millisecond
	// logEvery is the shortest time between two log entries about failed changes.
	logEvery = time.Minute
)

// health records the results of calls and of database.watch.
type health struct {
	opened time.Time
	last   atomic.Int64 // when the database last responded, as a time.Duration since opened
	silent atomic.Bool  // the last poll failed, which was logged

	mu           sync.Mutex
	write        error
	failedWrites uint64
	logged       time.Time // when failed changes were last logged
	reported     bool      // they were logged, and no success since
	damage       error
}

// Silent is the time since the last response of the database.
func (s *Store) Silent() time.Duration {
	return time.Since(s.health.opened) - time.Duration(s.health.last.Load())
}

// Health returns the last known state of the database, without a call.
func (s *Store) Health() Health {
	h := &s.health
	h.mu.Lock()
	defer h.mu.Unlock()
	found := Health{Write: h.write, Damage: h.damage, FailedWrites: h.failedWrites}
	if silent := s.Silent(); h.silent.Load() || silent > tolerated {
		found.Silent = silent
	}
	return found
}

func (h *health) answered(logger *zap.Logger) {
	h.last.Store(int64(time.Since(h.opened)))
	if h.silent.CompareAndSwap(true, false) {
		logger.Info("the store answers again")
	}
}

func (h *health) failed(logger *zap.Logger, err error) {
	if errors.Is(err, account.ErrDamaged) {
		h.damaged(logger, err) // it responds
		h.last.Store(int64(time.Since(h.opened)))
		return
	}
	if h.silent.CompareAndSwap(false, true) {
		logger.Error("the store does not answer", zap.Error(err))
	}
}

// wrote records the result of a change.
func (h *health) wrote(logger *zap.Logger, err error) {
	failure, failed := errors.AsType[*Error](err)
	if !failed && err != nil || errors.Is(err, context.Canceled) || errors.Is(err, errClosed) ||
		errors.Is(err, errUnreachable) {
		return // the change was refused, given up, or its result is unknown
	}
	if errors.Is(err, account.ErrDamaged) {
		h.damaged(logger, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !failed {
		if h.write = nil; h.reported {
			h.reported = false
			logger.Info("the store can write again")
		}
		return
	}
	h.write = failure
	h.failedWrites++
	if time.Since(h.logged) >= logEvery {
		h.logged, h.reported = time.Now(), true
		logger.Error("the store cannot write: requests that change it get 503. If its disk is full, make room; "+
			"the server recovers without a restart", zap.Error(err), zap.Uint64("failed_changes", h.failedWrites))
	}
}

// damaged records and logs the first damage.
func (h *health) damaged(logger *zap.Logger, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.damage == nil {
		h.damage = err
		logger.Error("the store is damaged: requests that need the damaged part get 503. Stop the server and restore a "+
			"backup", zap.Error(err))
	}
}
