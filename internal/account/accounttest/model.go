package accounttest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// testModel makes random calls, from few enough ids and tokens that they meet, and compares every answer with Memory's.
func testModel(t *testing.T, open func(t *testing.T) account.Store) {
	rapid.Check(t, func(rt *rapid.T) {
		p := &pairOfStores{store: open(t), model: NewMemory()}
		defer p.store.Close()
		rt.Repeat(map[string]func(*rapid.T){
			"create": p.create,
			"update": p.update,
			"delete": p.remove,
			"read":   p.read,
			"list":   p.list,
			"grant":  p.grant,
			"rotate": p.rotate,
			"end":    p.end,
			"sweep":  p.sweep,
			"key":    p.key,
			"quota":  p.quota,
		})
	})
}

type pairOfStores struct{ store, model account.Store }

var (
	drawNumber = rapid.IntRange(0, 7)
	drawOrg    = rapid.SampledFrom([]string{"org", "org\x00", "", "o"})
	drawStatus = rapid.SampledFrom([]account.Status{account.StatusActive, account.StatusSuspended, account.StatusRevoked})
	drawScopes = rapid.SliceOfNDistinct(rapid.SampledFrom(account.AllScopes[:]), -1, 4, rapid.ID)
	drawQuotas = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) account.Quota {
		return account.Quota{Scope: string(rapid.SampledFrom(account.AllScopes[:]).Draw(t, "scope")), Unit: account.UnitUnits,
			Window: account.WindowDay, Limit: rapid.Int64Range(0, account.MaxQuotaLimit).Draw(t, "limit")}
	}), 0, 3)
	drawTexts = rapid.SliceOfN(rapid.String(), 0, 3)
	drawParty = rapid.SampledFrom([]string{"a", "b"})
)

// both makes one call on each store and compares what it gave.
func both[T any](t *rapid.T, p *pairOfStores, what string, call func(account.Store) (T, error)) {
	want, wantErr := call(p.model)
	got, gotErr := call(p.store)
	if wantErr == nil != (gotErr == nil) || !errors.Is(gotErr, wantErr) {
		t.Fatalf("%s: error %v, the model says %v", what, gotErr, wantErr)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s differs from the model (-model +store):\n%s", what, diff)
	}
}

func (p *pairOfStores) create(t *rapid.T) {
	a := newAccount(drawNumber.Draw(t, "account"), drawOrg.Draw(t, "organization"))
	a.Status, a.Scopes = drawStatus.Draw(t, "status"), drawScopes.Draw(t, "scopes")
	a.ClientHash, a.ServerHash = hash("client", drawNumber.Draw(t, "client")), hash("server", drawNumber.Draw(t, "server"))
	a.Description = rapid.String().Draw(t, "description")
	both(t, p, "CreateAccount", func(s account.Store) (struct{}, error) {
		return struct{}{}, s.CreateAccount(context.Background(), a)
	})
}

var errRefused = errors.New("refused")

func (p *pairOfStores) update(t *rapid.T) {
	id := accountID(drawNumber.Draw(t, "account"))
	status, scopes := drawStatus.Draw(t, "status"), drawScopes.Draw(t, "scopes")
	quotas := drawQuotas.Draw(t, "quotas")
	restrictions := account.Restrictions{Origins: drawTexts.Draw(t, "origins"), Networks: drawTexts.Draw(t, "networks")}
	changed, refused := rapid.Bool().Draw(t, "changed"), rapid.IntRange(0, 4).Draw(t, "refused") == 0
	both(t, p, "UpdateAccount", func(s account.Store) ([2]account.Account, error) {
		before, after, err := s.UpdateAccount(context.Background(), id, func(a *account.Account) (bool, error) {
			before := *a
			if refused {
				a.Description = "spoilt"
				return true, errRefused
			}
			if changed {
				a.Status, a.Scopes, a.IsAdmin = status, scopes, !a.IsAdmin
				a.Quotas, a.Restrictions = quotas, restrictions
				a.Holds = a.Holds.ByPerson(&before, a, true, true)
			}
			return changed, nil
		})
		return [2]account.Account{before, after}, err
	})
}

func (p *pairOfStores) remove(t *rapid.T) {
	id, refused := accountID(drawNumber.Draw(t, "account")), rapid.Bool().Draw(t, "refused")
	both(t, p, "DeleteAccount", func(s account.Store) (account.Account, error) {
		return s.DeleteAccount(context.Background(), id, func(account.Account) error {
			if refused {
				return errRefused
			}
			return nil
		})
	})
}

func (p *pairOfStores) read(t *rapid.T) {
	n := drawNumber.Draw(t, "number")
	both(t, p, "Account", func(s account.Store) (account.Account, error) {
		return s.Account(context.Background(), accountID(n))
	})
	both(t, p, "AccountByToken", func(s account.Store) (account.Account, error) {
		return s.AccountByToken(context.Background(), account.ClientToken, hash("client", n))
	})
	both(t, p, "AccountByToken", func(s account.Store) (account.Account, error) {
		return s.AccountByToken(context.Background(), account.ServerToken, hash("server", n))
	})
	both(t, p, "Grant", func(s account.Store) (account.Grant, error) {
		return s.Grant(context.Background(), newGrant(n, "", "").ID)
	})
	both(t, p, "GrantByRefresh", func(s account.Store) (account.Grant, error) {
		return s.GrantByRefresh(context.Background(), hash("refresh", n))
	})
}

