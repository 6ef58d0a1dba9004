package credential

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

const (
	// keyGrace is for how long a key is kept beside the life of its tokens: other servers sign with it until they hear of
	// the next one. They all go by the store's clock.
	keyGrace = 10 * time.Second
	// maxKeys bounds how many keys there are, and with them the key set and the work of reading it.
	maxKeys = 100
	// tendEvery is how often Tend looks whether there is something to do, which costs nothing if there is not.
	tendEvery = time.Second
	// tendPause is how long Tend waits after the store has failed.
	tendPause = 10 * time.Second
	// tendLimit bounds what Tend asks of the store at once.
	tendLimit = 10 * time.Second
)

// ErrTooManyKeys: keys were rotated so often that the old ones, which are kept until their last token has expired, are
// too many.
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
	// Until is when it will be removed, its last token having expired; zero for a key that has no follower.
	Until time.Time
}

// Keys lists the signing keys, oldest first.
func (a *Authority) Keys() []KeyInfo {
	ring := a.ring()
	list := make([]KeyInfo, len(ring.kept))
	for i, k := range ring.kept {
		list[i] = KeyInfo{ID: k.ID, Use: k.Use, Algorithm: k.Algorithm, CreatedAt: k.CreatedAt.UTC(), Until: a.until(ring, i),
			Signs: ring.signs(k.Use) != nil && ring.signs(k.Use).id == k.ID}
	}
	return list
}

// until is when the last token of a key has expired: no token is signed with it once there is a newer one.
func (a *Authority) until(ring *keyring, index int) time.Time {
	k := ring.kept[index]
	for _, next := range ring.kept[index+1:] {
		if next.Use != k.Use || next.Algorithm != k.Algorithm {
			continue
		}
		life := a.cfg.AccessTTL
		if k.Use == account.KeyUser {
			life = MaxUserTTL
		}
		return next.CreatedAt.Add(life + keyGrace).UTC()
	}
	return time.Time{}
}

// Rotate makes new keys for access and for user tokens, with which this service signs from now on, and every other
// process with the same store as soon as it hears of them. Tokens of the old keys stay good until they expire. Where
// another process rotates at the same time, both end up with the same keys.
func (a *Authority) Rotate(ctx context.Context) error {
	_, err := a.rotate(ctx, func(*signingKey) bool { return true })
	return err
}

// rotate follows those keys that are due. It asks on the newest ones: another process may just have rotated.
func (a *Authority) rotate(ctx context.Context, due func(*signingKey) bool) (rotated bool, err error) {
	if err := a.reload(ctx); err != nil {
		return false, err
	}
	ring := a.ring()
	for _, use := range keyUses {
		signs := ring.signs(use)
		if signs == nil || !due(signs) { // one that was removed this moment has a follower
			continue
		}
		if err := a.follow(ctx, ring, signs); err != nil {
			return false, err
		}
		rotated = true
	}
	if rotated {
		err = a.reload(ctx)
	}
	return rotated, err
}

// follow adds a key that comes after another.
func (a *Authority) follow(ctx context.Context, ring *keyring, last *signingKey) error {
	if len(ring.kept) >= maxKeys {
		return ErrTooManyKeys
	}
	next, err := freshKey(a.cfg, last.use, a.newest(ring))
	if err != nil {
		return err
	}
	if _, err := a.live.AddNextKey(ctx, next, last.id); err != nil {
		return fmt.Errorf("keeping a new signing key: %w", err)
	}
	return nil
}

// newest is the time from which a new key dates. The newest key signs, so it has to be later than all others, also
// where the clock has been set back since they were made.
func (a *Authority) newest(ring *keyring) time.Time {
	now := a.cfg.Now()
	for _, k := range ring.kept {
		if !k.CreatedAt.Before(now) {
			now = k.CreatedAt.Add(time.Microsecond)
		}
	}
	return now
}

// ReplaceKeys makes new keys as Rotate does and removes all that there were, whose tokens end at once: here before it
// returns, and for every other process with the same store as soon as it hears of it. It returns the ids of the keys
// that it removed, also with an error, if that came after.
func (a *Authority) ReplaceKeys(ctx context.Context) (removed []string, err error) {
	if err := a.reload(ctx); err != nil {
		return nil, err
	}
	ring := a.ring()
	old := make([]string, len(ring.kept))
	for i, k := range ring.kept {
		old[i] = k.ID
	}
	next := make([]account.Key, len(keyUses))
	for i, use := range keyUses {
		if next[i], err = freshKey(a.cfg, use, a.newest(ring)); err != nil {
			return nil, err
		}
	}
	removed, err = a.live.ReplaceKeys(ctx, old, next)
	if err != nil {
		return removed, fmt.Errorf("replacing the signing keys: %w", err)
	}
	return removed, a.reload(ctx)
}

// Tended is what Tend did.
type Tended string

// What Tend does.
const (
	KeysRotated Tended = "signing keys rotated"
	KeyRemoved  Tended = "signing key removed: its last token has expired"
)

// Tend keeps the keys in order until ctx ends: it reads them anew when this or another process has changed them,
// removes those whose last token has expired, and rotates those that are older than Config.KeyRotation. report hears of
// what was done (id is that of a removed key), or of an error; it is tried again after that.
func (a *Authority) Tend(ctx context.Context, report func(what Tended, id string, err error)) {
	ticker := time.NewTicker(tendEvery)
	defer ticker.Stop()
	failed := false
	for {
		stale := failed
		select {
		case <-ctx.Done():
			return
		case <-a.keys.changed:
			stale = true
		case <-ticker.C:
		}
		err := a.tend(ctx, stale, report)
		switch {
		case err == nil:
			failed = false
		case ctx.Err() != nil:
			return
		default:
			if !failed {
				report("", "", err)
			}
			failed = true
			select {
			case <-ctx.Done():
				return
			case <-a.keys.changed:
			case <-time.After(tendPause):
			}
		}
	}
}

// tend does once what there is to do.
func (a *Authority) tend(ctx context.Context, stale bool, report func(what Tended, id string, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, tendLimit)
	defer cancel()
	if stale {
		if err := a.reload(ctx); err != nil {
			return err
		}
	}
	now := a.cfg.Now()
	removed := false
	for _, k := range a.Keys() {
		if k.Until.IsZero() || now.Before(k.Until) {
			continue
		}
		if err := a.live.DeleteKey(ctx, k.ID); err != nil {
			return fmt.Errorf("removing signing key %s: %w", k.ID, err)
		}
		removed = true
		report(KeyRemoved, k.ID, nil)
	}
	if removed {
		if err := a.reload(ctx); err != nil {
			return err
		}
	}
	if a.cfg.KeyRotation == 0 {
		return nil
	}
	due := func(k *signingKey) bool { return k != nil && !now.Before(k.created.Add(a.cfg.KeyRotation)) }
	if ring := a.ring(); !due(ring.access) && !due(ring.user) {
		return nil
	}
	rotated, err := a.rotate(ctx, due)
	if errors.Is(err, ErrTooManyKeys) {
		return nil // there will be fewer
	}
	if rotated && err == nil {
		report(KeysRotated, "", nil)
	}
	return err
}
