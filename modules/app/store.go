package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/store"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// StoreModule is what a module in the namespace maps.stores implements.
type StoreModule interface {
	// Key tells stores apart: configurations whose stores have the same key share one open store.
	Key() string
	// Open opens the store. It is called when the configuration starts, never when it is only checked, and once for
	// each key however many configurations come and go. ctx bounds only the opening; the logger outlives configurations.
	Open(ctx context.Context, logger *zap.Logger) (*store.Store, error)
}

const (
	storeOpenTimeout = 30 * time.Second
	sweepEvery       = time.Minute
	sweepTimeout     = 30 * time.Second
	// lastFlushTimeout is how long a store may take for the last counts before it is closed.
	lastFlushTimeout = 5 * time.Second
)

// openStore is a store that is open, for all configurations and requests that use it.
type openStore struct {
	*store.Store
	meter  *usage.Meter
	shared *shared
	logger *zap.Logger
	stop   context.CancelFunc
	tasks  sync.WaitGroup
	lost   sync.Once // the log says once what is lost
}

var stores = caddy.NewUsagePool() // store key → *openStore

// openStores are those that are open, for metrics. A pool of stores cannot be listed while one of them is being opened.
var openStores sync.Map // *openStore → nothing

func acquireStore(key string, module StoreModule) (*openStore, error) {
	value, _, err := stores.LoadOrNew(key, func() (caddy.Destructor, error) {
		ctx, cancel := context.WithTimeout(context.Background(), storeOpenTimeout)
		defer cancel()
		opened, err := module.Open(ctx, storeLog.logger())
		if err != nil {
			return nil, err
		}
		return newOpenStore(opened), nil
	})
	if err != nil {
		return nil, err
	}
	return value.(*openStore), nil
}

func newOpenStore(opened *store.Store) *openStore {
	ctx, stop := context.WithCancel(context.Background())
	s := &openStore{Store: opened, shared: acquireShared(), logger: storeLog.logger(), stop: stop}
	s.meter = usage.NewMeter(opened, opened.Now, s.quotaReached)
	s.tasks.Go(func() { s.meter.Run(ctx, s.usageFailed()) })
	s.tasks.Go(func() { s.sweep(ctx) })
	openStores.Store(s, nil)
	return s
}

// sweep removes expired grants from time to time.
func (s *openStore) sweep(ctx context.Context) {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		ctx, cancel := context.WithTimeout(ctx, sweepTimeout)
		if _, err := s.SweepGrants(ctx); err != nil && !errors.Is(err, context.Canceled) {
			s.logger.Debug("sweeping expired grants", zap.Error(err)) // the store has reported why it cannot be changed
		}
		cancel()
	}
}

// usageFailed returns a function that logs failures of the meter, each kind once a minute.
func (s *openStore) usageFailed() func(what string, err error) {
	const every = time.Minute
	logged := make(map[string]time.Time)
	return func(what string, err error) {
		if time.Since(logged[what]) >= every {
			logged[what] = time.Now()
			s.logger.Error(what+" failed; it is tried again. What was counted waits in memory, and is lost if the process is "+
				"killed before", zap.Error(err))
		}
	}
}

// quotaReached tells the operator that a quota was used to a level, once for all servers that share the store.
func (s *openStore) quotaReached(r usage.Reached) {
	kind := "warned"
	if r.Level >= 100 {
		kind = "reached"
	}
	start := time.Unix(r.Start, 0).UTC().Format(time.RFC3339)
	end := r.End.UTC().Format(time.RFC3339)
	s.logger.Warn("quota "+kind,
		zap.String("account_id", r.Account),
		zap.String("organization", r.Organization),
		zap.Stringer("quota", r.Quota),
		zap.Int64("used", r.Used),
		zap.String("resets_at", end))
	s.shared.events.put(event{logger: s.logger, name: "maps.quota." + kind, data: map[string]any{
		"account_id":   r.Account,
		"organization": r.Organization,
		"scope":        r.Quota.Scope,
		"unit":         string(r.Quota.Unit),
		"window":       string(r.Quota.Window),
		"limit":        r.Quota.Limit,
		"used":         r.Used,
		"window_start": start,
		"resets_at":    end,
	}})
}

// flushUsage hands over what was counted, when there may be no later moment to do so.
func (s *openStore) flushUsage() {
	ctx, cancel := context.WithTimeout(context.Background(), lastFlushTimeout)
	defer cancel()
	if err := s.meter.Flush(ctx); err != nil {
		s.lost.Do(func() {
			s.logger.Error("the store did not take what was counted last: that usage is lost when the process ends",
				zap.Int64("requests", s.meter.Unflushed()), zap.Error(err))
		})
	}
}

// Destruct closes the store. The pool calls it when nothing uses the store any more.
func (s *openStore) Destruct() error {
	openStores.Delete(s)
	s.stop()
	s.tasks.Wait()
	s.flushUsage()
	releaseShared()
	return s.Close()
}
