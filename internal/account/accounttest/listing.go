package accounttest

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// pages lists an organization page by page.
func pages(t *testing.T, s account.Store, organization string, status account.Status, limit int) []string {
	t.Helper()
	all := []string{}
	page := account.Page{Status: status, Limit: limit}
	for {
		list, err := s.Accounts(t.Context(), organization, page)
		if err != nil {
			t.Fatalf("Accounts: %v", err)
		}
		if len(list) > limit {
			t.Fatalf("Accounts gave %d accounts, want at most %d", len(list), limit)
		}
		for _, a := range list {
			if a.OrganizationID != organization || status != "" && a.Status != status {
				t.Fatalf("Accounts(%q, %q) gave account %s of %q with status %s",
					organization, status, a.ID, a.OrganizationID, a.Status)
			}
		}
		all = append(all, ids(list)...)
		if len(list) < limit {
			return all
		}
		page.After = list[len(list)-1].ID
	}
}

func testList(t *testing.T, s account.Store) {
	var want []string
	for _, n := range []int{5, 1, 9, 3, 7} { // in whatever order they come
		create(t, s, newAccount(n, "org"))
	}
	for n := 9; n > 0; n -= 2 {
		want = append(want, accountID(n))
	}
	for limit := 1; limit < 7; limit++ {
		same(t, fmt.Sprintf("list by %d", limit), want, pages(t, s, "org", "", limit))
	}
	// A cursor need not exist: before the first, between, after the last.
	for after, want := range map[string][]string{accountID(99): want, accountID(6): want[2:], accountID(0): {}} {
		list, err := s.Accounts(t.Context(), "org", account.Page{After: after, Limit: 9})
		isError(t, "Accounts", nil, err)
		same(t, "list after "+after, want, ids(list))
	}
	same(t, "list of an organization without accounts", []string{}, pages(t, s, "none", "", 3))
	full, err := s.Accounts(t.Context(), "org", account.Page{Limit: 1})
	isError(t, "Accounts", nil, err)
	same(t, "listed account", []account.Account{newAccount(9, "org")}, full)
}

func testListByStatus(t *testing.T, s account.Store) {
	byStatus := map[account.Status][]string{}
	for n := range 12 {
		a := newAccount(n, "org")
		create(t, s, a)
		status := []account.Status{account.StatusActive, account.StatusSuspended, account.StatusRevoked}[n%3]
		_, _, err := s.UpdateAccount(t.Context(), a.ID, func(a *account.Account) (bool, error) {
			changed := a.Status != status
			a.Status = status
			return changed, nil
		})
		isError(t, "UpdateAccount", nil, err)
		byStatus[status] = append(byStatus[status], a.ID)
	}
	for status, want := range byStatus {
		same(t, string(status), reversed(want), pages(t, s, "org", status, 2))
	}
	// One account through every status; in each it stands in that list alone.
	wanderer := accountID(0)
	for _, status := range []account.Status{account.StatusSuspended, account.StatusActive, account.StatusRevoked} {
		_, _, err := s.UpdateAccount(t.Context(), wanderer, func(a *account.Account) (bool, error) {
			a.Status = status
			return true, nil
		})
		isError(t, "UpdateAccount", nil, err)
		for other := range byStatus {
			if got := slices.Contains(pages(t, s, "org", other, 3), wanderer); got != (other == status) {
				t.Errorf("an account that is %s: listed under %s is %v", status, other, got)
			}
		}
	}
	_, err := s.DeleteAccount(t.Context(), wanderer, nil)
	isError(t, "DeleteAccount", nil, err)
	if slices.Contains(pages(t, s, "org", account.StatusRevoked, 3), wanderer) {
		t.Error("a deleted account is listed under REVOKED")
	}
}

// testListOrganizations uses names that would run into each other if a store joined them with ids carelessly.
func testListOrganizations(t *testing.T, s account.Store) {
	names := []string{"a", "a\x00", "a\x00b", "ab", "", "a/", "a%", "A", "\xff", "\xff\xff", "\x01a", "aACTIVE", "ä"}
	for n, name := range names {
		create(t, s, newAccount(n, name), newAccount(100+n, name))
	}
	for n, name := range names {
		want := []string{accountID(100 + n), accountID(n)}
		same(t, fmt.Sprintf("list of %q", name), want, pages(t, s, name, "", 1))
		same(t, fmt.Sprintf("list of %q by status", name), want, pages(t, s, name, account.StatusActive, 1))
	}
}

// testListWhileWriting pages through an organization while newer accounts come and others go. Whatever stands all the
// time must be listed once, and nothing twice.
func testListWhileWriting(t *testing.T, s account.Store) {
	const standing, passing, rounds = 30, 60, 6
	var want []string
	for n := range standing {
		create(t, s, newAccount(3*n, "org"))
		want = append(want, accountID(3*n))
	}
	want = reversed(want)
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			// Between those that stand, above them, and away again.
			between, above := newAccount(3*(n%standing)+1, "org"), newAccount(1000+n, "org")
			if err := s.CreateAccount(t.Context(), between); err != nil {
				t.Errorf("CreateAccount: %v", err)
				return
			}
			if err := s.CreateAccount(t.Context(), above); err != nil {
				t.Errorf("CreateAccount: %v", err)
				return
			}
			gone := []string{between.ID}
			if n >= passing { // or there would be more of them with each page, where pages are read slowly
				gone = append(gone, accountID(1000+n-passing))
			}
			for _, id := range gone {
				if _, err := s.DeleteAccount(t.Context(), id, nil); err != nil {
					t.Errorf("DeleteAccount: %v", err)
					return
				}
			}
		}
	})
	for range rounds {
		got := pages(t, s, "org", "", 4)
		for i := 1; i < len(got); i++ {
			if got[i-1] <= got[i] {
				t.Errorf("list is out of order, or has an account twice: %s before %s", got[i-1], got[i])
			}
		}
		var kept []string
		for _, id := range got {
			if slices.Contains(want, id) {
				kept = append(kept, id)
			}
		}
		same(t, "accounts that stood all the time", want, kept)
	}
	close(stop)
	writer.Wait()
}
