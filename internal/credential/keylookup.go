package credential

import (
	"context"
	"encoding/base64"
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
)

// keys are the signing keys as they were read last.
type keys struct {
	ring atomic.Pointer[keyring]
	// loading keeps what was read earlier from replacing what was read later.
	loading sync.Mutex

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

func (a *Authority) ring() *keyring { return a.keys.ring.Load() }

// reload reads the keys from the store. What it finds holds from then on.
func (a *Authority) reload(ctx context.Context) error {
	a.keys.loading.Lock()
	defer a.keys.loading.Unlock()
	ring, err := loadKeys(ctx, a.cfg, a.live)
	if err == nil {
		a.keys.ring.Store(ring)
	}
	return err
}

// findKey returns the key that a token names. One that is unknown may be newer than what this process has heard of: another
// server may have made it a moment ago. So the store is asked before such a token is refused.
func (a *Authority) findKey(ctx context.Context, use account.KeyUse, id string) (*signingKey, error) {
	if key, ok := a.ring().byID[id]; ok {
		if key.use != use {
			return nil, refusedKey
		}
		return key, nil
	}
	if !isThumbprint(id) {
		return nil, refusedKey
	}
	if err := a.lookUpKeys(ctx); err != nil {
		return nil, fmt.Errorf("looking an unknown signing key up: %w", err)
	}
	key, ok := a.ring().find(use, id)
	if !ok {
		return nil, refusedKey
	}
	return key, nil
}

// isThumbprint reports whether an id has the form of those that this service gives to keys.
func isThumbprint(id string) bool {
	sum, err := base64.RawURLEncoding.DecodeString(id)
	return err == nil && len(sum) == 32
}

// lookUpKeys reads the keys after the moment of the call. All who wait share one reading, and there are no more than one in each
// lookupPause: made-up keys cost their senders time, and the store next to nothing.
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
