package store

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// newPublishableKey is a key with every field set that a caller sets.
func newPublishableKey(n int) account.PublishableKey {
	return account.PublishableKey{
		ID: fmt.Sprintf("pk_%06d", n), Key: fmt.Sprintf("mpk_%d", n), Description: "shop's \"pages\" 🗺",
		Scopes:  account.Scopes{account.ScopeDirection, account.ScopeTile},
		Origins: []string{"https://*.example.com", "http://localhost:5173"}, CreatedBy: "user:ann",
		CreatedAt: start.Add(time.Duration(n) * time.Second),
	}
}

func addKey(s *Store, accountID string, n, limit int) (account.PublishableKey, error) {
	return s.CreatePublishableKey(context.Background(), accountID, limit,
		func(account.Account) (account.PublishableKey, error) { return newPublishableKey(n), nil })
}

// TestPublishableKeys: keys are found by their text, listed by account, and end with their account. Refusals of the
// caller change nothing, and concurrent calls do not exceed the limit.
func TestPublishableKeys(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		ctx, refused := t.Context(), errors.New("refused")
		one, two := newAccount(1, "org"), newAccount(2, "org")
		create(t, s, one, two)
		allow := func(account.Account) error { return nil }
		_, err := addKey(s, "sa_none", 1, many)
		is(t, "a key of no account", account.ErrNotFound, err)
		_, err = s.CreatePublishableKey(ctx, one.ID, many, func(a account.Account) (account.PublishableKey, error) {
			same(t, "the account", one, a)
			return newPublishableKey(1), refused
		})
		is(t, "a refused key", refused, err)
		var want []account.PublishableKey
		for _, n := range []int{3, 1} {
			made := must(addKey(s, one.ID, n, many))
			key := newPublishableKey(n)
			key.Account, key.Organization = one.ID, "org"
			same(t, "made", key, made)
			same(t, "by its text", key, must(s.PublishableKey(ctx, key.Key)))
			want = append(want, key)
		}
		must(addKey(s, two.ID, 2, many))
		same(t, "newest first", want, must(s.PublishableKeys(ctx, one.ID)))
		_, err = addKey(s, two.ID, 1, many)
		is(t, "a taken id", account.ErrExists, err)

		is(t, "a key of another account", account.ErrNotFound, s.DeletePublishableKey(ctx, one.ID, "pk_000002", allow))
		is(t, "a key of no account", account.ErrNotFound, s.DeletePublishableKey(ctx, "sa_none", "pk_000002",
			func(account.Account) error { return refused }))
		is(t, "a refused deletion", refused, s.DeletePublishableKey(ctx, one.ID, "pk_000001",
			func(a account.Account) error { same(t, "the account", one, a); return refused }))
		is(t, "a deletion", nil, s.DeletePublishableKey(ctx, one.ID, "pk_000001", allow))
		is(t, "a second one", account.ErrNotFound, s.DeletePublishableKey(ctx, one.ID, "pk_000001", allow))
		same(t, "what is left", want[:1], must(s.PublishableKeys(ctx, one.ID)))
		must(s.DeleteAccount(ctx, one.ID, nil))
		for _, gone := range want {
			_, err = s.PublishableKey(ctx, gone.Key)
			is(t, "a deleted key", account.ErrNotFound, err)
		}
		same(t, "keys of a deleted account", nil, must(s.PublishableKeys(ctx, one.ID)))

		errs := together(8, func(i int) error {
			_, err := addKey(s, two.ID, 10+i, 5) // with the one that it has
			return err
		})
		if count(errs, nil) != 4 || count(errs, account.ErrLimit) != 4 {
			t.Errorf("of 8 keys: %v", errs)
		}
	})
}
