package credential

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

const (
	// keyGrace is how long a key is kept after its last token has expired: other servers may sign with it until they hear
	// of the next one.
	keyGrace = 10 * time.Second
	// maxKeys bounds how many keys there are, and with them the key set and the work of reading it.
	maxKeys = 100
	// maintainEvery is how often Maintain looks for something to do, which costs nothing if there is nothing.
	maintainEvery = time.Second
	// maintainTimeout bounds what Maintain asks of the store.
	maintainTimeout = 10 * time.Second
)

// ErrTooManyKeys: keys were rotated so often that too many old ones are kept until their last tokens have expired.
var ErrTooManyKeys = fmt.Errorf("there are %d signing keys already; wait until the last tokens of some have expired",
	maxKeys)

// KeyInfo tells about a signing key.
type KeyInfo struct {
	ID        string         // kid
	Use       account.KeyUse // what it signs
	Algorithm string         // JWS name
	CreatedAt time.Time      // UTC
	// Signs is whether new tokens are signed with it.
	Signs bool
	// SignsFrom is when it will sign; zero if it does or did.
	SignsFrom time.Time
	// Until is when it will be removed, its last token having expired; zero for a key without a successor.
	Until time.Time
}

var keyUses = []account.KeyUse{account.KeyAccess, account.KeyUser}

// Keys lists the signing keys, oldest first.
func (a *Authority) Keys(ctx context.Context) ([]KeyInfo, error) {
	ring, err := a.ring(ctx)
	if err != nil {
		return nil, err
	}
	now := a.cfg.Now()
	list := make([]KeyInfo, len(ring.keys))
	for i, k := range ring.keys {
		list[i] = KeyInfo{ID: k.id, Use: k.use, Algorithm: k.method.Alg(), CreatedAt: k.created.UTC(),
			Signs: ring.signs(&a.cfg, k.use, now) == k, Until: a.until(ring.keys, i)}
		if from := k.signsFrom(); from.After(now) && !list[i].Signs {
			list[i].SignsFrom = from.UTC()
		}
	}
	return list, nil
}

// until is when the last token of a key has expired: no token is signed with it once its successor signs.
func (a *Authority) until(keys []*signingKey, index int) time.Time {
	k := keys[index]
	for _, next := range keys[index+1:] {
		if next.use != k.use || next.method.Alg() != k.method.Alg() {
			continue
		}
		life := a.cfg.AccessTTL
		if k.use == account.KeyUser {
			life = MaxUserTTL
		}
		return next.signsFrom().Add(life + keyGrace).UTC()
	}
	return time.Time{}
}

// prepareKeys makes the keys that are missing, and seals those that are in clear if there is a key encryption key.
func (a *Authority) prepareKeys(ctx context.Context) error {
	_, err := a.store.UpdateKeys(ctx, func(keys []account.Key) ([]account.Key, error) {
		for _, use := range keyUses {
			if newest(keys, use, a.cfg.Algorithm) != nil {
				continue
			}
			key, err := a.freshKey(use, keys)
			if err != nil {
				return nil, err
			}
			keys = append(keys, key)
		}
		for i, k := range keys {
			if len(a.cfg.KeyEncryptionKey) != 0 && !k.Sealed {
				keys[i] = sealKey(a.cfg.KeyEncryptionKey, k)
			}
		}
		return keys, nil
	})
	if err != nil {
		return fmt.Errorf("making the signing keys: %w", err)
	}
	return nil
}

// newest returns the newest key of a use and algorithm; nil if there is none.
func newest(keys []account.Key, use account.KeyUse, algorithm string) *account.Key {
	for i := range slices.Backward(keys) {
		if keys[i].Use == use && keys[i].Algorithm == algorithm {
			return &keys[i]
		}
	}
	return nil
}

// freshKey makes a key that is newer than all others, even if the clock was set back since they were made.
func (a *Authority) freshKey(use account.KeyUse, keys []account.Key) (account.Key, error) {
	now := a.cfg.Now()
	for _, k := range keys {
		if !k.CreatedAt.Before(now) {
			now = k.CreatedAt.Add(time.Microsecond)
		}
	}
	k, err := newKey(use, a.cfg.Algorithm, now)
	if err != nil {
		return account.Key{}, fmt.Errorf("making a signing key: %w", err)
	}
	if len(a.cfg.KeyEncryptionKey) != 0 {
		k = sealKey(a.cfg.KeyEncryptionKey, k)
	}
	return k, nil
}

