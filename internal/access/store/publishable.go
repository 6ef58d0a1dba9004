package store

import (
	"context"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

const selectPublishableKey = "SELECT " + publishableKeyColumns + " FROM maps_publishable_keys WHERE "

// CreatePublishableKey implements account.Store. The row of the account serializes calls for it. No cached token
// depends on the new key.
func (s *Store) CreatePublishableKey(ctx context.Context, accountID string, limit int,
	create func(account.Account) (account.PublishableKey, error)) (key account.PublishableKey, err error) {
	err = s.write(ctx, func(t *tx) error {
		acc, err := first(t, accountFields, selectAccount+"id = $1"+t.forUpdate, accountID)
		if err != nil {
			return err
		}
		if key, err = create(acc); err != nil {
			return err
		}
		n, err := first(t, func(n *int) []any { return []any{number(n)} },
			"SELECT count(*) FROM maps_publishable_keys WHERE account = $1", accountID)
		switch {
		case err != nil:
			return err
		case n >= limit:
			return account.ErrLimit
		}
		key.Account, key.Organization = acc.ID, acc.OrganizationID
		_, err = t.exec(insert("maps_publishable_keys", publishableKeyColumns, 1), publishableKeyFields(&key)...)
		return err
	})
	if err != nil {
		return account.PublishableKey{}, err
	}
	return key, nil
}

// PublishableKey implements account.Store.
func (s *Store) PublishableKey(ctx context.Context, key string) (account.PublishableKey, error) {
	return readFirst(ctx, s, publishableKeyFields, selectPublishableKey+"key_text = $1", key)
}

// PublishableKeys implements account.Store.
func (s *Store) PublishableKeys(ctx context.Context,
	accountID string) (keys []account.PublishableKey, err error) {
	err = s.read(ctx, func(t *tx) error {
		keys, err = list(t, publishableKeyFields, selectPublishableKey+"account = $1 ORDER BY id DESC", accountID)
		return err
	})
	return keys, err
}

// DeletePublishableKey implements account.Store.
func (s *Store) DeletePublishableKey(ctx context.Context, accountID, id string,
	check func(account.Account) error) error {
	return s.write(ctx, func(t *tx) error {
		acc, err := first(t, accountFields, selectAccount+"id = $1"+t.forUpdate, accountID)
		if err != nil {
			return err
		}
		if err := check(acc); err != nil {
			return err
		}
		deleted, err := t.exec("DELETE FROM maps_publishable_keys WHERE account = $1 AND id = $2", accountID, id)
		if err == nil && deleted == 0 {
			return account.ErrNotFound
		}
		t.changed(acc.OrganizationID)
		return err
	})
}
