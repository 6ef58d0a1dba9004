package boltstore

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"time"

	"go.etcd.io/bbolt"

	"github.com/mapsedge/caddy-maps/internal/account"
)

const (
	// maxRotated is how many replaced refresh tokens of a grant are remembered: a month of one rotation every quarter of an
	// hour. An older one is unknown.
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
	if t.get(grantsBucket, []byte(g.ID)) != nil || t.get(refreshBucket, g.RefreshHash[:]) != nil {
		return nil, account.ErrExists
	}
	pair := pairKey(g.ClientAccount, g.ServerAccount)
	for pairCount(t, pair) >= uint64(max(limit, 1)) {
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
		t.put(grantsBucket, []byte(g.ID), encodeGrant(&grantRecord{Grant: *g})),
		t.put(refreshBucket, g.RefreshHash[:], []byte(g.ID)),
		t.put(pairsBucket, pairGrantKey(g), nil),
		t.put(expiryBucket, expiryKey(g), nil),
		setPairCount(t, pair, pairCount(t, pair)+1),
	)
}

func pairCount(t *writeTx, pair []byte) uint64 {
	if v := t.get(pairsBucket, pair); len(v) == 8 {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

func setPairCount(t *writeTx, pair []byte, n uint64) error {
	if n == 0 {
		return t.remove(pairsBucket, pair)
	}
	return t.put(pairsBucket, pair, binary.BigEndian.AppendUint64(nil, n))
}

// oldestOf returns the oldest grant of a pair that has one.
func oldestOf(t *writeTx, pair []byte) (grantRecord, error) {
	c := t.tx.Bucket(pairsBucket).Cursor()
	c.Seek(pair) // the count
	key, _ := c.Next()
	if !bytes.HasPrefix(key, pair) || len(key) <= len(pair)+timeLen {
		return grantRecord{}, errRecord
	}
	g, err := grantOf(t.tx, key[len(pair)+timeLen:])
	if err != nil {
		return grantRecord{}, errRecord
	}
	return g, nil
}

func removeGrant(t *writeTx, g *grantRecord) error {
	c := t.tx.Bucket(rotatedBucket).Cursor()
	prefix := rotatedPrefix(g.ID)
	for key, hash := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, hash = c.Seek(prefix) {
		if err := cmp.Or(t.remove(refreshBucket, bytes.Clone(hash)), t.remove(rotatedBucket, bytes.Clone(key))); err != nil {
			return err
		}
	}
	pair := pairKey(g.ClientAccount, g.ServerAccount)
	return cmp.Or(
		t.remove(grantsBucket, []byte(g.ID)),
		t.remove(refreshBucket, g.RefreshHash[:]),
		t.remove(pairsBucket, pairGrantKey(&g.Grant)),
		t.remove(expiryBucket, expiryKey(&g.Grant)),
		setPairCount(t, pair, max(pairCount(t, pair), 1)-1),
	)
}

// Grant implements account.Store.
func (s *Store) Grant(ctx context.Context, id string) (account.Grant, error) {
	var g grantRecord
	err := s.read(ctx, func(tx *bbolt.Tx) (err error) {
		g, err = grantOf(tx, []byte(id))
		return err
	})
	return g.Grant, err
}

func grantOf(tx *bbolt.Tx, id []byte) (grantRecord, error) {
	if len(id) == 0 {
		return grantRecord{}, account.ErrNotFound
	}
	record := tx.Bucket(grantsBucket).Get(id)
	if record == nil {
		return grantRecord{}, account.ErrNotFound
	}
	return decodeGrant(record)
}

// GrantByRefresh implements account.Store.
func (s *Store) GrantByRefresh(ctx context.Context, refresh account.Hash) (account.Grant, error) {
	var g grantRecord
	err := s.read(ctx, func(tx *bbolt.Tx) (err error) {
		if g, err = grantOf(tx, tx.Bucket(refreshBucket).Get(refresh[:])); err != nil {
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
		g, err := grantOf(t.tx, []byte(id))
		if err != nil {
			return err
		}
		switch {
		case string(t.get(refreshBucket, old[:])) != id:
			return account.ErrNotFound
		case g.RefreshHash != old:
			return account.ErrRotated
		case t.get(refreshBucket, next[:]) != nil:
			return account.ErrExists
		}
		g.RefreshHash = next
		g.rotations++
		if err := cmp.Or(
			t.put(grantsBucket, []byte(id), encodeGrant(&g)),
			t.put(refreshBucket, next[:], []byte(id)),
			t.put(rotatedBucket, rotatedKey(id, g.rotations), old[:]),
		); err != nil || g.rotations <= maxRotated {
			return err
		}
		forgotten := rotatedKey(id, g.rotations-maxRotated)
		return cmp.Or(
			t.remove(refreshBucket, bytes.Clone(t.get(rotatedBucket, forgotten))),
			t.remove(rotatedBucket, forgotten),
		)
	})
}

// EndGrant implements account.Store.
func (s *Store) EndGrant(ctx context.Context, id string) error {
	return s.write(ctx, func(t *writeTx) error {
		g, err := grantOf(t.tx, []byte(id))
		switch {
		case err == account.ErrNotFound:
			return nil
		case err != nil:
			return err
		}
		return removeGrant(t, &g)
	})
}

// SweepGrants implements account.Store.
func (s *Store) SweepGrants(ctx context.Context, now time.Time) (int, error) {
	for swept := 0; ; {
		n, err := s.sweepStep(ctx, now)
		swept += n
		if err != nil || n < sweepStep {
			return swept, err
		}
	}
}

func (s *Store) sweepStep(ctx context.Context, now time.Time) (n int, err error) {
	var expired []string
	err = s.read(ctx, func(tx *bbolt.Tx) error {
		end := appendTime(nil, now)
		c := tx.Bucket(expiryBucket).Cursor()
		for key, _ := c.First(); key != nil && len(expired) < sweepStep; key, _ = c.Next() {
			if len(key) < timeLen {
				return errRecord
			}
			if bytes.Compare(key[:timeLen], end) > 0 {
				break
			}
			expired = append(expired, string(key[timeLen:]))
		}
		return nil
	})
	if err != nil || len(expired) == 0 {
		return 0, err
	}
	err = s.write(ctx, func(t *writeTx) error {
		n = 0
		for _, id := range expired {
			g, err := grantOf(t.tx, []byte(id))
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
	return n, err
}
