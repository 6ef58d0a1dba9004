package credential

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

const (
	// keyGrace is how long a key is kept after its last token should have expired: other servers may sign with it until
	// they read the new keys.
	keyGrace = 10 * time.Second
	// maxKeys is the maximum number of keys.
	maxKeys = 100
	// maintainEvery is how often Maintain checks the keys. A check without work needs no I/O.
	maintainEvery = time.Second
	// maintainTimeout is the timeout of one check.
	maintainTimeout = 10 * time.Second
)

// ErrTooManyKeys means that there are too many old keys whose last tokens have not expired.
var ErrTooManyKeys = fmt.Errorf("there are %d signing keys already; wait until the last tokens of some have expired",
	maxKeys)

// KeyInfo describes a signing key.
type KeyInfo struct {
	ID        string         // kid
	Use       account.KeyUse // what it signs
	Algorithm string         // JWS name
	CreatedAt time.Time      // UTC
	// Signs is whether new tokens are signed with it.
	Signs bool
	// SignsFrom is when it will begin to sign; zero if it has begun.
	SignsFrom time.Time
	// Until is when its last token will have expired and it will be removed; zero for a key without a successor.
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
	list := make([]KeyInfo, len(ring.stored))
	for i, k := range ring.stored {
		list[i] = KeyInfo{ID: k.ID, Use: k.Use, Algorithm: k.Algorithm, CreatedAt: k.CreatedAt.UTC(),
			Signs: ring.signs(k.Use, now).id == k.ID, Until: a.until(ring.stored, i, now)}
		if from := signsFrom(k); from.After(now) && !list[i].Signs {
			list[i].SignsFrom = from.UTC()
		}
	}
	return list, nil
}

// until returns when the last token of a key has expired, or zero for a key without a successor. A key that was made
// while the clock was ahead is removed at once: it would keep new ones from signing, and its tokens are refused anyway.
func (a *Authority) until(keys []account.Key, index int, now time.Time) time.Time {
	k := keys[index]
	sameUse := func(other account.Key) bool { return other.Use == k.Use }
	if k.CreatedAt.After(now.Add(maxSkew)) && slices.ContainsFunc(keys[:index], sameUse) {
		return now.UTC()
	}
	next := slices.IndexFunc(keys[index+1:], sameUse)
	if next < 0 {
		return time.Time{}
	}
	life := a.cfg.AccessTTL
	if k.Use == account.KeyUser {
		life = MaxUserTTL
	}
	return signsFrom(keys[index+1+next]).Add(life + keyGrace).UTC()
}

// expired returns the ids of the keys whose last token has expired.
func (a *Authority) expired(keys []account.Key, now time.Time) (ids []string) {
	for i, k := range keys {
		if until := a.until(keys, i, now); !until.IsZero() && !now.Before(until) {
			ids = append(ids, k.ID)
		}
	}
	return ids
}

// due returns the uses without a key, and those whose newest key satisfies a condition.
func due(keys []account.Key, condition func(newest account.Key) bool) (uses []account.KeyUse) {
	for _, use := range keyUses {
		mine := slices.DeleteFunc(slices.Clone(keys), func(k account.Key) bool { return k.Use != use })
		if len(mine) == 0 || condition(mine[len(mine)-1]) {
			uses = append(uses, use)
		}
	}
	return uses
}

// ofAge returns the condition under which Maintain rotates a key.
func (a *Authority) ofAge(now time.Time) func(account.Key) bool {
	return func(k account.Key) bool {
		return a.cfg.KeyRotation != 0 && !now.Before(k.CreatedAt.Add(a.cfg.KeyRotation))
	}
}

