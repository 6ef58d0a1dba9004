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

	"github.com/mapsedge/caddy-maps/internal/credential"
	"github.com/mapsedge/caddy-maps/internal/store"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// Session is what a request needs of accounts and tokens. A request that holds one keeps the store open, even if the
// configuration is replaced meanwhile, until it calls Release.
type Session struct {
	// Store keeps accounts, and what they used.
	Store *store.Store
	// Authority makes and checks tokens.
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

// sessionKey tells sessions apart: configurations with the same store and the same rules for tokens share one.
type sessionKey struct {
	store  string
	config [sha256.Size]byte
}

func newSessionKey(store string, cfg credential.Config) sessionKey {
	// strings, numbers and lists of them: the same values have the same Go syntax
	return sessionKey{store: store, config: sha256.Sum256(fmt.Appendf(nil, "%#v", cfg))}
}

// Two pools: a changed configuration of tokens takes a new Session on the store that is open already.
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

// keysChanged logs what was done to the signing keys.
func (s *Session) keysChanged(what, kid string, err error) {
	switch {
	case err != nil:
		s.store.logger.Error("maintaining the signing keys failed; it is tried again", zap.Error(err))
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

// Session returns the accounts and tokens of this configuration, for one request, which must Release them. It waits for
// the app to start; the error is the context's, or says that the app never will.
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
	// A reload has overtaken the request: its configuration has given the session back, and nothing else held it. The
	// request still ends on the store that it came for.
	s, err := acquireSession(a.pool, a.store, a.config)
	if err != nil {
		return nil, err
	}
	s.refs.Add(1) // the pool's reference, which is ours until the next line, keeps it from falling to 0
	return s, releaseSession(a.pool)
}

// Destruct gives up the pool's own reference. The pool calls it when no configuration uses the session any more.
func (s *Session) Destruct() error { return s.unpin() }

// pin takes a reference unless the last one is gone.
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

// TooStale reports whether the store has not answered for longer than this configuration lets a known token live
// without it.
func (a *App) TooStale(s *Session) bool { return s.Store.Silent() > a.settled.maxStale }

// hits counts cache hits over all sessions of the process.
var hits struct {
	open   sync.Map // *Session → nothing
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