func (p *pairOfStores) list(t *rapid.T) {
	page := account.Page{Limit: rapid.IntRange(1, 5).Draw(t, "limit")}
	if rapid.Bool().Draw(t, "further") {
		page.After = accountID(drawNumber.Draw(t, "after"))
	}
	if rapid.Bool().Draw(t, "by status") {
		page.Status = drawStatus.Draw(t, "status")
	}
	organization := drawOrg.Draw(t, "organization")
	both(t, p, "Accounts", func(s account.Store) ([]account.Account, error) {
		return s.Accounts(context.Background(), organization, page)
	})
}

func (p *pairOfStores) grant(t *rapid.T) {
	g := newGrant(drawNumber.Draw(t, "grant"), drawParty.Draw(t, "client"), drawParty.Draw(t, "server"))
	g.RefreshHash = hash("refresh", drawNumber.Draw(t, "refresh"))
	g.CreatedAt = epoch.Add(time.Duration(drawNumber.Draw(t, "age")))
	g.ExpiresAt = epoch.Add(time.Duration(drawNumber.Draw(t, "life")))
	limit := rapid.IntRange(1, 4).Draw(t, "limit")
	both(t, p, "AddGrant", func(s account.Store) ([]string, error) { return s.AddGrant(context.Background(), g, limit) })
}

func (p *pairOfStores) rotate(t *rapid.T) {
	id := newGrant(drawNumber.Draw(t, "grant"), "", "").ID
	old, next := hash("refresh", drawNumber.Draw(t, "old")), hash("refresh", drawNumber.Draw(t, "next"))
	both(t, p, "RotateGrant", func(s account.Store) (struct{}, error) {
		return struct{}{}, s.RotateGrant(context.Background(), id, old, next)
	})
}

func (p *pairOfStores) end(t *rapid.T) {
	id := newGrant(drawNumber.Draw(t, "grant"), "", "").ID
	both(t, p, "EndGrant", func(s account.Store) (struct{}, error) {
		return struct{}{}, s.EndGrant(context.Background(), id)
	})
}

func (p *pairOfStores) sweep(t *rapid.T) {
	now := epoch.Add(time.Duration(drawNumber.Draw(t, "now")))
	both(t, p, "SweepGrants", func(s account.Store) (int, error) { return s.SweepGrants(context.Background(), now) })
}

func (p *pairOfStores) key(t *rapid.T) {
	k := newKey(rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "id"),
		rapid.SampledFrom([]account.KeyUse{account.KeyAccess, account.KeyUser}).Draw(t, "use"),
		rapid.SampledFrom([]string{"EdDSA", "ES256"}).Draw(t, "algorithm"), drawNumber.Draw(t, "age"))
	switch rapid.IntRange(0, 4).Draw(t, "what is done with the key") {
	case 0:
		both(t, p, "ReplaceKey", func(s account.Store) (struct{}, error) {
			return struct{}{}, s.ReplaceKey(context.Background(), k)
		})
	case 1:
		both(t, p, "AddFirstKey", func(s account.Store) (account.Key, error) {
			return s.AddFirstKey(context.Background(), k)
		})
	case 2:
		after := rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "after")
		both(t, p, "AddNextKey", func(s account.Store) (account.Key, error) {
			return s.AddNextKey(context.Background(), k, after)
		})
	case 3:
		both(t, p, "DeleteKey", func(s account.Store) (struct{}, error) {
			return struct{}{}, s.DeleteKey(context.Background(), k.ID)
		})
	case 4:
		old := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"x", "y", "z"}), rapid.ID).Draw(t, "old")
		both(t, p, "ReplaceKeys", func(s account.Store) ([]string, error) {
			removed, err := s.ReplaceKeys(context.Background(), old, []account.Key{k})
			slices.Sort(removed) // they come in any order
			return removed, err
		})
	}
	both(t, p, "Keys", func(s account.Store) ([]account.Key, error) { return s.Keys(context.Background()) })
}

func (p *pairOfStores) quota(t *rapid.T) {
	organization := drawOrg.Draw(t, "organization")
	if rapid.Bool().Draw(t, "set") {
		quotas, at := drawQuotas.Draw(t, "quotas"), epoch.Add(time.Duration(drawNumber.Draw(t, "at")))
		both(t, p, "SetOrganizationQuotas", func(s account.Store) (account.OrganizationQuotas, error) {
			return s.SetOrganizationQuotas(context.Background(), organization, quotas, at)
		})
	}
	both(t, p, "OrganizationQuotas", func(s account.Store) (account.OrganizationQuotas, error) {
		return s.OrganizationQuotas(context.Background(), organization)
	})
}
