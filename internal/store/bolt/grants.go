package bolt

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

const (
	// maxRotated is how many replaced refresh tokens of a grant are remembered: a month of one rotation every
	// quarter of an hour. An older one is unknown.
	maxRotated = 3000
	// sweepStep is how many expired grants one commit removes, so that others do not wait long for theirs.
	sweepStep = 500
)

// AddGrant implements account.Store.
func (s *Store) AddGrant(ctx context.Context, g account.Grant, limit int) (ended []string, err error) {
	err = s.write(ctx, func(t *writeTx) (err error) {
		ended, err = addGrant(t, &g, limit)
		return err
	})
	if err != nil {
		return nil, err
	}
	return ended, nil
}

func addGrant(t *writeTx, g *account.Grant, limit int) (ended []string, err error) {
	if err := cmp.Or(t.isFree(grantsBucket, []byte(g.ID)), t.isFree(refreshBucket, g.RefreshHash[:])); err != nil {
		return nil, err
	}
	pair := pairKey(g.ClientAccount, g.ServerAccount)
	count, err := pairCount(t, pair)
	if err != nil {
		return nil, err
	}
	for ; count >= uint64(max(limit, 1)); count-- {
		oldest, err := oldestOf(t, pair)
		if err != nil {
			return nil, err
		}
		if err := removeGrant(t, &oldest); err != nil {
			return nil, err
		}
		ended = append(ended, oldest.ID)
	}
	return ended, cmp.Or(
		t.add(grantsBucket, []byte(g.ID), encodeGrant(&grantRecord{Grant: *g})),
		t.add(refreshBucket, g.RefreshHash[:], []byte(g.ID)),
		t.put(pairsBucket, pairGrantKey(g), nil),
		t.put(expiryBucket, expiryKey(g), nil),
		setPairCount(t, pair, count+1),
	)
}

func pairCount(t *writeTx, pair []byte) (uint64, error) {
	v, err := t.get(pairsBucket, pair)
	if len(v) == 8 {
		return binary.BigEndian.Uint64(v), nil
	}
	return 0, err
}

func setPairCount(t *writeTx, pair []byte, n uint64) error {
	if n == 0 {
		return t.remove(pairsBucket, pair)
	}
	return t.put(pairsBucket, pair, binary.BigEndian.AppendUint64(nil, n))
}

// oldestOf returns the oldest grant of a pair that has one.
func oldestOf(t *writeTx, pair []byte) (grantRecord, error) {
	key, _, err := t.from(pairsBucket, append(bytes.Clone(pair), 0)) // behind the count
	if err != nil {
		return grantRecord{}, err
	}
	if !bytes.HasPrefix(key, pair) || len(key) <= len(pair)+timeLen {
		return grantRecord{}, damaged("a pair of accounts has fewer grants than were counted")
	}
	g, err := grantOf(t.view, key[len(pair)+timeLen:])
	return g, expected(err, "a grant that %s names", pairsBucket)
}

func removeGrant(t *writeTx, g *grantRecord) error {
	pair := pairKey(g.ClientAccount, g.ServerAccount)
	count, err := pairCount(t, pair)
	if err != nil {
		return err
	}
	if err := t.each(rotatedBucket, rotatedPrefix(g.ID), func(key, hash []byte) error {
		return cmp.Or(t.remove(refreshBucket, bytes.Clone(hash)), t.remove(rotatedBucket, bytes.Clone(key)))
	}); err != nil {
		return err
	}
	return cmp.Or(
		t.remove(grantsBucket, []byte(g.ID)),
		t.remove(refreshBucket, g.RefreshHash[:]),
		t.remove(pairsBucket, pairGrantKey(&g.Grant)),
		t.remove(expiryBucket, expiryKey(&g.Grant)),
		setPairCount(t, pair, max(count, 1)-1),
	)
}

// Grant implements account.Store.
func (s *Store) Grant(ctx context.Context, id string) (account.Grant, error) {
	var g grantRecord
	err := s.view(ctx, func(v *view) (err error) {
		g, err = grantOf(v, []byte(id))
		return err
	})
	return g.Grant, err
}

func grantOf(v *view, id []byte) (grantRecord, error) {
	if len(id) == 0 {
		return grantRecord{}, account.ErrNotFound
	}
	record, err := v.get(grantsBucket, id)
	if err != nil {
		return grantRecord{}, err
	}
	if record == nil {
		return grantRecord{}, account.ErrNotFound
	}
	return decodeGrant(record)
}

