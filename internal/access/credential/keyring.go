package credential

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/time/rate"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

const (
	// JWKSMaxAge is how long verifiers may cache the published keys.
	JWKSMaxAge = 5 * time.Minute
	// publishFirst is how long a key of access tokens is published before it signs. Cached key sets without it have
	// expired by then.
	publishFirst = JWKSMaxAge + 10*time.Second
	// lookupPause is the shortest time between two reads of the keys because of an unknown key id.
	lookupPause = 50 * time.Millisecond
)

// keyring holds the signing keys of a store. It is immutable.
type keyring struct {
	revision uint64        // of the keys, before they were read
	stored   []account.Key // oldest first
	byID     map[string]*signingKey
	jwks     []byte // public keys of access tokens
}

// keys caches the signing keys.
type keys struct {
	ring    atomic.Pointer[keyring]
	loading sync.Mutex
	unknown *rate.Limiter // of reads because of an unknown key id
}

// signs returns the key that signs tokens of a use at a time: the newest that has been published for long enough, or
// else, as after ReplaceKeys, the oldest; nil if there is none.
func (r *keyring) signs(use account.KeyUse, now time.Time) (signs *signingKey) {
	for _, k := range r.stored {
		if k.Use == use && (signs == nil || !signsFrom(k).After(now)) {
			signs = r.byID[k.ID]
		}
	}
	return signs
}

// signsFrom is the time from which a key signs if there is an older one.
func signsFrom(k account.Key) time.Time {
	if k.Use == account.KeyAccess {
		return k.CreatedAt.Add(publishFirst)
	}
	return k.CreatedAt
}

// ring returns the signing keys. It reads them again if they may have changed.
func (a *Authority) ring(ctx context.Context) (*keyring, error) {
	if r := a.keys.ring.Load(); r.revision == a.store.KeysRevision().Load() {
		return r, nil
	}
	a.keys.loading.Lock()
	defer a.keys.loading.Unlock()
	if r := a.keys.ring.Load(); r.revision == a.store.KeysRevision().Load() {
		return r, nil
	}
	return a.load(ctx)
}

// load reads the keys; keys.loading is held.
func (a *Authority) load(ctx context.Context) (*keyring, error) {
	revision := a.store.KeysRevision().Load()
	stored, err := a.store.Keys(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the signing keys: %w", err)
	}
	ring := &keyring{revision: revision, stored: stored, byID: make(map[string]*signingKey, len(stored))}
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	for _, k := range stored {
		key, err := openKey(a.cfg.KeyEncryptionKey, k)
		if err != nil {
			return nil, fmt.Errorf("signing key %s: %w", k.ID, err)
		}
		ring.byID[key.id] = key
		if key.use == account.KeyAccess {
			set.Keys = slices.Insert(set.Keys, 0, jose.JSONWebKey{Key: key.public, KeyID: k.ID, Algorithm: k.Algorithm,
				Use: "sig"}) // newest first
		}
	}
	if ring.jwks, err = json.Marshal(set); err != nil {
		return nil, err
	}
	a.keys.ring.Store(ring)
	return ring, nil
}

// findKey returns the key that a token names. Since another server may have just made an unknown key, the keys are read
// again before a token is refused, at most once in each lookupPause.
func (a *Authority) findKey(ctx context.Context, use account.KeyUse, id string) (*signingKey, error) {
	ring, err := a.ring(ctx)
	if err != nil {
		return nil, err
	}
	if ring.byID[id] == nil {
		a.keys.loading.Lock() // calls that wait here use the keys that this one reads
		defer a.keys.loading.Unlock()
		if ring = a.keys.ring.Load(); ring.byID[id] == nil && a.keys.unknown.Allow() {
			if ring, err = a.load(ctx); err != nil {
				return nil, err
			}
		}
	}
	if key := ring.byID[id]; key != nil && key.use == use {
		return key, nil
	}
	return nil, refusedKey
}

// signer returns the key that signs tokens of a use now.
func (a *Authority) signer(ctx context.Context, use account.KeyUse) (*signingKey, error) {
	ring, err := a.ring(ctx)
	if err != nil {
		return nil, err
	}
	if key := ring.signs(use, a.cfg.Now()); key != nil {
		return key, nil
	}
	return nil, errors.New("the store has no signing key")
}
