package bolt

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/account"
)

const (
	// checkEvery is how often the whole file is compared with what was written, also what nobody asks for.
	checkEvery = time.Hour
	// checkStep is how many pages are compared in one transaction, after which others have the processor for checkPause.
	checkStep  = 256
	checkPause = 2 * time.Millisecond
	firstPage  = 2 // behind the two heads
	// logEvery is how often damage is logged at most.
	logEvery = time.Minute
)

// damageLog keeps in mind that there is damage, and tells the operator.
type damageLog struct {
	path   string
	logger *zap.Logger

	mu      sync.Mutex
	seen    bool
	logged  time.Time
	unnamed int // cases since the last line of the log
}

// see looks for damage in an error of a call.
func (d *damageLog) see(err error) {
	if !errors.Is(err, account.ErrDamaged) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen = true
	if !d.logged.IsZero() && time.Since(d.logged) < logEvery {
		d.unnamed++
		return
	}
	d.logger.Error("a part of the accounts database is damaged; what needs it is answered 503. Stop the server, see what"+
		" `caddy maps verify-store` finds, and restore a backup", zap.String("path", d.path), zap.Int("more_since_last",
		d.unnamed), zap.Error(err))
	d.logged, d.unnamed = time.Now(), 0
}

func (d *damageLog) any() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seen
}

// Faults implements account.Faulty. Damage is not taken back before the server is started again: nothing mends it
// meanwhile.
func (s *Store) Faults() []account.Fault {
	if s.damage.any() {
		return []account.Fault{account.FaultDamaged}
	}
	return nil
}

// watch compares the whole file again and again.
func (s *Store) watch(every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-ticker.C:
			s.checkPages()
		}
	}
}

// checkPages compares all pages in use with what they were, a few in each transaction, so that no commit waits
// long for its end.
func (s *Store) checkPages() {
	for next := uint64(firstPage); ; {
		err := s.read(context.Background(), func(tx *bbolt.Tx) error { // read logs what it meets
			v := newView(tx, s.file.sums)
			ids, after, ok := s.file.sums.used(tx.ID(), next, checkStep)
			if !ok {
				return nil // there was a commit; once more
			}
			next = after
			for _, id := range ids {
				if _, err := v.page(id); err != nil {
					s.damage.see(err)
				}
			}
			return nil
		})
		if err != nil || next == 0 {
			return
		}
		select {
		case <-s.stop:
			return
		case <-time.After(checkPause):
		}
	}
}

// Interface guard
var _ account.Faulty = (*Store)(nil)
