package accounttest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/account"
)

func testCreate(t *testing.T, s account.Store) {
	bare := account.Account{ID: "sa_bare", OrganizationID: "o", Status: account.StatusSuspended, ClientHash: hash("c", 1),
		ServerHash: hash("s", 1)}
	for _, want := range []account.Account{newAccount(1, "org"), newAccount(2, strings.Repeat("ö", 100)), bare} {
		create(t, s, want)
		got, err := s.Account(t.Context(), want.ID)
		isError(t, "Account", nil, err)
		same(t, "account", want, got)
		got, err = s.AccountByToken(t.Context(), account.ClientToken, want.ClientHash)
		isError(t, "AccountByToken, client", nil, err)
		same(t, "account by client token", want, got)
		got, err = s.AccountByToken(t.Context(), account.ServerToken, want.ServerHash)
		isError(t, "AccountByToken, server", nil, err)
		same(t, "account by server token", want, got)
		_, err = s.AccountByToken(t.Context(), account.ClientToken, want.ServerHash)
		isError(t, "AccountByToken, server token as client token", account.ErrNotFound, err)
		_, err = s.AccountByToken(t.Context(), account.ServerToken, want.ClientHash)
		isError(t, "AccountByToken, client token as server token", account.ErrNotFound, err)
	}
	for _, id := range []string{"", "sa_", "sa_000001 ", "SA_000001"} {
		_, err := s.Account(t.Context(), id)
		isError(t, fmt.Sprintf("Account(%q)", id), account.ErrNotFound, err)
	}
}

func testTaken(t *testing.T, s account.Store) {
	first := newAccount(1, "org")
	create(t, s, first)
	id, client, server := newAccount(2, "org"), newAccount(3, "org"), newAccount(4, "other")
	id.ID, client.ClientHash, server.ServerHash = first.ID, first.ClientHash, first.ServerHash
	for _, a := range []account.Account{id, client, server} {
		isError(t, "CreateAccount with what is taken", account.ErrExists, s.CreateAccount(t.Context(), a))
	}
	got, err := s.Account(t.Context(), first.ID)
	isError(t, "Account", nil, err)
	same(t, "the account that was there first", first, got)
	_, err = s.Account(t.Context(), client.ID)
	isError(t, "Account of a refused one", account.ErrNotFound, err)
	_, err = s.AccountByToken(t.Context(), account.ServerToken, client.ServerHash)
	isError(t, "AccountByToken of a refused one", account.ErrNotFound, err)

	// Of many who want the same id, one gets it.
	results := Together(8, func(i int) error {
		a := newAccount(100+i, "org")
		a.ID = "sa_wanted"
		return s.CreateAccount(t.Context(), a)
	})
	exactlyOne(t, "CreateAccount with one id", results, account.ErrExists)
}

func testUpdate(t *testing.T, s account.Store) {
	first := newAccount(4, "org")
	create(t, s, first)
	for _, step := range []struct {
		status     account.Status
		generation uint64
	}{
		{account.StatusActive, 4}, {account.StatusSuspended, 5}, {account.StatusSuspended, 5}, {account.StatusActive, 5},
		{account.StatusRevoked, 6}, {account.StatusRevoked, 6},
	} {
		was, err := s.Account(t.Context(), first.ID)
		isError(t, "Account", nil, err)
		want := was
		want.Platform, want.IsAdmin, want.Description = account.PlatformWeb, !was.IsAdmin, was.Description+"."
		want.Scopes, want.Status, want.UpdatedAt = account.Scopes{account.ScopeTSS}, step.status, was.UpdatedAt.Add(1)
		want.Quotas = append(want.Quotas[:1:1], account.Quota{Scope: string(account.ScopeONM), Unit: account.UnitRequests,
			Window: account.WindowDay, Limit: int64(step.generation)})
		want.Restrictions.Origins, want.Restrictions.Networks = nil, []string{"::ffff:192.0.2.1"}
		before, after, err := s.UpdateAccount(t.Context(), first.ID, func(a *account.Account) (bool, error) {
			*a = want
			// None of these is an owner's to change.
			a.ID, a.OrganizationID, a.CreatedBy, a.ClientHash = "sa_other", "other", "nobody", hash("other", 0)
			a.Version, a.Generation = 77, 77
			return true, nil
		})
		isError(t, "UpdateAccount", nil, err)
		want.Version, want.Generation = was.Version+1, step.generation
		same(t, "account before", was, before)
		same(t, "account after", want, after)
		got, err := s.Account(t.Context(), first.ID)
		isError(t, "Account", nil, err)
		same(t, "account as read", want, got)
		got, err = s.AccountByToken(t.Context(), account.ClientToken, first.ClientHash)
		isError(t, "AccountByToken", nil, err)
		same(t, "account by token", want, got)
	}
	_, _, err := s.UpdateAccount(t.Context(), "sa_none", func(*account.Account) (bool, error) { return true, nil })
	isError(t, "UpdateAccount of none", account.ErrNotFound, err)
}

