package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

func TestAccounts(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		ctx, first := t.Context(), newAccount(1, "org")
		bare := account.Account{ID: "sa_bare", OrganizationID: "o", Status: account.StatusSuspended,
			ClientHash: hashOf("c", 1), ServerHash: hashOf("s", 1), CreatedAt: start, UpdatedAt: start}
		for _, want := range []account.Account{first, newAccount(2, strings.Repeat("ö", 100)), bare} {
			create(t, s, want)
			same(t, "account", want, must(s.Account(ctx, want.ID)))
			same(t, "by client token", want, must(s.AccountByToken(ctx, account.ClientToken, want.ClientHash)))
			same(t, "by server token", want, must(s.AccountByToken(ctx, account.ServerToken, want.ServerHash)))
			_, err := s.AccountByToken(ctx, account.ClientToken, want.ServerHash)
			is(t, "a server token as a client token", account.ErrNotFound, err)
		}
		for _, id := range []string{"", "sa_", "sa_000001 ", "SA_000001", "' OR 1=1 --"} {
			_, err := s.Account(ctx, id)
			is(t, id, account.ErrNotFound, err)
		}
		id, client, server := newAccount(3, "org"), newAccount(4, "org"), newAccount(5, "other")
		id.ID, client.ClientHash, server.ServerHash = "sa_000001", hashOf("client", 1), hashOf("server", 1)
		for _, taken := range []account.Account{id, client, server} {
			is(t, "a taken id or token", account.ErrExists, s.CreateAccount(ctx, taken, many))
		}
		refused := errors.New("refused")
		_, err := s.DeleteAccount(ctx, first.ID, func(account.Account) error { return refused })
		is(t, "a refused deletion", refused, err)
		same(t, "what was deleted", first, must(s.DeleteAccount(ctx, first.ID, nil)))
		_, err = s.DeleteAccount(ctx, first.ID, nil)
		is(t, "a second deletion", account.ErrNotFound, err)
		_, err = s.AccountByToken(ctx, account.ClientToken, first.ClientHash)
		is(t, "its token", account.ErrNotFound, err)
		first.ID = "sa_000009" // its tokens are free again
		create(t, s, first)
	})
}

// TestAccountLimit: revoked accounts do not count, and concurrent calls do not exceed the limit.
func TestAccountLimit(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		revoked := newAccount(1000, "org")
		revoked.Status = account.StatusRevoked
		create(t, s, revoked, newAccount(1001, "other"))
		errs := together(12, func(i int) error { return s.CreateAccount(context.Background(), newAccount(i, "org"), 5) })
		if count(errs, nil) != 5 || count(errs, account.ErrLimit) != 7 {
			t.Errorf("of 12 accounts: %v", errs)
		}
		list := must(s.Accounts(t.Context(), "org", account.Page{Limit: 20}))
		must(s.DeleteAccount(t.Context(), list[len(list)-1].ID, nil))
		is(t, "after one was deleted", nil, s.CreateAccount(t.Context(), newAccount(2000, "org"), 5))
	})
}

func TestUpdateAccount(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		first := newAccount(4, "org")
		create(t, s, first)
		for _, step := range []struct {
			status     account.Status
			generation uint64
		}{
			{account.StatusActive, 4}, {account.StatusSuspended, 5}, {account.StatusSuspended, 5}, {account.StatusActive, 5},
			{account.StatusRevoked, 6},
		} {
			was := must(s.Account(t.Context(), first.ID))
			want := was
			want.Description, want.Scopes, want.Status = was.Description+".", account.Scopes{account.ScopeTSS}, step.status
			want.Quotas, want.Restrictions, want.Generation = nil, account.Restrictions{}, step.generation
			before, after, err := s.UpdateAccount(t.Context(), first.ID, func(a *account.Account) (bool, error) {
				*a = want
				a.ID, a.OrganizationID, a.ClientHash, a.Generation = "sa_other", "other", account.Hash{}, 99 // are kept
				return true, nil
			})
			is(t, "UpdateAccount", nil, err)
			same(t, "before", was, before)
			same(t, "after", want, after)
			same(t, "stored", want, must(s.Account(t.Context(), first.ID)))
		}
		errs := together(16, func(i int) error {
			_, _, err := s.UpdateAccount(context.Background(), first.ID, func(a *account.Account) (bool, error) {
				a.UpdatedAt = a.UpdatedAt.Add(time.Microsecond)
				return true, nil
			})
			return err
		})
		got := must(s.Account(t.Context(), first.ID))
		if count(errs, nil) != 16 || !got.UpdatedAt.Equal(first.UpdatedAt.Add(16*time.Microsecond)) {
			t.Errorf("16 concurrent changes: %v, %v", errs, got.UpdatedAt.Sub(first.UpdatedAt))
		}
	})
}

