package mapsapp

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/store"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// StoreModule is what a module in the namespace maps.stores implements.
type StoreModule interface {
	// Key tells stores apart: configurations whose stores have the same key share one open store.
	Key() string
	// Open opens the store. It is called when the configuration starts, never when it is only checked, and once for
	// each key however many configurations come and go. ctx bounds the opening alone; the logger outlives configurations.
	Open(ctx context.Context, logger *zap.Logger) (store.Store, error)
}

const (
	storeOpenTimeout = 30 * time.Second
	storeCheckEvery  = time.Second
	storeCheckLimit  = time.Second
	sweepEvery       = time.Minute
	sweepLimit       = 30 * time.Second
)

// openStore is a store that is open, for all configurations and requests that use it.
type openStore struct {
	live   *account.Live
	kept   store.Store // what live stands on
	meter  *usage.Meter
	shared *shared
	logger *zap.Logger
	stop   context.CancelFunc
	tasks  sync.WaitGroup

	// lastAnswer is when the store answered last, in Unix nanoseconds, while it does not answer; 0 while it does.
	lastAnswer atomic.Int64
	// heard is used instead for a store that other processes change, too.
	heard heard
	// writing is whether it can be changed.
	writing writing
	// usageFaults are what the log says of tasks of the meter.
	usageFaults usageFaults
	// unwritten is how many requests the log says will be lost when this process ends.
	unwritten atomic.Int64
	// clocksDiffer is whether the log says that the store's clock differs; for watchClock alone.
	clocksDiffer bool
}

var stores = caddy.NewUsagePool() // store key → *openStore

func acquireStore(key string, module StoreModule) (*openStore, error) {
	value, _, err := stores.LoadOrNew(key, func() (caddy.Destructor, error) {
		logger := zap.New(currentLog{}).Named("maps.store")
		ctx, cancel := context.WithTimeout(context.Background(), storeOpenTimeout)
		defer cancel()
		kept, err := module.Open(ctx, logger)
		if err != nil {
			return nil, err
		}
		return newOpenStore(kept, logger), nil
	})
	if err != nil {
		return nil, err
	}
	return value.(*openStore), nil
}

func newOpenStore(kept store.Store, logger *zap.Logger) *openStore {
	ctx, stop := context.WithCancel(context.Background())
	s := &openStore{
		live:   account.NewLive(kept),
		shared: acquireShared(),
		kept:   kept,
		logger: logger,
		stop:   stop,
	}
	s.meter = usage.NewMeter(kept, s.live.Now, s.quotaReached)
	s.meter.OnOutcome(s.usageOutcome)
	s.tasks.Go(func() { s.meter.Run(ctx) })
	s.live.OnFailedChange(s.changeFailed)
	s.writing.probed = time.Now().Add(firstProbe - probeEvery)
	if watcher, ok := kept.(account.Watcher); ok {
		s.heard.synced(time.Now())
		s.tasks.Go(func() { watcher.Watch(ctx, listener{s.live, s}) })
	} else {
		s.tasks.Go(func() { every(ctx, storeCheckEvery, s.check) })
	}
	s.tasks.Go(func() { every(ctx, storeCheckEvery, s.checkWrites) })
	s.tasks.Go(func() { every(ctx, sweepEvery, s.sweep) })
	return s
}

func every(ctx context.Context, interval time.Duration, task func(context.Context)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			task(ctx)
		}
	}
}

// check asks the store for an account that cannot exist.
func (s *openStore) check(ctx context.Context) {
	asked := time.Now()
	ctx, cancel := context.WithTimeout(ctx, storeCheckLimit)
	defer cancel()
	_, err := s.live.Store.Account(ctx, "sa_")
	if answers(err) {
		if s.lastAnswer.Swap(0) != 0 {
			s.logger.Info("the store answers again")
		}
		return
	}
	if errors.Is(err, context.Canceled) {
		return // closing
	}
	if s.lastAnswer.CompareAndSwap(0, asked.UnixNano()) {
		s.logger.Error("the store does not answer", zap.Error(err))
	}
}

// answers reports whether a store that returned an error can be asked. One that is damaged can: that is a fault of
// another kind.
func answers(err error) bool {
	return !account.IsUnavailable(err) || errors.Is(err, account.ErrDamaged)
}

// sweep removes expired grants.
func (s *openStore) sweep(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, sweepLimit)
	defer cancel()
	n, err := s.live.SweepGrants(ctx, s.live.Now())
	switch {
	case err != nil && !errors.Is(err, context.Canceled):
		s.logger.Debug("sweeping expired grants", zap.Error(err)) // as a change that failed it is counted and logged
	case n > 0:
		s.logger.Debug("swept expired grants", zap.Int("count", n))
	}
}

// staleness is for how long the store has not answered; 0 while it does.
func (s *openStore) staleness() time.Duration {
	if s.heard.used() {
		return s.heard.staleness()
	}
	last := s.lastAnswer.Load()
	if last == 0 {
		return 0
	}
	return time.Since(time.Unix(0, last))
}

// Destruct closes the store. The pool calls it when nobody uses the store any more.
func (s *openStore) Destruct() error {
	s.stop()
	s.tasks.Wait()
	s.flushUsage()
	releaseShared()
	return s.live.Close()
}

// currentLog writes to the log of whatever configuration is running, since a store outlives the one that opened it.
type currentLog struct{ fields []zapcore.Field }

func (currentLog) Enabled(level zapcore.Level) bool { return caddy.Log().Core().Enabled(level) }

func (c currentLog) With(fields []zapcore.Field) zapcore.Core {
	return currentLog{append(c.fields[:len(c.fields):len(c.fields)], fields...)}
}

func (c currentLog) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if c.Enabled(entry.Level) {
		return checked.AddCore(entry, c)
	}
	return checked
}

func (c currentLog) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	return caddy.Log().Core().With(c.fields).Write(entry, fields)
}

func (currentLog) Sync() error { return caddy.Log().Core().Sync() }
