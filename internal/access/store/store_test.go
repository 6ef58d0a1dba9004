package store

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// each runs a test on an empty store of each kind.
func each(t *testing.T, test func(t *testing.T, s *Store)) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, openSQLite(t, filepath.Join(t.TempDir(), "accounts.db")))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, openPostgres(t, pgtest.DSN(t)))
	})
}

func openSQLite(t testing.TB, path string) *Store {
	t.Helper()
	return opened(t, must(OpenSQLite(path, testLog(t))))
}

func openPostgres(t testing.TB, dsn string) *Store {
	t.Helper()
	return opened(t, must(OpenPostgres(t.Context(), must(ParseDSN(dsn, "")), testLog(t))))
}

// beside opens the database of a store once more, as another server does.
func beside(t testing.TB, s *Store) *Store {
	t.Helper()
	return opened(t, must(OpenPostgres(t.Context(), s.db.(*postgres).pool.Config(), testLog(t))))
}

func opened(t testing.TB, s *Store) *Store {
	t.Cleanup(func() { is(t, "Close", nil, s.Close()) })
	return s
}

func testLog(t testing.TB) *zap.Logger { return zaptest.NewLogger(t, zaptest.Level(zap.ErrorLevel)) }

var start = time.Date(2026, 3, 1, 10, 20, 30, 123456000, time.UTC)

const many = 1 << 30

func hashOf(kind string, n int) account.Hash {
	return sha256.Sum256(fmt.Appendf(nil, "%s %d", kind, n))
}

// newAccount is an account with every field set.
func newAccount(n int, organization string) account.Account {
	return account.Account{
		ID: fmt.Sprintf("sa_%06d", n), OrganizationID: organization, Platform: account.PlatformIOS, IsAdmin: n%2 == 1,
		Description: fmt.Sprintf("account %d, ünïcode 🗺 and \n 'all'", n),
		Scopes:      account.Scopes{account.ScopeReverseGeocoding, "GONE", account.ScopeDirection}, Status: account.StatusActive,
		CreatedBy: "user:ann", ClientHint: "abcd", ServerHint: "wxyz",
		CreatedAt: start.Add(time.Duration(n) * time.Second), UpdatedAt: start.Add(time.Duration(n) * time.Minute),
		ClientHash: hashOf("client", n), ServerHash: hashOf("server", n), Generation: uint64(n),
		Holds: account.Holds{Suspended: n%3 == 0, Scopes: account.Scopes{account.ScopeTile, "GONE"},
			Dropped: account.Scopes{account.ScopeONM}},
		Quotas: account.Quotas{{Scope: "TILE", Unit: account.UnitUnits, Window: account.WindowMonth, Limit: account.MaxQuotaLimit}},
		Restrictions: account.Restrictions{Origins: []string{"https://*.example.com"},
			Networks: []string{"203.0.113.0/24", fmt.Sprintf("2001:db8::%d", n)}},
	}
}

func newGrant(n int, client, server string) account.Grant {
	now := time.Now().UTC().Truncate(time.Microsecond)
	return account.Grant{
		ID: fmt.Sprintf("gr_%06d", n), Organization: "org", ClientAccount: client, ServerAccount: server,
		ClientGeneration: 3, ServerGeneration: 1 << 40, Scopes: account.ScopeTile.Set() | account.ScopeDirection.Set(),
		CreatedAt: now, ExpiresAt: now.Add(time.Hour),
	}
}

func newKey(id string, use account.KeyUse, at int) account.Key {
	return account.Key{ID: id, Use: use, Algorithm: "EdDSA", Private: []byte{0, 255, byte(at)}, Sealed: at%2 == 0,
		CreatedAt: start.Add(time.Duration(at) * time.Second)}
}

func same[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", what, diff)
	}
}

// is checks an error; nil is for none.
func is(t testing.TB, what string, want, got error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: error %v, want %v", what, got, want)
	}
}

// must returns a value that comes without an error.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func create(t testing.TB, s *Store, accounts ...account.Account) {
	t.Helper()
	for _, a := range accounts {
		is(t, "CreateAccount", nil, s.CreateAccount(t.Context(), a, many))
	}
}

// together calls a function n times at the same moment, and returns the errors.
func together(n int, call func(i int) error) []error {
	errs, begin := make([]error, n), make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-begin
			errs[i] = call(i)
		})
	}
	close(begin)
	all.Wait()
	return errs
}

// count returns how many of the errors match; nil for none.
func count(errs []error, want error) (n int) {
	for _, err := range errs {
		if errors.Is(err, want) {
			n++
		}
	}
	return n
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 20 s", what)
		}
	}
}

// run executes a statement on the tables behind the store's back.
func run(t testing.TB, s *Store, sql string, args ...any) {
	t.Helper()
	is(t, sql, nil, s.db.write(context.Background(), func(t *tx) error {
		_, err := t.exec(sql, args...)
		return err
	}))
}