// TestRevisions: each change that a cached token depends on raises the revision of its organization, or of the keys, before
// the call returns, and on other servers within a second. Calls that change nothing raise none.
func TestRevisions(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		const id, heardWithin = "sa_000001", time.Second
		ctx, refused, other := t.Context(), errors.New("refused"), s
		if _, shared := s.db.(*postgres); shared {
			other = beside(t, s)
		}
		create(t, s, newAccount(1, "org"), newAccount(2, "org"))
		addGrant(t, s, 1, id, id, 10)
		deleteKey := func() error {
			return s.DeletePublishableKey(ctx, id, "pk_000001", func(account.Account) error { return nil })
		}
		update := func(id string, changed bool, err error) func() error {
			return func() error {
				_, _, got := s.UpdateAccount(ctx, id, func(*account.Account) (bool, error) { return changed, err })
				return got
			}
		}
		setKeys := func(err error) func() error {
			return func() error {
				_, got := s.UpdateKeys(ctx, func([]account.Key) ([]account.Key, error) {
					return []account.Key{newKey("k", account.KeyAccess, 1)}, err
				})
				return got
			}
		}
		numbers := func(s *Store) [3]uint64 {
			return [3]uint64{s.Revision("org").Load(), s.KeysRevision().Load(), s.Revision("other").Load()}
		}
		for _, test := range []struct { // in this order: a grant can end only once
			what   string
			raises int // index of the number, -1 for none
			want   error
			call   func() error
		}{
			{"an update", 0, nil, update(id, true, nil)},
			{"a deletion", 0, nil, func() error {
				_, err := s.DeleteAccount(ctx, "sa_000002", nil)
				return err
			}},
			{"a new publishable key", -1, nil, func() error { _, err := addKey(s, id, 1, 1); return err }},
			{"its deletion", 0, nil, deleteKey},
			{"a second deletion", -1, account.ErrNotFound, deleteKey},
			{"quotas", 0, nil, func() error { return s.SetOrganizationQuotas(ctx, "org", nil) }},
			{"an ended grant", 0, nil, func() error { return s.EndGrant(ctx, "gr_000001") }},
			{"a grant within the limit", -1, nil, func() error { addGrant(t, s, 2, id, id, 1); return nil }},
			{"a grant beyond the limit", 0, nil, func() error { addGrant(t, s, 3, id, id, 1); return nil }},
			{"keys", 1, nil, setKeys(nil)},
			{"the same keys", -1, nil, setKeys(nil)},
			{"keys that are refused", -1, refused, setKeys(refused)},
			{"an update that is refused", -1, refused, update(id, true, refused)},
			{"an update without a change", -1, nil, update(id, false, nil)},
			{"an update of no account", -1, account.ErrNotFound, update("sa_none", true, nil)},
		} {
			own, others := numbers(s), numbers(other)
			is(t, test.what, test.want, test.call())
			began := time.Now()
			if now := numbers(s); test.raises >= 0 && now[test.raises] == own[test.raises] {
				t.Errorf("%s: the revision did not rise", test.what)
			} else if s == other && test.raises < 0 && now != own { // PostgreSQL reports a server's own changes once more
				t.Errorf("%s: a revision rose", test.what)
			}
			if test.raises >= 0 {
				eventually(t, test.what, func() bool { return numbers(other)[test.raises] != others[test.raises] })
			}
			if took := time.Since(began); took > heardWithin || numbers(other)[2] != others[2] {
				t.Errorf("%s: known after %v, or another organization changed", test.what, took)
			}
		}
		is(t, "health", nil, s.Health().Write)
	})
}

func TestListAccounts(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		var want, suspended []string
		for n := range 25 {
			a := newAccount(n, "org")
			if n%4 == 0 {
				a.Status = account.StatusSuspended
				suspended = append(suspended, a.ID)
			}
			create(t, s, a)
			want = append(want, a.ID)
		}
		create(t, s, newAccount(100, "org2"), newAccount(101, "or"))
		slices.Reverse(want)
		slices.Reverse(suspended)
		list := func(status account.Status, limit int) (ids []string) {
			for page := (account.Page{Status: status, Limit: limit}); ; page.After = ids[len(ids)-1] {
				found := must(s.Accounts(t.Context(), "org", page))
				for _, a := range found {
					ids = append(ids, a.ID)
				}
				if len(found) < limit {
					return ids
				}
			}
		}
		for _, limit := range []int{1, 7, 25, 200} {
			same(t, fmt.Sprintf("pages of %d", limit), want, list("", limit))
		}
		same(t, "suspended", suspended, list(account.StatusSuspended, 3))
		same(t, "no accounts", nil, must(s.Accounts(t.Context(), "none", account.Page{Limit: 5})))
		revoked := newAccount(102, "org2")
		revoked.Status = account.StatusRevoked
		create(t, s, revoked, newAccount(103, "Ö"), newAccount(104, "Z"))
		organizations := []account.Organization{{Name: "Z", Active: 1}, {Name: "or", Active: 1},
			{Name: "org", Active: 18, Suspended: 7}, {Name: "org2", Active: 1, Revoked: 1}, {Name: "Ö", Active: 1}}
		same(t, "organizations", organizations, must(s.Organizations(t.Context(), "", 9)))
		same(t, "a page of them", organizations[2:4], must(s.Organizations(t.Context(), "or", 2)))
		for _, quotas := range []account.Quotas{newAccount(1, "").Quotas, nil} {
			is(t, "SetOrganizationQuotas", nil, s.SetOrganizationQuotas(t.Context(), "org", quotas))
			same(t, "quotas", quotas, must(s.OrganizationQuotas(t.Context(), "org")))
			same(t, "of another organization", nil, must(s.OrganizationQuotas(t.Context(), "other")))
		}
	})
}

// TestCalls: calls whose context has ended, and calls after Close, change nothing and return an error.
func TestCalls(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		is(t, "a call whose context has ended", context.Canceled, s.CreateAccount(ended, newAccount(1, "org"), many))
		create(t, s, newAccount(2, "org"))
		is(t, "Close", nil, s.Close())
		is(t, "Close again", nil, s.Close())
		is(t, "a change after Close", errClosed, s.CreateAccount(t.Context(), newAccount(3, "org"), many))
		if _, err := s.Account(t.Context(), "sa_000002"); !account.IsUnavailable(err) {
			t.Errorf("a read after Close: %v", err)
		}
	})
}
