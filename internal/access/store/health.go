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

// Health tells how the database stands. Its errors are for operators.
type Health struct {
	// Silent is how long the database has not answered; 0 if it does.
	Silent time.Duration
	// Write is why the last change failed; nil if it did not.
	Write error
	// Damage is what is damaged; nil if nothing is known to be.
	Damage error
	// FailedWrites counts the changes that failed since the store was opened.
	FailedWrites uint64
}

const (
	// tolerated is how long a database that is asked twice a second may be silent.
	tolerated = 2500 * time.Millisecond
	// logEvery is the shortest time between two log lines about changes that fail.
	logEvery = time.Minute
)

// health is what calls and database.watch have found.
type health struct {
	opened time.Time
	last   atomic.Int64 // when the database last answered, as a time.Duration since opened
	silent atomic.Bool  // the last question was not answered, and the log says so

	mu           sync.Mutex
	write        error
	failedWrites uint64
	logged       time.Time // when the log last said that changes fail
	reported     bool      // the log's last word is that changes fail
	damage       error
}

// Silent is how long ago the database last answered.
func (s *Store) Silent() time.Duration {
	return time.Since(s.health.opened) - time.Duration(s.health.last.Load())
}

// Health returns the state of the database as far as it is known. It does not ask the database.
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
		h.damaged(logger, err) // it answers
		h.last.Store(int64(time.Since(h.opened)))
		return
	}
	if h.silent.CompareAndSwap(false, true) {
		logger.Error("the store does not answer", zap.Error(err))
	}
}

// wrote takes note of how a change ended.
func (h *health) wrote(logger *zap.Logger, err error) {
	failure, failed := errors.AsType[*Error](err)
	if !failed && err != nil || errors.Is(err, context.Canceled) || errors.Is(err, errClosed) || errors.Is(err, errAway) {
		return // the change was refused or given up, or nobody knows
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
			"the server goes on by itself", zap.Error(err), zap.Uint64("failed_changes", h.failedWrites))
	}
}

// damaged takes note of damage. The first that is found is reported.
func (h *health) damaged(logger *zap.Logger, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.damage == nil {
		h.damage = err
		logger.Error("the store is damaged: requests that need the damaged part get 503. Stop the server and restore a "+
			"backup", zap.Error(err))
	}
}
