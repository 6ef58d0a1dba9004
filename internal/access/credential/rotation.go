package credential

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
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

// until is when a key is of no use any more: its last token has expired, since its successor signs. A key that was made
// while the clock was ahead would keep new ones from signing until then, so it goes at once; tokens that it signed
// meanwhile are refused anyway.
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

// spent returns the ids of the keys that are of no use any more.
func (a *Authority) spent(keys []account.Key, now time.Time) (ids []string) {
	for i, k := range keys {
		if until := a.until(keys, i, now); !until.IsZero() && !now.Before(until) {
			ids = append(ids, k.ID)
		}
	}
	return ids
}

// due returns the uses whose newest key satisfies a condition, or that have none.
func due(keys []account.Key, condition func(newest account.Key) bool) (uses []account.KeyUse) {
	for _, use := range keyUses {
		mine := slices.DeleteFunc(slices.Clone(keys), func(k account.Key) bool { return k.Use != use })
		if len(mine) == 0 || condition(mine[len(mine)-1]) {
			uses = append(uses, use)
		}
	}
	return uses
}

// ofAge is the condition under which Maintain rotates a key.
func (a *Authority) ofAge(now time.Time) func(account.Key) bool {
	return func(k account.Key) bool {
		return a.cfg.KeyRotation != 0 && !now.Before(k.CreatedAt.Add(a.cfg.KeyRotation))
	}
}

// add appends a new key for each use, which is newer than all others, even if the clock was set back a little.
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

// prepareKeys makes the keys that are missing or of another algorithm than the configured one, and seals those that are
// in clear if there is a key encryption key.
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

// Rotate makes new keys. That of user tokens signs at once; that of access tokens is published first, and signs when no
// cache can hold the set without it any more. Tokens of the old keys stay valid until they expire.
func (a *Authority) Rotate(ctx context.Context) error {
	_, _, err := a.rotate(ctx, a.cfg.Now(), func(account.Key) bool { return true })
	return err
}

// rotate removes the keys that are of no use any more, and adds successors of those newest keys that satisfy a
// condition. Servers that do so at the same time take turns, so the later one finds the keys of the other.
func (a *Authority) rotate(ctx context.Context, now time.Time,
	condition func(newest account.Key) bool) (removed []string, rotated bool, err error) {
	_, err = a.store.UpdateKeys(ctx, func(keys []account.Key) ([]account.Key, error) {
		removed = a.spent(keys, now)
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

// ReplaceKeys makes new keys, which sign at once, and removes all others, whose tokens end: here before it returns,
// and on every other server as soon as it hears of it. It returns the ids of the keys that it removed.
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

// Maintain keeps the keys in order until ctx ends: it removes those whose last token has expired, and rotates those
// that are older than Config.KeyRotation. report hears of what was done, with the id of a removed key, or of an
// error; it is tried again then.
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
	if err != nil || len(a.spent(ring.stored, now)) == 0 && len(due(ring.stored, a.ofAge(now))) == 0 {
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