func testUpdateRefused(t *testing.T, s account.Store) {
	want := newAccount(1, "org")
	create(t, s, want)
	mine := errors.New("mine")
	for _, result := range []struct {
		changed bool
		err     error
	}{{false, nil}, {false, mine}, {true, mine}} {
		_, after, err := s.UpdateAccount(t.Context(), want.ID, func(a *account.Account) (bool, error) {
			spoil(a)
			return result.changed, result.err
		})
		isError(t, "UpdateAccount", result.err, err)
		if err == nil {
			same(t, "account after no change", want, after)
		}
		got, err := s.Account(t.Context(), want.ID)
		isError(t, "Account", nil, err)
		same(t, "account as read", want, got)
	}
}

// testUpdateByMany counts in an account's description: an update that is lost is missing in the sum. Between them,
// changes that are refused, which must not spoil the others.
func testUpdateByMany(t *testing.T, s account.Store) {
	const workers, each = 8, 20
	first := newAccount(1, "org")
	first.Description = "0"
	create(t, s, first)
	mine := errors.New("mine")
	results := Together(workers, func(i int) error {
		for range each {
			_, _, err := s.UpdateAccount(t.Context(), first.ID, func(a *account.Account) (bool, error) {
				n, err := strconv.Atoi(a.Description)
				a.Description = strconv.Itoa(n + 1)
				return true, err
			})
			if err != nil {
				return err
			}
			if _, _, err = s.UpdateAccount(t.Context(), first.ID, func(a *account.Account) (bool, error) {
				return true, mine
			}); err != mine {
				return fmt.Errorf("a refused change: error %w", err)
			}
		}
		return nil
	})
	isError(t, "UpdateAccount", nil, errors.Join(results...))
	got, err := s.Account(t.Context(), first.ID)
	isError(t, "Account", nil, err)
	same(t, "sum", strconv.Itoa(workers*each), got.Description)
	same(t, "version", 1+workers*each, got.Version)
}

func testDelete(t *testing.T, s account.Store) {
	first, second := newAccount(1, "org"), newAccount(2, "org")
	create(t, s, first, second)
	mine := errors.New("mine")
	_, err := s.DeleteAccount(t.Context(), first.ID, func(account.Account) error { return mine })
	isError(t, "DeleteAccount, not allowed", mine, err)
	was, err := s.DeleteAccount(t.Context(), first.ID, func(a account.Account) error {
		same(t, "account in check", first, a)
		return nil
	})
	isError(t, "DeleteAccount", nil, err)
	same(t, "deleted account", first, was)
	_, err = s.DeleteAccount(t.Context(), first.ID, nil)
	isError(t, "DeleteAccount, again", account.ErrNotFound, err)
	_, err = s.Account(t.Context(), first.ID)
	isError(t, "Account of a deleted one", account.ErrNotFound, err)
	_, err = s.AccountByToken(t.Context(), account.ClientToken, first.ClientHash)
	isError(t, "AccountByToken of a deleted one", account.ErrNotFound, err)
	_, err = s.AccountByToken(t.Context(), account.ServerToken, first.ServerHash)
	isError(t, "AccountByToken of a deleted one", account.ErrNotFound, err)
	list, err := s.Accounts(t.Context(), "org", account.Page{Limit: 10})
	isError(t, "Accounts", nil, err)
	same(t, "what is left", []account.Account{second}, list)
	results := Together(6, func(int) error {
		_, err := s.DeleteAccount(t.Context(), second.ID, nil)
		return err
	})
	exactlyOne(t, "DeleteAccount of one", results, account.ErrNotFound)
}

// spoil changes an account, and all that it shares with copies of it.
func spoil(a *account.Account) {
	a.Description, a.Scopes[0], a.Quotas[0].Limit = "spoilt", account.ScopeONM, 1
	a.Restrictions.Origins[0], a.Restrictions.Networks[0] = "spoilt", "spoilt"
}

// testCopies makes sure that callers and store share no memory.
func testCopies(t *testing.T, s account.Store) {
	given := newAccount(1, "org")
	create(t, s, given)
	want := newAccount(1, "org")
	spoil(&given)
	got, err := s.Account(t.Context(), want.ID)
	isError(t, "Account", nil, err)
	same(t, "account after the caller changed its own", want, got)
	spoil(&got)
	again, err := s.Account(t.Context(), want.ID)
	isError(t, "Account", nil, err)
	same(t, "account after the caller changed what it got", want, again)
}

// Together runs a function in n goroutines at once, and returns what each of them returned.
func Together(n int, run func(i int) error) []error {
	results := make([]error, n)
	var start, done sync.WaitGroup
	start.Add(n)
	for i := range n {
		done.Go(func() {
			start.Done()
			start.Wait()
			results[i] = run(i)
		})
	}
	done.Wait()
	return results
}

func exactlyOne(t *testing.T, what string, results []error, others error) {
	t.Helper()
	won := 0
	for _, err := range results {
		if err == nil {
			won++
		} else {
			isError(t, what, others, err)
		}
	}
	if won != 1 {
		t.Errorf("%s: %d calls succeeded, want 1", what, won)
	}
}

func ids(list []account.Account) []string {
	all := []string{}
	for _, a := range list {
		all = append(all, a.ID)
	}
	return all
}

func reversed(list []string) []string {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}
