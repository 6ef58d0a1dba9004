package postgres

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/store/bolt"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// fullBolt is a bolt store with accounts, grants, replaced refresh tokens and keys, of texts and times that a
// database could bend.
func fullBolt(t *testing.T, accounts int) *bolt.Store {
	t.Helper()
	s, err := bolt.Open(filepath.Join(t.TempDir(), "accounts.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	at := time.Date(2026, 5, 1, 12, 0, 0, 123456789, time.UTC)
	var errs []error
	for i, use := range []account.KeyUse{account.KeyAccess, account.KeyUser} {
		_, err := s.AddFirstKey(t.Context(), account.Key{ID: "k" + string(use), Use: use, Algorithm: "EdDSA",
			Private: []byte{0, byte(i), 255}, Sealed: i == 1, CreatedAt: at})
		errs = append(errs, err)
	}
	for i := range accounts {
		id := fmt.Sprintf("sa_%04d", i)
		a := account.Account{ID: id, OrganizationID: "org\x00\\ü", Platform: account.PlatformIOS, IsAdmin: i%2 == 0,
			Description: "line\nnext \xff\x00", Status: account.StatusActive, CreatedBy: "user:x", ClientHint: "abcd",
			ServerHint: "wxyz",
			CreatedAt:  at.Add(time.Duration(i)), UpdatedAt: at.Add(time.Duration(i) * time.Hour), Version: 1,
			Holds: account.Holds{Suspended: i%4 == 1, Scopes: account.ScopeTSS.Set(), Dropped: account.ScopeONM.Set()}}
		if i%5 == 1 {
			a.Quotas = account.Quotas{dailyQuota}
			a.Restrictions.Origins = []string{"https://*.example.com"}
		}
		if i%3 > 0 {
			a.Scopes = account.Scopes{account.ScopeTile, account.ScopeDirection}
		}
		copy(a.ClientHash[:], "c"+id)
		copy(a.ServerHash[:], "s"+id)
		g := account.Grant{ID: "gr_" + id, ClientAccount: id, ServerAccount: id, ClientGeneration: 1,
			ServerGeneration: 1 << 40,
			Organization:     a.OrganizationID, Scopes: account.ScopeTile.Set(), CreatedAt: at, ExpiresAt: at.Add(time.Hour)}
		copy(g.RefreshHash[:], "r"+id)
		errs = append(errs, s.CreateAccount(t.Context(), a))
		_, err := s.AddGrant(t.Context(), g, 9)
		errs = append(errs, err)
		old := g.RefreshHash
		for n := range i % 5 {
			var next account.Hash
			copy(next[:], fmt.Sprint("n", n, id))
			errs = append(errs, s.RotateGrant(t.Context(), g.ID, old, next))
			old = next
		}
		if i%7 == 0 {
			_, _, err := s.UpdateAccount(t.Context(), id, func(a *account.Account) (bool, error) {
				a.Status = account.StatusSuspended
				return true, nil
			})
			errs = append(errs, err)
		}
	}
	_, err = s.SetOrganizationQuotas(t.Context(), "org\x00\\", []account.Quota{dailyQuota}, at)
	_, err2 := s.AddUsage(t.Context(), flushOf("node", 1, 2, 48*time.Hour, 7)) // of an organization and two accounts
	_, err3 := s.FoldUsage(t.Context(), afternoon.Add(-time.Hour), usage.DefaultRetention)
	_, err4 := s.AddUsage(t.Context(), flushOf("node", 2, 2, 0, 5))
	if err := errors.Join(append(errs, err, err2, err3, err4)...); err != nil {
		t.Fatal(err)
	}
	return s
}

// contents lists all that a store holds, by kind and id.
func contents(t *testing.T, s account.Exporter) (all []account.Record) {
	t.Helper()
	if err := s.Export(t.Context(), func(r account.Record) error {
		all = append(all, r)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestCopyFromBolt(t *testing.T) {
	source, dsn := fullBolt(t, 400), pgtest.DSN(t)
	s := open(t, dsn)
	seen := map[string]int64{}
	counts, err := account.Copy(t.Context(), source, s, func(stage string, done, total int64) {
		if done != seen[stage]+1 || total != 818 {
			t.Errorf("%s: %d of %d after %d", stage, done, total, seen[stage])
		}
		seen[stage] = done
	})
	if want := (account.Counts{Accounts: 400, Grants: 400, Keys: 2, Organizations: 1,
		Usage: 3 * (2*2 + 1)}); err != nil || counts != want {
		t.Fatalf("copied %v, error %v; want %v", counts, err, want)
	}
	if seen["copying"] != 818 || seen["comparing"] != 818 {
		t.Errorf("progress came to %v", seen)
	}
	again := open(t, dsn) // as a server would
	for _, r := range contents(t, source) {
		switch {
		case r.Account != nil:
			got, err := again.AccountByToken(t.Context(), account.ServerToken, r.Account.ServerHash)
			if diff := cmp.Diff(*r.Account, got); err != nil || diff != "" {
				t.Fatalf("account: error %v, difference %s", err, diff)
			}
		case r.Grant != nil:
			got, err := again.GrantByRefresh(t.Context(), r.Grant.RefreshHash)
			if diff := cmp.Diff(r.Grant.Grant, got); err != nil || diff != "" {
				t.Fatalf("grant: error %v, difference %s", err, diff)
			}
			for _, old := range r.Grant.Replaced {
				if _, err := again.GrantByRefresh(t.Context(), old.Hash); !errors.Is(err, account.ErrRotated) {
					t.Fatalf("a replaced token: error %v", err)
				}
			}
		}
	}
	if got := used(t, again); got != [3]int64{24, 24, 24} {
		t.Errorf("usage by hour, day and month is %v", got)
	}
	quotas, err := again.OrganizationQuotas(t.Context(), "org\x00\\")
	if err != nil || !slices.Equal(quotas.Quotas, []account.Quota{dailyQuota}) {
		t.Errorf("quotas of the organization: %v, error %v", quotas, err)
	}
	want, err := source.Keys(t.Context())
	got, err2 := again.Keys(t.Context())
	if diff := cmp.Diff(want, got); err != nil || err2 != nil || diff != "" {
		t.Errorf("keys: errors %v and %v, difference %s", err, err2, diff)
	}
	// A grant that was rotated goes on being rotated.
	var last *account.GrantRecord
	for _, r := range contents(t, source) {
		if r.Grant != nil {
			last = r.Grant
		}
	}
	if err := again.RotateGrant(t.Context(), last.ID, last.RefreshHash, account.Hash{1}); err != nil ||
		last.Rotations != 4 {
		t.Errorf("rotating for the fifth time, after %d: %v", last.Rotations, err)
	}
	_, err = account.Copy(t.Context(), source, again, func(string, int64, int64) {})
	if !errors.Is(err, account.ErrNotEmpty) {
		t.Errorf("copying again: error %v", err)
	}
}

// changing is a source that is not the same each time it is read, or that breaks off.
type changing struct {
	account.Exporter
	reads  int
	change func(r *account.Record) error
}

func (c *changing) Export(ctx context.Context, each func(account.Record) error) error {
	c.reads++
	return c.Exporter.Export(ctx, func(r account.Record) error {
		if c.reads == 2 {
			if err := c.change(&r); err != nil {
				return err
			}
		}
		return each(r)
	})
}

// A copy that is not the same as its source, or not whole, is not kept.
func TestCopyIsAllOrNothing(t *testing.T) {
	source, s := fullBolt(t, 20), open(t, pgtest.DSN(t))
	broke := errors.New("the disk broke")
	for want, change := range map[string]func(*account.Record) error{
		"another content": func(r *account.Record) error {
			if r.Account != nil && r.Account.ID == "sa_0007" {
				r.Account.Generation++
			}
			return nil
		},
		"has another cont": func(r *account.Record) error {
			if r.Grant != nil && len(r.Grant.Replaced) > 1 {
				r.Grant.Replaced = slices.Clone(r.Grant.Replaced)[1:]
			}
			return nil
		},
		"the disk broke": func(r *account.Record) error {
			if r.Grant != nil && r.Grant.ID == "gr_sa_0019" {
				return broke
			}
			return nil
		},
		"already exists": func(r *account.Record) error {
			if r.Account != nil {
				r.Account.ClientHash = account.Hash{}
			}
			return nil
		},
	} {
		_, err := account.Copy(t.Context(), &changing{Exporter: source, change: change}, s, func(string, int64, int64) {})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := account.Copy(ctx, source, s, func(stage string, done, _ int64) {
		if stage == "comparing" && done == 30 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: error %v", err)
	}
	if _, err := account.Copy(t.Context(), source, s, func(string, int64, int64) {}); err != nil {
		t.Errorf("after all that: %v", err)
	}
}
