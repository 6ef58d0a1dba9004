package mapsapp

import (
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// listener hears what other processes change in a store that this one shares with them.
type listener struct {
	*account.Live
	store *openStore
}

// Synced is the method of account.Listener.
func (l listener) Synced(asked time.Time) {
	if l.store.heard.synced(asked) {
		l.store.logger.Info("the store answers again")
	}
	l.store.watchClock()
}

// NotSynced is the method of account.Listener.
func (l listener) NotSynced(err error) {
	if l.store.heard.failed() {
		l.store.logger.Error("the store does not answer", zap.Error(err))
	}
}

// heard is up to when all changes of other processes are known. It is exact: a process that was stopped for a while
// knows at its first request that it has missed something.
type heard struct {
	upTo    atomic.Int64 // since processStart, in nanoseconds; 0 where the store is no account.Watcher
	took    atomic.Int64 // how long the last answer was on its way, in nanoseconds
	failing atomic.Bool
}

// processStart makes moments that a change of the system's clock does not move.
var processStart = time.Now()

// toleratedGap is how long a store may be quiet between two answers before it counts as one that does not answer,
// beside what answers take that come over a slow link. It is asked twice a second.
const toleratedGap = 2 * time.Second

func (h *heard) used() bool { return h.upTo.Load() != 0 }

// synced reports whether this ends a failure.
func (h *heard) synced(asked time.Time) bool {
	h.took.Store(int64(time.Since(asked)))
	h.upTo.Store(max(1, int64(asked.Sub(processStart))))
	return h.failing.Swap(false)
}

// failed reports whether this begins a failure.
func (h *heard) failed() bool { return !h.failing.Swap(true) }

func (h *heard) ago() time.Duration { return time.Since(processStart) - time.Duration(h.upTo.Load()) }

// staleness is 0 while the store answers when it is asked.
func (h *heard) staleness() time.Duration {
	ago := h.ago()
	if ago < toleratedGap+2*time.Duration(h.took.Load()) && !h.failing.Load() {
		return 0
	}
	return ago
}

// Interface guard
var _ account.Listener = listener{}
