package bolt

import (
	"bytes"
	"cmp"
	"context"

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
	return s.write(ctx, func(t *writeTx) error { return createAccount(t, &a) })
}

func createAccount(t *writeTx, a *account.Account) error {
	id := []byte(a.ID)
	if err := cmp.Or(
		t.isFree(accountsBucket, id),
		t.isFree(clientsBucket, a.ClientHash[:]),
		t.isFree(serversBucket, a.ServerHash[:]),
	); err != nil {
		return err
	}
	return cmp.Or(
		t.add(accountsBucket, id, encodeAccount(a)),
		t.add(clientsBucket, a.ClientHash[:], id),
		t.add(serversBucket, a.ServerHash[:], id),
		t.put(orgBucket, append(orgPrefix(a.OrganizationID), id...), nil),
		t.put(orgStatusBucket, append(orgStatusPrefix(a.OrganizationID, a.Status), id...), nil),
	)
}

// Account implements account.Store.
func (s *Store) Account(ctx context.Context, id string) (a account.Account, err error) {
	err = s.view(ctx, func(v *view) error {
		a, err = accountOf(v, []byte(id))
		return err
	})
	return a, err
}

// AccountByToken implements account.Store.
func (s *Store) AccountByToken(ctx context.Context, kind account.TokenKind,
	token account.Hash) (a account.Account, err error) {
	err = s.view(ctx, func(v *view) error {
		id, err := v.get(tokenBucket(kind), token[:])
		if err != nil {
			return err
		}
		if id == nil {
			a, err = accountOf(v, decoy.id)
			return err
		}
		a, err = accountOf(v, id)
		return expected(err, "an account that %s names", tokenBucket(kind))
	})
	return a, err
}

// decoy is an account as most are, of nobody and in no store. What is not found takes its time, or the time of an
// answer would tell what is there and not for the caller from what is not.
var decoy = func() (d struct{ id, value []byte }) {
	d.id = []byte("sa_0000000000000000000000")
	d.value, _ = seal(accountsBucket, d.id, encodeAccount(&account.Account{
		ID: string(d.id), OrganizationID: "organization", Platform: "WEB", Description: "description",
		Scopes: account.Scopes{account.ScopeDirection, account.ScopeReverseGeocoding}, Status: account.StatusActive,
		CreatedBy: "user:subject", ClientHint: "0000", ServerHint: "0000", Version: 1,
	}))
	return d
}()

func accountOf(v *view, id []byte) (account.Account, error) {
	record, err := v.get(accountsBucket, id)
	if err != nil {
		return account.Account{}, err
	}
	if record == nil {
		record, _, err = unseal(accountsBucket, decoy.id, decoy.value)
		if err == nil {
			_, err = decodeAccount(record)
		}
		return account.Account{}, cmp.Or(err, account.ErrNotFound)
	}
	return decodeAccount(record)
}

// Accounts implements account.Store.
func (s *Store) Accounts(ctx context.Context, organization string,
	page account.Page) (list []account.Account, err error) {
	err = s.view(ctx, func(v *view) error {
		v.remember()
		bucket, prefix := orgBucket, orgPrefix(organization)
		if page.Status != "" {
			bucket, prefix = orgStatusBucket, orgStatusPrefix(organization, page.Status)
		}
		key := append(bytes.Clone(prefix), page.After...)
		if page.After == "" {
			key = after(prefix)
		}
		for len(list) < page.Limit {
			var err error
			if key, err = v.before(bucket, key); err != nil || !bytes.HasPrefix(key, prefix) {
				return err
			}
			a, err := accountOf(v, key[len(prefix):])
			if err != nil {
				return expected(err, "an account that %s names", bucket)
			}
			list = append(list, a)
		}
		return nil
	})
	return list, err
}

// UpdateAccount implements account.Store.
func (s *Store) UpdateAccount(ctx context.Context, id string,
	change func(*account.Account) (bool, error)) (before, after account.Account, err error) {
	err = s.write(ctx, func(t *writeTx) error {
		var changed bool
		var err error
		if before, err = accountOf(t.view, []byte(id)); err != nil {
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
func (s *Store) DeleteAccount(ctx context.Context, id string,
	check func(account.Account) error) (was account.Account, err error) {
	err = s.write(ctx, func(t *writeTx) error {
		var err error
		if was, err = accountOf(t.view, []byte(id)); err != nil {
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