// add appends a new key for each use. It is newer than all others, even if the clock was set back a little.
func (a *Authority) add(keys []account.Key, uses []account.KeyUse) ([]account.Key, error) {
	now := a.cfg.Now()
	for _, k := range keys {
		if !k.CreatedAt.Before(now) && k.CreatedAt.Before(now.Add(maxSkew)) {
			now = k.CreatedAt.Add(time.Microsecond)
		}
	}
	for _, use := range uses {
		k, err := newKey(use, a.cfg.Algorithm, now)
		if err != nil {
			return nil, fmt.Errorf("making a signing key: %w", err)
		}
		if len(a.cfg.KeyEncryptionKey) != 0 {
			k = sealKey(a.cfg.KeyEncryptionKey, k)
		}
		keys = append(keys, k)
	}
	return keys, nil
}

// prepareKeys makes keys that are missing or have another algorithm than the configured one. If there is a key
// encryption key, it encrypts keys that are in clear.
func (a *Authority) prepareKeys(ctx context.Context) error {
	_, err := a.store.UpdateKeys(ctx, func(keys []account.Key) ([]account.Key, error) {
		for i, k := range keys {
			if len(a.cfg.KeyEncryptionKey) != 0 && !k.Sealed {
				keys[i] = sealKey(a.cfg.KeyEncryptionKey, k)
			}
		}
		return a.add(keys, due(keys, func(k account.Key) bool { return k.Algorithm != a.cfg.Algorithm }))
	})
	if err != nil {
		return fmt.Errorf("making the signing keys: %w", err)
	}
	return nil
}

// Rotate makes new keys. The key of user tokens signs at once. The key of access tokens is published first, and signs
// when all cached key sets without it have expired. Tokens of the old keys stay valid until they expire.
func (a *Authority) Rotate(ctx context.Context) error {
	_, _, err := a.rotate(ctx, a.cfg.Now(), func(account.Key) bool { return true })
	return err
}

// rotate removes expired keys, and adds successors of the newest keys that satisfy a condition. Concurrent calls, also
// of other servers, are serialized by the store.
func (a *Authority) rotate(ctx context.Context, now time.Time,
	condition func(newest account.Key) bool) (removed []string, rotated bool, err error) {
	_, err = a.store.UpdateKeys(ctx, func(keys []account.Key) ([]account.Key, error) {
		removed = a.expired(keys, now)
		keys = slices.DeleteFunc(keys, func(k account.Key) bool { return slices.Contains(removed, k.ID) })
		uses := due(keys, condition)
		if rotated = len(uses) > 0; rotated && len(keys)+len(uses) > maxKeys {
			return nil, ErrTooManyKeys
		}
		return a.add(keys, uses)
	})
	if err != nil {
		return nil, false, fmt.Errorf("rotating the signing keys: %w", err)
	}
	return removed, rotated, nil
}

// ReplaceKeys makes new keys, which sign at once, and removes all others, and with them all their tokens: on this
// server before it returns, and on others within a second. It returns the ids of the removed keys.
func (a *Authority) ReplaceKeys(ctx context.Context) (removed []string, err error) {
	_, err = a.store.UpdateKeys(ctx, func(keys []account.Key) ([]account.Key, error) {
		removed = []string{}
		for _, k := range keys {
			removed = append(removed, k.ID)
		}
		return a.add(nil, keyUses)
	})
	if err != nil {
		return nil, fmt.Errorf("replacing the signing keys: %w", err)
	}
	return removed, nil
}

// Maintain removes expired keys, and rotates those that are older than Config.KeyRotation, until ctx ends. It calls
// report with each action and the id of a removed key, and with the first of consecutive errors.
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
	ring, err := a.ring(ctx)
	now := a.cfg.Now()
	if err != nil || len(a.expired(ring.stored, now)) == 0 && len(due(ring.stored, a.ofAge(now))) == 0 {
		return err
	}
	removed, rotated, err := a.rotate(ctx, now, a.ofAge(now))
	for _, kid := range removed {
		report("signing key removed: its last token has expired", kid, nil)
	}
	if rotated {
		report("signing keys rotated", "", nil)
	}
	return err
}
