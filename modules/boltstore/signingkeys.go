package boltstore

import (
	"cmp"
	"context"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// Keys implements account.Store.
func (s *Store) Keys(ctx context.Context) (keys []account.Key, err error) {
	err = s.read(ctx, func(tx *bbolt.Tx) error {
		keys, err = keysOf(tx)
		return err
	})
	return keys, err
}

func keysOf(tx *bbolt.Tx) ([]account.Key, error) {
	var keys []account.Key
	err := tx.Bucket(signingKeyBucket).ForEach(func(_, record []byte) error {
		k, err := decodeKey(record)
		keys = append(keys, k)
		return err
	})
	slices.SortFunc(keys, func(a, b account.Key) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return keys, err
}

// AddFirstKey implements account.Store.
func (s *Store) AddFirstKey(ctx context.Context, k account.Key) (stands account.Key, err error) {
	err = s.write(ctx, func(t *writeTx) error {
		keys, err := keysOf(t.tx)
		if err != nil {
			return err
		}
		for _, one := range keys {
			if one.Use == k.Use && one.Algorithm == k.Algorithm {
				stands = one
				return nil
			}
		}
		if t.get(signingKeyBucket, []byte(k.ID)) != nil {
			return account.ErrExists
		}
		stands = k
		return t.put(signingKeyBucket, []byte(k.ID), encodeKey(&k))
	})
	if err != nil {
		return account.Key{}, err
	}
	return stands, nil
}

// AddNextKey implements account.Store.
func (s *Store) AddNextKey(ctx context.Context, k account.Key, after string) (stands account.Key, err error) {
	err = s.write(ctx, func(t *writeTx) error {
		keys, err := keysOf(t.tx)
		if err != nil {
			return err
		}
		for _, one := range slices.Backward(keys) {
			if one.Use != k.Use || one.Algorithm != k.Algorithm {
				continue
			}
			if one.ID != after {
				stands = one
				return nil
			}
			break
		}
		if t.get(signingKeyBucket, []byte(k.ID)) != nil {
			return account.ErrExists
		}
		stands = k
		return t.put(signingKeyBucket, []byte(k.ID), encodeKey(&k))
	})
	if err != nil {
		return account.Key{}, err
	}
	return stands, nil
}

// DeleteKey implements account.Store.
func (s *Store) DeleteKey(ctx context.Context, id string) error {
	return s.write(ctx, func(t *writeTx) error {
		if t.get(signingKeyBucket, []byte(id)) == nil {
			return nil
		}
		return t.remove(signingKeyBucket, []byte(id))
	})
}

// ReplaceKey implements account.Store.
func (s *Store) ReplaceKey(ctx context.Context, k account.Key) error {
	return s.write(ctx, func(t *writeTx) error {
		record := t.get(signingKeyBucket, []byte(k.ID))
		if record == nil {
			return account.ErrNotFound
		}
		stands, err := decodeKey(record)
		if err != nil {
			return err
		}
		if stands.Use != k.Use || stands.Algorithm != k.Algorithm {
			return account.ErrNotFound
		}
		stands.Private, stands.Sealed = k.Private, k.Sealed
		return t.put(signingKeyBucket, []byte(k.ID), encodeKey(&stands))
	})
}
