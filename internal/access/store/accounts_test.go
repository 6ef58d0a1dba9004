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
		bare := account.Account{ID: "sa_bare", OrganizationID: "o", Status: account.StatusSuspended,
			ClientHash: hashOf("c", 1), ServerHash: hashOf("s", 1), CreatedAt: start, UpdatedAt: start}
		for _, want := range []account.Account{newAccount(1, "org"), newAccount(2, strings.Repeat("ö", 100)), bare} {
			create(t, s, want)
			same(t, "account", want, must[account.Account](t)(s.Account(t.Context(), want.ID)))
			same(t, "by client token", want,
				must[account.Account](t)(s.AccountByToken(t.Context(), account.ClientToken, want.ClientHash)))
			same(t, "by server token", want,
				must[account.Account](t)(s.AccountByToken(t.Context(), account.ServerToken, want.ServerHash)))
			_, err := s.AccountByToken(t.Context(), account.ClientToken, want.ServerHash)
			is(t, "a server token as a client token", account.ErrNotFound, err)
		}
		for _, id := range []string{"", "sa_", "sa_000001 ", "SA_000001", "' OR 1=1 --"} {
			_, err := s.Account(t.Context(), id)
			is(t, id, account.ErrNotFound, err)
		}
		id, client, server := newAccount(3, "org"), newAccount(4, "org"), newAccount(5, "other")
		id.ID, client.ClientHash, server.ServerHash = "sa_000001", hashOf("client", 1), hashOf("server", 1)
		for _, taken := range []account.Account{id, client, server} {
			is(t, "a taken id or token", account.ErrExists, s.CreateAccount(t.Context(), taken, many))
		}
		same(t, "the first account", newAccount(1, "org"), must[account.Account](t)(s.Account(t.Context(), "sa_000001")))
	})
}

// TestAccountLimit: revoked accounts do not count, and of many at the same time no more are made than may be.
func TestAccountLimit(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		revoked := newAccount(1000, "org")
		revoked.Status = account.StatusRevoked
		create(t, s, revoked, newAccount(1001, "other"))
		errs := together(12, func(i int) error { return s.CreateAccount(context.Background(), newAccount(i, "org"), 5) })
		if count(errs, nil) != 5 || count(errs, account.ErrLimit) != 7 {
			t.Errorf("of 12 accounts: %v", errs)
		}
		list := must[[]account.Account](t)(s.Accounts(t.Context(), "org", account.Page{Limit: 20}))
		must[account.Account](t)(s.DeleteAccount(t.Context(), list[len(list)-1].ID, nil))
		is(t, "after one was deleted", nil, s.CreateAccount(t.Context(), newAccount(2000, "org"), 5))
	})
}

func TestUpdateAccount(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		first := newAccount(4, "org")
		create(t, s, first)
		revision := s.Revision("org")
		for _, step := range []struct {
			status     account.Status
			generation uint64
		}{
			{account.StatusActive, 4}, {account.StatusSuspended, 5}, {account.StatusSuspended, 5}, {account.StatusActive, 5},
			{account.StatusRevoked, 6},
		} {
			was := must[account.Account](t)(s.Account(t.Context(), first.ID))
			want := was
			want.Description, want.Scopes, want.Status = was.Description+".", account.Scopes{account.ScopeTSS}, step.status
			want.Quotas, want.Restrictions = nil, account.Restrictions{}
			want.Generation = step.generation
			number := revision.Load()
			before, after, err := s.UpdateAccount(t.Context(), first.ID, func(a *account.Account) (bool, error) {
				id := *a
				*a = want
				a.ID, a.OrganizationID, a.ClientHash, a.Generation = "sa_other", "other", account.Hash{}, 99 // are kept
				a.CreatedAt, a.CreatedBy = id.CreatedAt.Add(1), "user:eve"
				return true, nil
			})
			is(t, "UpdateAccount", nil, err)
			same(t, "before", was, before)
			same(t, "after", want, after)
			same(t, "stored", want, must[account.Account](t)(s.Account(t.Context(), first.ID)))
			if revision.Load() == number {
				t.Error("the revision did not rise")
			}
		}
		refused := errors.New("refused")
		number := revision.Load()
		_, _, err := s.UpdateAccount(t.Context(), first.ID, func(a *account.Account) (bool, error) {
			a.Description = "changed"
			return true, refused
		})
		is(t, "a refused change", refused, err)
		_, _, err = s.UpdateAccount(t.Context(), first.ID, func(*account.Account) (bool, error) { return false, nil })
		is(t, "no change", nil, err)
		_, _, err = s.UpdateAccount(t.Context(), "sa_none", func(*account.Account) (bool, error) { return true, nil })
		is(t, "no account", account.ErrNotFound, err)
		if rose(s, revision, number) || s.Health().Write != nil {
			t.Errorf("the revision rose without a change, or the health is %v", s.Health())
		}
		errs := together(16, func(i int) error {
			_, _, err := s.UpdateAccount(context.Background(), first.ID, func(a *account.Account) (bool, error) {
				a.UpdatedAt = a.UpdatedAt.Add(time.Microsecond)
				return true, nil
			})
			return err
		})
		got := must[account.Account](t)(s.Account(t.Context(), first.ID))
		if count(errs, nil) != 16 || !got.UpdatedAt.Equal(first.UpdatedAt.Add(16*time.Microsecond)) {
			t.Errorf("16 changes at the same time: %v, %v", errs, got.UpdatedAt.Sub(first.UpdatedAt))
		}
	})
}

