// Package accounttest holds the tests that every account.Store passes, and the plainest store that does (Memory).
package accounttest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// Run tests a kind of store. open returns a new, empty one each time, and closes it when the test ends, unless it is
// closed by then: Close is called twice.
func Run(t *testing.T, open func(t *testing.T) account.Store) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, account.Store)
	}{
		{"accounts/create and read", testCreate},
		{"accounts/taken ids and tokens", testTaken},
		{"accounts/update", testUpdate},
		{"accounts/update refused", testUpdateRefused},
		{"accounts/update by many", testUpdateByMany},
		{"accounts/delete", testDelete},
		{"accounts/copies", testCopies},
		{"accounts/list", testList},
		{"accounts/list by status", testListByStatus},
		{"accounts/list keeps organizations apart", testListOrganizations},
		{"accounts/list while others write", testListWhileWriting},
		{"organizations/quotas", testOrganizationQuotas},
		{"organizations/quotas by many", testOrganizationQuotasByMany},
		{"grants/add and read", testGrant},
		{"grants/limit", testGrantLimit},
		{"grants/limit by many", testGrantLimitByMany},
		{"grants/rotate", testRotate},
		{"grants/rotate by many", testRotateByMany},
		{"grants/rotate often", testRotateOften},
		{"grants/end", testEnd},
		{"grants/sweep", testSweep},
		{"keys", testKeys},
		{"keys by many", testKeysByMany},
		{"next keys", testNextKeys},
		{"next keys by many", testNextKeysByMany},
		{"replace keys", testReplaceKeys},
		{"replace keys by many", testReplaceKeysByMany},
		{"probe", testProbe},
		{"context ended", testContext},
		{"closed", testClosed},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
	t.Run("like the model", func(t *testing.T) { testModel(t, open) })
}

// epoch is a moment with nanoseconds, since stores must keep them.
var epoch = time.Date(2026, 3, 1, 10, 20, 30, 123456789, time.UTC)

// accountID makes ids that sort by their number.
func accountID(n int) string               { return fmt.Sprintf("sa_%06d", n) }
func hash(kind string, n int) account.Hash { return sha256.Sum256(fmt.Appendf(nil, "%s %d", kind, n)) }

// newAccount is an account with every field set.
func newAccount(n int, organization string) account.Account {
	return account.Account{
		ID: accountID(n), OrganizationID: organization, Platform: account.PlatformIOS, IsAdmin: n%2 == 1,
		Description: fmt.Sprintf("account %d, ünïcode\x00 and \n all", n),
		Scopes:      account.Scopes{account.ScopeReverseGeocoding, account.ScopeDirection}, Status: account.StatusActive,
		CreatedBy: "user:somebody", ClientHint: "abcd", ServerHint: "wxyz",
		CreatedAt: epoch.Add(time.Duration(n) * time.Second), UpdatedAt: epoch.Add(time.Duration(n) * time.Minute),
		ClientHash: hash("client", n), ServerHash: hash("server", n), Generation: uint64(n), Version: 1,
		Holds: account.Holds{Suspended: n%3 == 0, Scopes: account.ScopeTile.Set() | account.ScopeMatrix.Set(),
			Dropped: account.ScopeONM.Set()},
		Quotas: newQuotas(int64(n)),
		Restrictions: account.Restrictions{Origins: []string{"https://*.example.com", "http://localhost:8080"},
			Networks: []string{"203.0.113.0/24", fmt.Sprintf("2001:db8::%d", n)}},
	}
}

func newGrant(n int, client, server string) account.Grant {
	return account.Grant{
		ID: fmt.Sprintf("gr_%06d", n), RefreshHash: hash("refresh", n), ClientAccount: client, ServerAccount: server,
		ClientGeneration: 3, ServerGeneration: 1 << 40, Organization: "org",
		Scopes:    account.ScopeTile.Set() | account.ScopeDirection.Set(),
		CreatedAt: epoch.Add(time.Duration(n) * time.Second), ExpiresAt: epoch.Add(time.Duration(n) * time.Hour),
	}
}

func create(t *testing.T, s account.Store, list ...account.Account) {
	t.Helper()
	for _, a := range list {
		if err := s.CreateAccount(t.Context(), a); err != nil {
			t.Fatalf("CreateAccount(%s): %v", a.ID, err)
		}
	}
}

func add(t *testing.T, s account.Store, limit int, g account.Grant) []string {
	t.Helper()
	ended, err := s.AddGrant(t.Context(), g, limit)
	if err != nil {
		t.Fatalf("AddGrant(%s): %v", g.ID, err)
	}
	return ended
}

func same[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

func isError(t *testing.T, what string, want, got error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: error %v, want %v", what, got, want)
	}
}

// testProbe makes sure that nothing is left of a probe, and that several may be made at once.
func testProbe(t *testing.T, s account.Store) {
	create(t, s, newAccount(1, "org"))
	add(t, s, 5, newGrant(1, accountID(1), accountID(1)))
	before := exported(t, s)
	var probes sync.WaitGroup
	for range 4 {
		probes.Go(func() {
			for range 3 {
				if err := s.Probe(t.Context()); err != nil {
					t.Errorf("Probe: %v", err)
				}
			}
		})
	}
	probes.Wait()
	same(t, "the contents after probes", before, exported(t, s))
}

// exported lists what a store holds.
func exported(t *testing.T, s account.Store) []account.Record {
	t.Helper()
	exporter, ok := s.(account.Exporter)
	if !ok {
		return nil
	}
	var list []account.Record
	if err := exporter.Export(t.Context(), func(r account.Record) error {
		list = append(list, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return list
}

func testContext(t *testing.T, s account.Store) {
	create(t, s, newAccount(1, "org"))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	before, _ := s.Account(t.Context(), accountID(1))
	_, _, err := s.UpdateAccount(ended, accountID(1), func(a *account.Account) (bool, error) {
		a.Description = "changed"
		return true, nil
	})
	if !account.IsUnavailable(err) {
		t.Errorf("UpdateAccount under an ended context: error %v, want one that says unavailable", err)
	}
	if _, err := s.Account(ended, accountID(1)); !account.IsUnavailable(err) {
		t.Errorf("Account under an ended context: error %v, want one that says unavailable", err)
	}
	after, err := s.Account(t.Context(), accountID(1))
	isError(t, "Account", nil, err)
	same(t, "account after a change that was given up before it began", before, after)
}

func testClosed(t *testing.T, s account.Store) {
	create(t, s, newAccount(1, "org"))
	if err := s.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	_, readErr := s.Account(t.Context(), accountID(1))
	writeErr := s.CreateAccount(t.Context(), newAccount(2, "org"))
	_, askErr := s.OrganizationQuotas(t.Context(), "org")
	_, setErr := s.SetOrganizationQuotas(t.Context(), "org", newQuotas(1), epoch)
	probeErr := s.Probe(t.Context())
	for _, err := range []error{readErr, writeErr, askErr, setErr, probeErr} {
		if !account.IsUnavailable(err) {
			t.Errorf("a closed store: error %v, want one that says unavailable", err)
		}
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close, again: %v", err)
	}
}
