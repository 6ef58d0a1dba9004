package mapsapp

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/credential"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// Session is what a request needs of accounts and tokens. A request that holds one keeps the store open, whatever
// happens to the configuration meanwhile, until it calls Release.
type Session struct {
	// Live is the store with the present state of its accounts.
	Live *account.Live
	// Authority makes and checks tokens.
	Authority *credential.Authority
	// Usage keeps what accounts used, and Meter counts it on this server.
	Usage usage.Store
	Meter *usage.Meter

	key   sessionKey
	store *openStore
	stop  context.CancelFunc // ends the tending of the keys
	tends sync.WaitGroup
	// refs counts the requests that hold the session, plus one for the pool.
	refs atomic.Int64
}

// sessionKey tells sessions apart: configurations with the same store and the same rules for tokens share one.
type sessionKey struct {
	store  string
	config [sha256.Size]byte
}

func newSessionKey(store string, cfg credential.Config) sessionKey {
	// strings, numbers and lists of them: their Go syntax is the same whenever they are
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
		authority, err := credential.New(ctx, cfg, opened.live, opened.meter)
		if err != nil {
			_, closing := stores.Delete(key.store)
			return nil, errors.Join(fmt.Errorf("reading the signing keys: %w", err), closing)
		}
		s := &Session{
			Live: opened.live, Authority: authority, Usage: opened.kept, Meter: opened.meter, key: key, store: opened,
		}
		s.refs.Store(1)
		hits.add(s)
		s.tendKeys()
		return s, nil
	})
	if err != nil {
		return nil, err
	}
	return value.(*Session), nil
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
	// A request that a reload overtook: this configuration has given its session back, and nobody else held it. The
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
	hits.retire(s)
	s.stop()
	s.tends.Wait()
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

// tendKeys removes and rotates signing keys when it is time, and hears of what others do with them, until the session
// ends.
func (s *Session) tendKeys() {
	var ctx context.Context
	ctx, s.stop = context.WithCancel(context.Background())
	s.tends.Go(func() {
		s.Authority.Tend(ctx, func(what credential.Tended, kid string, err error) {
			switch {
			case err != nil:
				s.store.logger.Error("signing keys cannot be tended", zap.Error(err))
			case kid != "":
				s.store.logger.Info(string(what), zap.String("kid", kid))
			default:
				s.store.logger.Info(string(what))
			}
		})
	})
}

// Staleness is for how long the store has not answered; 0 while it does.
func (s *Session) Staleness() time.Duration { return s.store.staleness() }

// hits counts cache hits over all sessions of the process, so that the figure never falls when a session ends.
var hits cacheHits

type cacheHits struct {
	mu      sync.Mutex
	open    map[*Session]struct{}
	retired uint64
}

func (c *cacheHits) add(s *Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = make(map[*Session]struct{})
	}
	c.open[s] = struct{}{}
}

func (c *cacheHits) retire(s *Session) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.retired += s.Authority.CacheHits()
	delete(c.open, s)
}

func (c *cacheHits) total() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := c.retired
	for s := range c.open {
		sum += s.Authority.CacheHits()
	}
	return float64(sum)
}

// TooStale reports whether the store has not answered for longer than this configuration lets a known token live
// without it.
func (a *App) TooStale(s *Session) bool {
	if s.store.heard.used() {
		return s.store.heard.ago() > time.Duration(a.MaxStale)
	}
	last := s.store.lastAnswer.Load()
	return last != 0 && time.Since(time.Unix(0, last)) > time.Duration(a.MaxStale)
}
