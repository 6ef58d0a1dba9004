package mapsapp

import (
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/account"
)

const (
	// clockWarning is from which difference on between this machine's clock and the store's there is a line in the log,
	// and clockRelief up to which one it has ended.
	clockWarning = 5 * time.Second
	clockRelief  = 4 * time.Second
)

// clockOffset is by how much this machine's clock is ahead of the store's; 0 where the store goes by this machine's.
func (s *openStore) clockOffset() time.Duration {
	if _, ok := s.live.Store.(account.Clock); !ok {
		return 0
	}
	return time.Since(s.live.Now())
}

// watchClock logs when the clocks begin to differ, and when they no longer do. It is called whenever the store has
// answered.
func (s *openStore) watchClock() {
	offset := s.clockOffset()
	switch off := offset.Abs(); {
	case off > clockWarning && !s.clocksDiffer:
		s.clocksDiffer = true
		s.logger.Warn("the clock of this machine and that of the accounts database differ; "+
			"tokens and keys go by the database's, "+
			"everything else by this one: let both be set by NTP", zap.Duration("offset", offset))
	case off < clockRelief && s.clocksDiffer:
		s.clocksDiffer = false
		s.logger.Info("the clock of this machine and that of the accounts database agree again",
			zap.Duration("offset", offset))
	}
}

// largestClockOffset is that of the store whose clock differs most; during a reload there may be two.
func largestClockOffset() float64 {
	var largest time.Duration
	stores.Range(func(_, value any) bool {
		if offset := value.(*openStore).clockOffset(); offset.Abs() > largest.Abs() {
			largest = offset
		}
		return true
	})
	return largest.Seconds()
}
