package boltstore

import (
	"bytes"
	"cmp"
	"context"

	"go.etcd.io/bbolt"

	"github.com/mapsedge/caddy-maps/internal/account"
)

func tokenBucket(kind account.TokenKind) []byte {
	if kind == account.ClientToken {
		return clientsBucket
	}
	return serversBucket
}

// CreateAccount implements account.Store.
func (s *Store) CreateAccount(ctx context.Context, a account.Account) error {
	return s.write(ctx, func(t *writeTx) error {
		id := []byte(a.ID)
		if t.get(accountsBucket, id) != nil || t.get(clientsBucket, a.ClientHash[:]) != nil || t.get(serversBucket, a.ServerHash[:]) != nil {
			return account.ErrExists
		}
		return cmp.Or(
			t.put(accountsBucket, id, encodeAccount(&a)),
			t.put(clientsBucket, a.ClientHash[:], id),
			t.put(serversBucket, a.ServerHash[:], id),
			t.put(orgBucket, append(orgPrefix(a.OrganizationID), id...), nil),
			t.put(orgStatusBucket, append(orgStatusPrefix(a.OrganizationID, a.Status), id...), nil),
		)
	})
}

// Account implements account.Store.
func (s *Store) Account(ctx context.Context, id string) (a account.Account, err error) {
	err = s.read(ctx, func(tx *bbolt.Tx) error {
		a, err = accountOf(tx, []byte(id))
		return err
	})
	return a, err
}

// AccountByToken implements account.Store.
func (s *Store) AccountByToken(ctx context.Context, kind account.TokenKind, token account.Hash) (a account.Account, err error) {
	err = s.read(ctx, func(tx *bbolt.Tx) error {
		id := tx.Bucket(tokenBucket(kind)).Get(token[:])
		if id == nil {
			id = decoy.id
		}
		a, err = accountOf(tx, id)
		return err
	})
	return a, err
}

// decoy is an account as most are, of nobody and in no store. What is not found takes its time, or the time of an answer would
// tell what is there and not for the caller from what is not.
var decoy = struct{ id, record []byte }{
	[]byte("sa_0000000000000000000000"),
	encodeAccount(&account.Account{
		ID: "sa_0000000000000000000000", OrganizationID: "organization", Platform: "WEB", Description: "description",
		Scopes: account.Scopes{account.ScopeDirection, account.ScopeReverseGeocoding}, Status: account.StatusActive,
		CreatedBy: "user:subject", ClientHint: "0000", ServerHint: "0000", Version: 1,
	}),
}

func accountOf(tx *bbolt.Tx, id []byte) (account.Account, error) {
	record := tx.Bucket(accountsBucket).Get(id)
	if record == nil {
		_, err := decodeAccount(decoy.record)
		return account.Account{}, cmp.Or(err, account.ErrNotFound)
	}
	return decodeAccount(record)
}

// Accounts implements account.Store.
func (s *Store) Accounts(ctx context.Context, organization string, page account.Page) (list []account.Account, err error) {
	err = s.read(ctx, func(tx *bbolt.Tx) error {
		bucket, prefix := orgBucket, orgPrefix(organization)
		if page.Status != "" {
			bucket, prefix = orgStatusBucket, orgStatusPrefix(organization, page.Status)
		}
		c := tx.Bucket(bucket).Cursor()
		for key := lastBefore(c, prefix, page.After); bytes.HasPrefix(key, prefix) && len(list) < page.Limit; key, _ = c.Prev() {
			a, err := accountOf(tx, key[len(prefix):])
			if err != nil {
				return err
			}
			list = append(list, a)
		}
		return nil
	})
	return list, err
}

// UpdateAccount implements account.Store.
func (s *Store) UpdateAccount(ctx context.Context, id string, change func(*account.Account) (bool, error)) (before, after account.Account, err error) {
	err = s.write(ctx, func(t *writeTx) error {
		var changed bool
		var err error
		if before, err = accountOf(t.tx, []byte(id)); err != nil {
			return err
		}
		after, changed, err = account.Change(before, change)
		if err != nil || !changed {
			return err
		}
		if err := t.put(accountsBucket, []byte(id), encodeAccount(&after)); err != nil || before.Status == after.Status {
			return err
		}
		return cmp.Or(
			t.remove(orgStatusBucket, append(orgStatusPrefix(before.OrganizationID, before.Status), id...)),
			t.put(orgStatusBucket, append(orgStatusPrefix(after.OrganizationID, after.Status), id...), nil),
		)
	})
	if err != nil {
		return account.Account{}, account.Account{}, err
	}
	return before, after, nil
}

// DeleteAccount implements account.Store. Its grants stay until they expire; without the account they are of no use.
func (s *Store) DeleteAccount(ctx context.Context, id string, check func(account.Account) error) (was account.Account, err error) {
	err = s.write(ctx, func(t *writeTx) error {
		var err error
		if was, err = accountOf(t.tx, []byte(id)); err != nil {
			return err
		}
		if check != nil {
			if err := check(was); err != nil {
				return err
			}
		}
		return cmp.Or(
			t.remove(accountsBucket, []byte(id)),
			t.remove(clientsBucket, was.ClientHash[:]),
			t.remove(serversBucket, was.ServerHash[:]),
			t.remove(orgBucket, append(orgPrefix(was.OrganizationID), id...)),
			t.remove(orgStatusBucket, append(orgStatusPrefix(was.OrganizationID, was.Status), id...)),
		)
	})
	if err != nil {
		return account.Account{}, err
	}
	return was, nil
}
