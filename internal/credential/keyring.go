package credential

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// keyring holds the signing keys of one store. It is never changed; another takes its place.
type keyring struct {
	byID   map[string]*signingKey
	access *signingKey   // signs access tokens; nil where it was removed and the next one has not been read yet
	user   *signingKey   // signs local user tokens; nil likewise
	jwks   []byte        // public keys of access tokens
	kept   []account.Key // as the store has them, oldest first; their private halves are not kept
	// stale: some of these keys may be gone. They have to be read again before one of them is used.
	stale bool
}

// find returns the key with this id and use.
func (r *keyring) find(use account.KeyUse, id string) (*signingKey, bool) {
	k, ok := r.byID[id]
	return k, ok && k.use == use
}

// signs returns the key that signs tokens of a use.
func (r *keyring) signs(use account.KeyUse) *signingKey {
	if use == account.KeyUser {
		return r.user
	}
	return r.access
}

// without is the keyring without a key.
func (r *keyring) without(id string) *keyring {
	next := *r
	next.byID = maps.Clone(r.byID)
	delete(next.byID, id)
	next.kept = slices.DeleteFunc(slices.Clone(r.kept), func(k account.Key) bool { return k.ID == id })
	for _, signs := range []**signingKey{&next.access, &next.user} {
		if *signs != nil && (*signs).id == id {
			*signs = nil
		}
	}
	next.jwks = publicSet(&next)
	return &next
}

// keep puts the keys of an earlier keyring in the place of those that are the same, and marks those that are not
// there any more.
func (r *keyring) keep(earlier *keyring) {
	for id, old := range earlier.byID {
		fresh, ok := r.byID[id]
		if !ok || old.removed.Load() || !old.same(fresh) {
			old.removed.Store(true)
			continue
		}
		r.byID[id] = old
		for _, signs := range []**signingKey{&r.access, &r.user} {
			if *signs == fresh {
				*signs = old
			}
		}
	}
}

// loadKeys reads the keys of a store, and makes those that are missing. Keys that lie in clear are sealed where there
// is a key encryption key.
func loadKeys(ctx context.Context, cfg Config, store account.Store) (*keyring, error) {
	kept, err := readKeys(ctx, cfg, store)
	if err != nil {
		return nil, err
	}
	ring := &keyring{byID: make(map[string]*signingKey, len(kept))}
	for _, k := range kept {
		key, err := openKey(cfg.KeyEncryptionKey, k)
		if err != nil {
			return nil, fmt.Errorf("signing key %s: %w", k.ID, err)
		}
		if len(cfg.KeyEncryptionKey) != 0 && !k.Sealed {
			if err := store.ReplaceKey(ctx, sealKey(cfg.KeyEncryptionKey, k)); err != nil {
				return nil, fmt.Errorf("sealing signing key %s: %w", k.ID, err)
			}
		}
		if ring.byID[key.id] != nil {
			return nil, fmt.Errorf("signing key %s is in the store twice", k.ID)
		}
		ring.byID[key.id] = key
		// Oldest first: the newest key of the algorithm signs.
		if key.method.Alg() == cfg.Algorithm {
			if key.use == account.KeyAccess {
				ring.access = key
			} else {
				ring.user = key
			}
		}
	}
	if ring.access == nil || ring.user == nil {
		return nil, errors.New("the store lost a signing key that it had just taken")
	}
	ring.kept = kept
	for i := range kept {
		kept[i].Private = nil
	}
	ring.jwks = publicSet(ring)
	return ring, nil
}

// readKeys reads the keys, and once more where some were missing and had to be made.
func readKeys(ctx context.Context, cfg Config, store account.Store) ([]account.Key, error) {
	kept, err := store.Keys(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading the signing keys: %w", err)
	}
	made := false
	for _, use := range keyUses {
		if slices.ContainsFunc(kept, func(k account.Key) bool { return k.Use == use && k.Algorithm == cfg.Algorithm }) {
			continue
		}
		made = true
		fresh, err := freshKey(cfg, use, cfg.Now())
		if err != nil {
			return nil, err
		}
		if _, err := store.AddFirstKey(ctx, fresh); err != nil {
			return nil, fmt.Errorf("keeping a new signing key: %w", err)
		}
	}
	if !made {
		return kept, nil
	}
	if kept, err = store.Keys(ctx); err != nil {
		return nil, fmt.Errorf("reading the signing keys: %w", err)
	}
	return kept, nil
}

var keyUses = []account.KeyUse{account.KeyAccess, account.KeyUser}

// publicSet is the JWKS of the access keys, newest first.
func publicSet(ring *keyring) []byte {
	set := struct {
		Keys []jwk `json:"keys"`
	}{Keys: []jwk{}}
	for _, kept := range slices.Backward(ring.kept) {
		if key, ok := ring.find(account.KeyAccess, kept.ID); ok {
			set.Keys = append(set.Keys, key.published)
		}
	}
	encoded, err := json.Marshal(set)
	if err != nil {
		panic(err) // there is nothing but texts in it
	}
	return encoded
}
