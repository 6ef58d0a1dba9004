package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/credential"
	"github.com/mapsedge/caddy-maps/internal/access/store"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
)

// Session gives a request access to accounts and tokens. It keeps the store open until Release, even if the
// configuration is replaced.
type Session struct {
	// Store keeps accounts and their usage.
	Store *store.Store
	// Authority issues and verifies tokens.
	Authority *credential.Authority
	// Meter counts what accounts use on this server.
	Meter *usage.Meter

	key   sessionKey
	store *openStore
	stop  context.CancelFunc // ends the maintenance of the keys
	tasks sync.WaitGroup
	// refs counts the requests that hold the session, plus one for the pool.
	refs atomic.Int64
}

// sessionKey identifies a session: configurations with the same store and token settings share one.
type sessionKey struct {
	store  string
	config [sha256.Size]byte
}

func newSessionKey(store string, cfg credential.Config) sessionKey {
	// The fields are strings, numbers and lists of them: equal values have equal Go syntax.
	return sessionKey{store: store, config: sha256.Sum256(fmt.Appendf(nil, "%#v", cfg))}
}

// sessions and stores are two pools: changed token settings need a new Session, but not another open store.
var sessions = caddy.NewUsagePool() // sessionKey → *Session

func acquireSession(key sessionKey, module StoreModule, cfg credential.Config) (*Session, error) {
	value, _, err := sessions.LoadOrNew(key, func() (caddy.Destructor, error) {
		opened, err := acquireStore(key.store, module)
		if err != nil {
			return nil, fmt.Errorf("opening the store: %w", err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), storeOpenTimeout)
		defer cancel()
		authority, err := credential.New(ctx, cfg, opened.Store, opened.meter)
		if err != nil {
			_, closing := stores.Delete(key.store)
			return nil, errors.Join(err, closing)
		}
		s := &Session{Store: opened.Store, Authority: authority, Meter: opened.meter, key: key, store: opened}
		s.refs.Store(1)
		hits.open.Store(s, nil)
		ctx, s.stop = context.WithCancel(context.Background())
		s.tasks.Go(func() { authority.Maintain(ctx, s.keysChanged) })
		return s, nil
	})
	if err != nil {
		return nil, err
	}
	return value.(*Session), nil
}

// keysChanged logs changes of the signing keys.
func (s *Session) keysChanged(what, kid string, err error) {
	switch {
	case err != nil:
		s.store.logger.Error("key maintenance failed; it will be retried", zap.Error(err))
	case kid != "":
		s.store.logger.Info(what, zap.String("kid", kid))
	default:
		s.store.logger.Info(what)
	}
}

func releaseSession(key sessionKey) error {
	_, err := sessions.Delete(key)
	return err
}

// Session returns the session of this configuration for one request, which must Release it. It waits for the app to
// start. The error is that of the context, or says that the app did not start.
func (a *App) Session(ctx context.Context) (*Session, error) {
	if s := a.current.Load(); s != nil && s.pin() {
		return s, nil
	}
	return a.awaitSession(ctx)
}

var errNotStarted = errors.New("the maps app did not start")

func (a *App) awaitSession(ctx context.Context) (*Session, error) {
	select {
	case <-a.opened:
	default:
		select {
		case <-a.opened:
		case <-a.stopped:
			return nil, errNotStarted
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if s := a.current.Load(); s.pin() {
		return s, nil
	}
	// A reload has overtaken the request and closed its configuration's session. The request still uses that
	// configuration's store.
	s, err := acquireSession(a.pool, a.store, a.config)
	if err != nil {
		return nil, err
	}
	s.refs.Add(1) // cannot have been 0: the pool has a reference until the next line
	return s, releaseSession(a.pool)
}

// Destruct releases the pool's own reference. The pool calls it when no configuration uses the session any more.
func (s *Session) Destruct() error { return s.unpin() }

// pin adds a reference unless the session is closed.
func (s *Session) pin() bool {
	for {
		n := s.refs.Load()
		if n == 0 {
			return false
		}
		if s.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (s *Session) unpin() error {
	if s.refs.Add(-1) > 0 {
		return nil
	}
	s.stop()
	s.tasks.Wait()
	hits.open.Delete(s)
	hits.closed.Add(s.Authority.CacheHits())
	s.Authority.Close()
	_, err := stores.Delete(s.key.store)
	return err
}

// Release ends the request's use of the session. The last one closes it.
func (s *Session) Release() {
	if err := s.unpin(); err != nil {
		s.store.logger.Error("closing the store", zap.Error(err))
	}
}

// TooStale reports whether the store has not answered for longer than max_stale.
func (a *App) TooStale(s *Session) bool { return s.Store.Silent() > a.effective.maxStale }

// hits counts cache hits over all sessions of the process.
var hits struct {
	open   sync.Map // *Session → nil
	closed atomic.Uint64
}

func totalHits() float64 {
	sum := hits.closed.Load()
	hits.open.Range(func(session, _ any) bool {
		sum += session.(*Session).Authority.CacheHits()
		return true
	})
	return float64(sum)
}
