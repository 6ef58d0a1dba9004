package mapsapp

import (
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/usage"
)

// usageFaults are which tasks of a Meter fail, as far as the log says so.
type usageFaults struct {
	mu    sync.Mutex
	tasks [usage.Tasks]struct {
		said bool
		at   time.Time // when it was said last
	}
}

// usageLines are what the log says when a task begins to fail, and when it does not any more.
var usageLines = [usage.Tasks]struct{ fails, again string }{
	usage.TaskFlush: {
		"the store does not take what was counted: usage waits in memory, and is lost if this process is killed. " +
			"Do not restart it; see to what the error says, and it goes on by itself",
		"the store takes what is counted again",
	},
	usage.TaskFold: {
		"usage of hours that are over is not summed up: none is lost, but the store grows and what is too old is not " +
			"removed. See to what the error says; it is tried again each minute",
		"usage is summed up again",
	},
	usage.TaskMark: {
		"the store does not note that a quota was reached: the event waits for it, until the quota's window is over. " +
			"See to what the error says; it goes on by itself",
		"the store notes again which quotas were reached",
	},
}

// usageOutcome writes a line when a task begins to fail and one when it succeeds again: both at most once a minute,
// where it does so by turns.
func (s *openStore) usageOutcome(task usage.Task, err error) {
	s.usageFaults.mu.Lock()
	defer s.usageFaults.mu.Unlock()
	f, lines := &s.usageFaults.tasks[task], usageLines[task]
	switch {
	case err != nil && !f.said && (f.at.IsZero() || time.Since(f.at) >= faultLogEvery):
		f.said, f.at = true, time.Now()
		s.logger.Error(lines.fails, zap.Error(err))
	case err == nil && f.said:
		f.said = false
		s.logger.Info(lines.again)
	}
}
