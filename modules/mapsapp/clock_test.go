package mapsapp

import (
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/account/accounttest"
	"github.com/mapsedge/caddy-maps/internal/usage"
	"github.com/mapsedge/caddy-maps/internal/usage/usagetest"
)

type accounts struct{ account.Store }

// offClock is a store whose clock is behind that of this machine.
type offClock struct {
	accounts
	usage.Store
	behind time.Duration
}

func newOffClock(behind time.Duration) *offClock {
	return &offClock{accounts{accounttest.NewMemory()}, usagetest.NewMemory(), behind}
}

func (s *offClock) Now() time.Time { return time.Now().Add(-s.behind) }

// TestWatchClock: the log has a line when the clocks begin to differ and one when they agree again, and none for what
// goes on.
func TestWatchClock(t *testing.T) {
	const warned, relieved, quiet = zapcore.WarnLevel, zapcore.InfoLevel, zapcore.InvalidLevel
	store := newOffClock(0)
	core, logs := observer.New(zapcore.DebugLevel)
	s := &openStore{live: account.NewLive(store), logger: zap.New(core)}
	for _, step := range []struct {
		ahead time.Duration // by which this machine's clock is ahead
		want  zapcore.Level
	}{
		{0, quiet},
		{clockWarning - 500*time.Millisecond, quiet},
		{clockWarning + time.Millisecond, warned},
		{time.Hour, quiet}, // it is known
		{clockRelief + 500*time.Millisecond, quiet},
		{clockWarning + time.Second, quiet}, // it went to and fro between the two bounds
		{clockRelief - 500*time.Millisecond, relieved},
		{0, quiet},
		{-clockRelief, quiet},
		{-clockWarning - time.Second, warned}, // a clock that is behind is as bad
		{time.Minute, quiet},                  // from one side to the other
		{-100 * time.Millisecond, relieved},
	} {
		store.behind = step.ahead
		if got := s.clockOffset(); (got - step.ahead).Abs() > 400*time.Millisecond {
			t.Errorf("the offset is %v, want %v", got, step.ahead)
		}
		s.watchClock()
		lines := logs.TakeAll()
		switch {
		case step.want == quiet && len(lines) != 0:
			t.Errorf("ahead by %v: %v", step.ahead, lines)
		case step.want != quiet && (len(lines) != 1 || lines[0].Level != step.want):
			t.Errorf("ahead by %v: %v, want one line of level %v", step.ahead, lines, step.want)
		case step.want != quiet:
			if got, ok := lines[0].ContextMap()["offset"].(time.Duration); !ok || (got-step.ahead).Abs() > 400*time.Millisecond {
				t.Errorf("the line says that the offset is %v, want %v", lines[0].ContextMap()["offset"], step.ahead)
			}
		}
	}
}

// TestNoStoreClock: a store without a clock of its own goes by this machine's, from which nothing differs.
func TestNoStoreClock(t *testing.T) {
	core, logs := observer.New(zapcore.DebugLevel)
	s := &openStore{live: account.NewLive(accounttest.NewMemory()), logger: zap.New(core)}
	s.watchClock()
	if offset := s.clockOffset(); offset != 0 || logs.Len() != 0 {
		t.Errorf("offset %v, log %v", offset, logs.All())
	}
}

// TestLargestClockOffset: of the stores that are open, the metric shows the one whose clock differs most, to either
// side.
func TestLargestClockOffset(t *testing.T) {
	for _, test := range []struct {
		name   string
		behind []time.Duration
		want   time.Duration
	}{
		{"one", []time.Duration{90 * time.Second}, 90 * time.Second},
		{"two during a reload", []time.Duration{time.Second, 2 * time.Minute}, 2 * time.Minute},
		{"this machine is behind one of them", []time.Duration{time.Second, -2 * time.Minute, time.Minute}, -2 * time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			for i, behind := range test.behind {
				key := t.Name() + string(rune('a'+i))
				_, _, err := stores.LoadOrNew(key, func() (caddy.Destructor, error) {
					return newOpenStore(newOffClock(behind), zap.NewNop()), nil
				})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if _, err := stores.Delete(key); err != nil {
						t.Error(err)
					}
				})
			}
			got := time.Duration(largestClockOffset() * float64(time.Second))
			if (got - test.want).Abs() > time.Second {
				t.Errorf("the metric shows %v, want %v", got, test.want)
			}
		})
	}
}