// GrantByRefresh implements account.Store.
func (s *Store) GrantByRefresh(ctx context.Context, refresh account.Hash) (account.Grant, error) {
	var g grantRecord
	err := s.view(ctx, func(v *view) error {
		id, err := v.get(refreshBucket, refresh[:])
		if err != nil {
			return err
		}
		if g, err = grantOf(v, id); err != nil {
			if id != nil {
				err = expected(err, "a grant that %s names", refreshBucket)
			}
			return err
		}
		if g.RefreshHash != refresh {
			return account.ErrRotated
		}
		return nil
	})
	return g.Grant, err
}

// RotateGrant implements account.Store.
func (s *Store) RotateGrant(ctx context.Context, id string, old, next account.Hash) error {
	return s.write(ctx, func(t *writeTx) error {
		g, err := grantOf(t.view, []byte(id))
		if err != nil {
			return err
		}
		holder, err := t.get(refreshBucket, old[:])
		switch {
		case err != nil:
			return err
		case string(holder) != id:
			return account.ErrNotFound
		case g.RefreshHash != old:
			return account.ErrRotated
		}
		if err := t.isFree(refreshBucket, next[:]); err != nil {
			return err
		}
		g.RefreshHash = next
		g.rotations++
		if err := cmp.Or(
			t.put(grantsBucket, []byte(id), encodeGrant(&g)),
			t.add(refreshBucket, next[:], []byte(id)),
			t.put(rotatedBucket, rotatedKey(id, g.rotations), old[:]),
		); err != nil || g.rotations <= maxRotated {
			return err
		}
		forgotten := rotatedKey(id, g.rotations-maxRotated)
		hash, err := t.get(rotatedBucket, forgotten)
		return cmp.Or(err, t.remove(refreshBucket, bytes.Clone(hash)), t.remove(rotatedBucket, forgotten))
	})
}

// EndGrant implements account.Store.
func (s *Store) EndGrant(ctx context.Context, id string) error {
	return s.write(ctx, func(t *writeTx) error {
		g, err := grantOf(t.view, []byte(id))
		switch {
		case err == account.ErrNotFound:
			return nil
		case err != nil:
			return err
		}
		return removeGrant(t, &g)
	})
}

// SweepGrants implements account.Store. A grant that is damaged stays, and does not keep the others.
func (s *Store) SweepGrants(ctx context.Context, now time.Time) (int, error) {
	var damage error
	for swept, next := 0, []byte{0}; ; {
		expired, err := s.expired(ctx, next, now)
		if err != nil {
			return swept, cmp.Or(damage, err)
		}
		n, err := s.sweep(ctx, expired)
		swept += n
		switch {
		case errors.Is(err, account.ErrDamaged):
			damage = err
			for _, one := range expired {
				n, err := s.sweep(ctx, [][]byte{one})
				swept += n
				if err != nil && !errors.Is(err, account.ErrDamaged) {
					return swept, err
				}
			}
		case err != nil:
			return swept, err
		}
		if len(expired) < sweepStep {
			return swept, damage
		}
		next = append(expired[len(expired)-1], 0)
	}
}

// expired returns the first keys from one on of grants that have expired.
func (s *Store) expired(ctx context.Context, from []byte, now time.Time) (keys [][]byte, err error) {
	end := appendTime(nil, now)
	err = s.view(ctx, func(v *view) error {
		v.remember()
		for len(keys) < sweepStep {
			key, _, err := v.from(expiryBucket, from)
			if err != nil || key == nil {
				return err
			}
			if len(key) < timeLen {
				return errRecord
			}
			if bytes.Compare(key[:timeLen], end) > 0 {
				return nil
			}
			keys = append(keys, bytes.Clone(key))
			from = append(bytes.Clone(key), 0)
		}
		return nil
	})
	return keys, err
}

// sweep removes grants in one commit, by their keys in the order of expiry.
func (s *Store) sweep(ctx context.Context, expired [][]byte) (n int, err error) {
	if len(expired) == 0 {
		return 0, nil
	}
	err = s.write(ctx, func(t *writeTx) error {
		n = 0
		for _, key := range expired {
			g, err := grantOf(t.view, key[timeLen:])
			switch {
			case err == account.ErrNotFound:
				continue // ended in the meantime
			case err != nil:
				return err
			}
			if err := removeGrant(t, &g); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}