// Rotate makes new keys. That of user tokens signs at once; that of access tokens is published first, and signs when no
// cache can hold the set without it any more. Tokens of the old keys stay valid until they expire.
func (a *Authority) Rotate(ctx context.Context) error {
	_, err := a.rotate(ctx, func(*account.Key) bool { return true })
	return err
}

// rotate adds successors to those newest keys that are due. Servers that do so at the same time take turns, so the later
// one finds the keys of the other.
func (a *Authority) rotate(ctx context.Context, due func(*account.Key) bool) (rotated bool, err error) {
	_, err = a.store.UpdateKeys(ctx, func(keys []account.Key) ([]account.Key, error) {
		rotated = false
		for _, use := range keyUses {
			if last := newest(keys, use, a.cfg.Algorithm); last != nil && !due(last) {
				continue
			}
			if len(keys) >= maxKeys {
				return nil, ErrTooManyKeys
			}
			next, err := a.freshKey(use, keys)
			if err != nil {
				return nil, err
			}
			keys, rotated = append(keys, next), true
		}
		return keys, nil
	})
	return rotated && err == nil, err
}

// ReplaceKeys makes new keys, which sign at once, and removes all others, whose tokens end: here before it returns, and on
// every other server as soon as it hears of it. It returns the ids of the keys that it removed.
func (a *Authority) ReplaceKeys(ctx context.Context) (removed []string, err error) {
	_, err = a.store.UpdateKeys(ctx, func(keys []account.Key) (next []account.Key, err error) {
		removed = []string{}
		for _, k := range keys {
			removed = append(removed, k.ID)
		}
		for _, use := range keyUses {
			key, err := a.freshKey(use, append(slices.Clone(keys), next...))
			if err != nil {
				return nil, err
			}
			next = append(next, key)
		}
		return next, nil
	})
	if err != nil {
		return nil, fmt.Errorf("replacing the signing keys: %w", err)
	}
	return removed, nil
}

// Maintain keeps the keys in order until ctx ends: it reads them when another server has changed them, removes those
// whose last token has expired, and rotates those that are older than Config.KeyRotation. report hears of what was done,
// with the id of a removed key, or of an error; it is tried again then.
func (a *Authority) Maintain(ctx context.Context, report func(what, kid string, err error)) {
	ticker := time.NewTicker(maintainEvery)
	defer ticker.Stop()
	failed := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err := a.maintain(ctx, report)
		if err != nil && !failed && ctx.Err() == nil {
			report("", "", err)
		}
		failed = err != nil
	}
}

func (a *Authority) maintain(ctx context.Context, report func(what, kid string, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, maintainTimeout)
	defer cancel()
	list, err := a.Keys(ctx)
	if err != nil {
		return err
	}
	now := a.cfg.Now()
	for _, expired := range list {
		if expired.Until.IsZero() || now.Before(expired.Until) {
			continue
		}
		_, err := a.store.UpdateKeys(ctx, func(keys []account.Key) ([]account.Key, error) {
			return slices.DeleteFunc(keys, func(k account.Key) bool { return k.ID == expired.ID }), nil
		})
		if err != nil {
			return fmt.Errorf("removing signing key %s: %w", expired.ID, err)
		}
		report("signing key removed: its last token has expired", expired.ID, nil)
	}
	due := func(created time.Time) bool {
		return a.cfg.KeyRotation != 0 && !now.Before(created.Add(a.cfg.KeyRotation))
	}
	if !slices.ContainsFunc(list, func(k KeyInfo) bool { return k.Until.IsZero() && due(k.CreatedAt) }) {
		return nil
	}
	rotated, err := a.rotate(ctx, func(k *account.Key) bool { return due(k.CreatedAt) })
	if rotated {
		report("signing keys rotated", "", nil)
	}
	return err
}
