package credential

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

const (
	// lookupPause is how long at least lies between two readings of the keys for the sake of unknown ones.
	lookupPause = 50 * time.Millisecond
	// lookupLimit bounds one reading.
	lookupLimit = 3 * time.Second
	// signerAttempts is how often a key is looked for that signs, each time of which the one that was found may have
	// been removed.
	signerAttempts = 5
)

// keys are the signing keys as they were read last.
type keys struct {
	ring atomic.Pointer[keyring]
	// loading keeps what was read earlier from replacing what was read later.
	loading sync.Mutex
	// changed has an element when the keys in the store may be others than those of ring.
	changed chan struct{}

	news   sync.Mutex // guards what follows, and every change of ring
	number uint64     // of what was heard of keys that are gone

	mu    sync.Mutex
	next  *lookup    // has not begun yet
	pace  sync.Mutex // held by the lookup that is at work, or waits for its turn
	began time.Time  // of the last lookup; guarded by pace
}

// lookup is one reading of the keys, for all who came before it began.
type lookup struct {
	done chan struct{}
	err  error
}

var errNoKey = errors.New("the signing keys are replaced again and again")

func (a *Authority) ring() *keyring { return a.keys.ring.Load() }

// reload reads the keys from the store. What it finds holds from then on.
func (a *Authority) reload(ctx context.Context) error {
	a.keys.loading.Lock()
	defer a.keys.loading.Unlock()
	for {
		a.keys.news.Lock()
		number := a.keys.number
		a.keys.news.Unlock()
		ring, err := loadKeys(ctx, a.cfg, a.live)
		if err != nil {
			return err
		}
		if a.keys.take(ring, number) {
			return nil
		}
		// A key went while they were read, so what was read may be older than that.
	}
}

// take puts a keyring in the place of the one before, unless a key went since the number was read.
func (k *keys) take(ring *keyring, number uint64) bool {
	k.news.Lock()
	defer k.news.Unlock()
	if k.number != number {
		return false
	}
	if earlier := k.ring.Load(); earlier != nil {
		ring.keep(earlier)
	}
	k.ring.Store(ring)
	return true
}

// keyNews is an account.KeyListener.
type keyNews struct{ *keys }

// KeysChanged lets Tend read the keys.
func (n keyNews) KeysChanged() {
	select {
	case n.changed <- struct{}{}:
	default:
	}
}

// KeyRemoved ends all tokens of a key, those in the cache included.
func (n keyNews) KeyRemoved(id string) {
	n.news.Lock()
	defer n.news.Unlock()
	n.number++
	ring := n.ring.Load()
	if ring == nil || ring.byID[id] == nil {
		return
	}
	ring.byID[id].removed.Store(true)
	n.ring.Store(ring.without(id))
}

// KeysMissed lets no key be used before all of them have been read again.
func (n keyNews) KeysMissed() {
	n.news.Lock()
	n.number++
	if ring := n.ring.Load(); ring != nil {
		stale := *ring
		stale.stale = true
		n.ring.Store(&stale)
	}
	n.news.Unlock()
	n.KeysChanged()
}

// findKey returns the key that a token names. One that is unknown may be newer than what this process has heard of:
// another server may have made it a moment ago. So the store is asked before such a token is refused.
func (a *Authority) findKey(ctx context.Context, use account.KeyUse, id string) (*signingKey, error) {
	ring := a.ring()
	key, known := ring.byID[id]
	if !known && !isThumbprint(id) {
		return nil, refusedKey
	}
	if !known || ring.stale {
		if err := a.lookUpKeys(ctx); err != nil {
			return nil, fmt.Errorf("looking a signing key up: %w", err)
		}
		key, known = a.ring().byID[id]
	}
	if !known || key.use != use {
		return nil, refusedKey
	}
	return key, nil
}

// signer returns the key that signs tokens of a use. Where it was removed a moment ago, the next one is read first.
func (a *Authority) signer(ctx context.Context, use account.KeyUse) (*signingKey, error) {
	for range signerAttempts {
		ring := a.ring()
		if key := ring.signs(use); key != nil && !ring.stale {
			return key, nil
		}
		if err := a.lookUpKeys(ctx); err != nil {
			return nil, fmt.Errorf("looking the new signing key up: %w", err)
		}
	}
	return nil, errNoKey
}

// isThumbprint reports whether an id has the form of those that this service gives to keys.
func isThumbprint(id string) bool {
	sum, err := base64.RawURLEncoding.DecodeString(id)
	return err == nil && len(sum) == 32
}

// lookUpKeys reads the keys after the moment of the call. All who wait share one reading, and there are no more than
// one in each lookupPause: made-up keys cost their senders time, and the store next to nothing.
func (a *Authority) lookUpKeys(ctx context.Context) error {
	a.keys.mu.Lock()
	l := a.keys.next
	if l == nil {
		l = &lookup{done: make(chan struct{})}
		a.keys.next = l
		go a.runLookup(l)
	}
	a.keys.mu.Unlock()
	select {
	case <-l.done:
		return l.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (a *Authority) runLookup(l *lookup) {
	defer close(l.done)
	a.keys.pace.Lock()
	defer a.keys.pace.Unlock()
	time.Sleep(lookupPause - time.Since(a.keys.began))
	a.keys.began = time.Now()
	// Who comes from here on may look for a key that this reading does not find.
	a.keys.mu.Lock()
	a.keys.next = nil
	a.keys.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), lookupLimit)
	defer cancel()
	l.err = a.reload(ctx)
}
