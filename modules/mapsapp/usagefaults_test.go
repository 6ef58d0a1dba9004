package mapsapp

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/mapsedge/caddy-maps/internal/usage"
)

// TestUsageOutcome: the log has a line when a task begins to fail, and one when it does not any more, but no more than
// that a minute.
func TestUsageOutcome(t *testing.T) {
	failed := errors.New("connection refused")
	for task := range usage.Tasks {
		synctest.Test(t, func(t *testing.T) {
			core, log := observer.New(zapcore.DebugLevel)
			s := &openStore{logger: zap.New(core)}
			for i, step := range []struct {
				wait  time.Duration
				task  usage.Task
				err   error
				fails bool // there is such a line
				again bool
			}{
				{0, task, nil, false, false},
				{time.Second, task, failed, true, false},
				{time.Second, task, failed, false, false},
				{time.Second, (task + 1) % usage.Tasks, nil, false, false},
				{time.Hour, task, failed, false, false},
				{time.Second, task, nil, false, true},
				{time.Second, task, nil, false, false},
				{time.Hour, task, failed, true, false},
				{time.Second, task, nil, false, true},
				{time.Second, task, failed, false, false},
				{time.Minute, task, failed, true, false},
			} {
				time.Sleep(step.wait)
				s.usageOutcome(step.task, step.err)
				lines := log.TakeAll()
				switch {
				case !step.fails && !step.again:
					if len(lines) != 0 {
						t.Errorf("step %d: %v", i, lines)
					}
				case len(lines) != 1:
					t.Errorf("step %d: %d lines", i, len(lines))
				case step.fails && (lines[0].Message != usageLines[task].fails || lines[0].Level != zapcore.ErrorLevel ||
					lines[0].ContextMap()["error"] != failed.Error()):
					t.Errorf("step %d: %v", i, lines[0])
				case step.again && lines[0].Message != usageLines[task].again:
					t.Errorf("step %d: %v", i, lines[0])
				}
			}
		})
	}
}
