package store

import (
	"context"
	"slices"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

const selectKeys = "SELECT " + keyColumns + " FROM maps_keys ORDER BY created_at, id"

// Keys implements account.Store.
func (s *Store) Keys(ctx context.Context) (keys []account.Key, err error) {
	err = s.read(ctx, func(t *tx) error {
		keys, err = list(t, keyFields, selectKeys)
		return err
	})
	return keys, err
}

// UpdateKeys implements account.Store.
func (s *Store) UpdateKeys(ctx context.Context,
	change func([]account.Key) ([]account.Key, error)) (keys []account.Key, err error) {
	err = s.write(ctx, func(t *tx) error {
		if err := t.lock(t.ctx, "keys"); err != nil {
			return err
		}
		stored, err := list(t, keyFields, selectKeys)
		if err != nil {
			return err
		}
		if keys, err = change(slices.Clone(stored)); err != nil {
			return err
		}
		same := func(a, b account.Key) bool { return a.ID == b.ID && a.Sealed == b.Sealed }
		for _, old := range stored {
			if slices.ContainsFunc(keys, func(k account.Key) bool { return same(k, old) }) {
				continue
			}
			t.changed(keysChanged)
			if _, err := t.exec("DELETE FROM maps_keys WHERE id = $1", old.ID); err != nil {
				return err
			}
		}
		for _, next := range keys {
			if slices.ContainsFunc(stored, func(k account.Key) bool { return same(k, next) }) {
				continue
			}
			t.changed(keysChanged)
			if _, err := t.exec(insert("maps_keys", keyColumns, 1), keyFields(&next)...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return keys, nil
}