func TestDeleteAccount(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		a := newAccount(1, "org")
		create(t, s, a, newAccount(2, "org"))
		refused := errors.New("refused")
		_, err := s.DeleteAccount(t.Context(), a.ID, func(account.Account) error { return refused })
		is(t, "a refused deletion", refused, err)
		number := s.Revision("org").Load()
		same(t, "what was deleted", a, must[account.Account](t)(s.DeleteAccount(t.Context(), a.ID, nil)))
		if s.Revision("org").Load() == number {
			t.Error("the revision did not rise")
		}
		_, err = s.DeleteAccount(t.Context(), a.ID, nil)
		is(t, "again", account.ErrNotFound, err)
		_, err = s.AccountByToken(t.Context(), account.ClientToken, a.ClientHash)
		is(t, "its token", account.ErrNotFound, err)
		a.ID = "sa_000009" // its tokens are free again
		create(t, s, a)
	})
}

func TestListAccounts(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		var want []string
		for n := range 25 {
			a := newAccount(n, "org")
			if n%4 == 0 {
				a.Status = account.StatusSuspended
			}
			create(t, s, a)
			want = append(want, a.ID)
		}
		create(t, s, newAccount(100, "org2"), newAccount(101, "or"))
		slices.Reverse(want)
		list := func(status account.Status, limit int) (ids []string) {
			page := account.Page{Status: status, Limit: limit}
			for {
				found := must[[]account.Account](t)(s.Accounts(t.Context(), "org", page))
				for _, a := range found {
					ids = append(ids, a.ID)
				}
				if len(found) < limit {
					return ids
				}
				page.After = found[len(found)-1].ID
			}
		}
		for _, limit := range []int{1, 7, 25, 200} {
			same(t, fmt.Sprintf("pages of %d", limit), want, list("", limit))
		}
		suspended := slices.DeleteFunc(slices.Clone(want), func(id string) bool {
			var n int
			_, _ = fmt.Sscanf(id, "sa_%d", &n)
			return n%4 != 0
		})
		same(t, "suspended", suspended, list(account.StatusSuspended, 3))
		if got := must[[]account.Account](t)(s.Accounts(t.Context(), "none", account.Page{Limit: 5})); len(got) != 0 {
			t.Errorf("an organization without accounts has %v", got)
		}
	})
}

func TestOrganizationQuotas(t *testing.T) {
	each(t, func(t *testing.T, s *Store) {
		for _, want := range []account.Quotas{newAccount(1, "").Quotas, nil} {
			number := s.Revision("org").Load()
			is(t, "SetOrganizationQuotas", nil, s.SetOrganizationQuotas(t.Context(), "org", want))
			same(t, "quotas", want, must[account.Quotas](t)(s.OrganizationQuotas(t.Context(), "org")))
			if s.Revision("org").Load() == number {
				t.Error("the revision did not rise")
			}
		}
		same(t, "of another organization", nil, must[account.Quotas](t)(s.OrganizationQuotas(t.Context(), "other")))
	})
}

// TestCalls: calls whose context has ended, and calls after Close, change nothing and say so.
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
			t.Errorf("a question after Close: %v", err)
		}
	})
}
