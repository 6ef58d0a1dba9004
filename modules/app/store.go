package app

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/store"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
)

// StoreModule is implemented by modules in the namespace maps.stores.
type StoreModule interface {
	// Key identifies a store: configurations whose stores have the same key share one open store.
	Key() string
	// Open opens the store. It is called when a configuration starts, not when it is only checked, and only if no store
	// with the same key is open. ctx bounds only the opening. The logger outlives configurations.
	Open(ctx context.Context, logger *zap.Logger) (*store.Store, error)
}

const (
	storeOpenTimeout = 30 * time.Second
	sweepEvery       = time.Minute
	sweepTimeout     = 30 * time.Second
	// lastFlushTimeout is how long the last flush may take before the store is closed.
	lastFlushTimeout = 5 * time.Second
)

// openStore is an open store, shared by all configurations and requests that use it.
type openStore struct {
	*store.Store
	meter  *usage.Meter
	shared *shared
	logger *zap.Logger
	stop   context.CancelFunc
	tasks  sync.WaitGroup
	lost   sync.Once // lost usage is logged once
}

var stores = caddy.NewUsagePool() // store key → *openStore

// openStores are the open stores, for metrics. The pool cannot be listed while one of its stores is being opened.
var openStores sync.Map // *openStore → nil

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

// sweep removes expired grants every minute.
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
			s.logger.Debug("sweeping expired grants", zap.Error(err)) // the store has reported why it cannot write
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
			s.logger.Error(what+" failed; it will be retried. Until then, usage counts wait in memory and are lost if the "+
				"process is killed", zap.Error(err))
		}
	}
}

// quotaReached logs and emits that a quota reached a level, once for all servers that share the store.
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

// flushUsage writes usage counts to the store when this may be the last chance.
func (s *openStore) flushUsage() {
	ctx, cancel := context.WithTimeout(context.Background(), lastFlushTimeout)
	defer cancel()
	if err := s.meter.Flush(ctx); err != nil {
		s.lost.Do(func() {
			s.logger.Error("the last usage counts could not be written to the store; they are lost when the process ends",
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
