package bolt

import (
	"cmp"
	"context"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// Keys implements account.Store.
func (s *Store) Keys(ctx context.Context) (keys []account.Key, err error) {
	err = s.view(ctx, func(v *view) error {
		keys, err = keysOf(v)
		return err
	})
	return keys, err
}

func keysOf(v *view) ([]account.Key, error) {
	var keys []account.Key
	err := v.each(signingKeyBucket, nil, func(_, record []byte) error {
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
		keys, err := keysOf(t.view)
		if err != nil {
			return err
		}
		for _, one := range keys {
			if one.Use == k.Use && one.Algorithm == k.Algorithm {
				stands = one
				return nil
			}
		}
		if err := t.isFree(signingKeyBucket, []byte(k.ID)); err != nil {
			return err
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
		keys, err := keysOf(t.view)
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
		if err := t.isFree(signingKeyBucket, []byte(k.ID)); err != nil {
			return err
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
		return t.remove(signingKeyBucket, []byte(id))
	})
}

// ReplaceKeys implements account.Store.
func (s *Store) ReplaceKeys(ctx context.Context, old []string, next []account.Key) (removed []string, err error) {
	err = s.write(ctx, func(t *writeTx) error {
		removed = nil
		keys, err := keysOf(t.view)
		if err != nil {
			return err
		}
		left := slices.DeleteFunc(keys, func(k account.Key) bool {
			if !slices.Contains(old, k.ID) {
				return false
			}
			removed = append(removed, k.ID)
			return true
		})
		for _, id := range removed {
			if err := t.remove(signingKeyBucket, []byte(id)); err != nil {
				return err
			}
		}
		for _, k := range next {
			if slices.ContainsFunc(left, func(one account.Key) bool {
				return one.Use == k.Use &&
					one.Algorithm == k.Algorithm
			}) {
				continue
			}
			if err := t.isFree(signingKeyBucket, []byte(k.ID)); err != nil {
				return err
			}
			if err := t.put(signingKeyBucket, []byte(k.ID), encodeKey(&k)); err != nil {
				return err
			}
			left = append(left, k)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return removed, nil
}

// ReplaceKey implements account.Store.
func (s *Store) ReplaceKey(ctx context.Context, k account.Key) error {
	return s.write(ctx, func(t *writeTx) error {
		record, err := t.get(signingKeyBucket, []byte(k.ID))
		if err != nil {
			return err
		}
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
