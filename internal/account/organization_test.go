package account_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/account/accounttest"
)

// unsureStore makes changes of organizations without saying so, or cannot be asked.
type unsureStore struct {
	account.Store
	silent, away bool
	asked        int
}

var errLost = errors.New("connection lost")

func (s *unsureStore) SetOrganizationQuotas(ctx context.Context, name string, quotas []account.Quota,
	at time.Time) (account.OrganizationQuotas, error) {
	q, err := s.Store.SetOrganizationQuotas(ctx, name, quotas, at)
	if s.silent {
		return account.OrganizationQuotas{}, errLost
	}
	return q, err
}

func (s *unsureStore) OrganizationQuotas(ctx context.Context, name string) (account.OrganizationQuotas, error) {
	s.asked++
	if s.away {
		return account.OrganizationQuotas{}, errLost
	}
	return s.Store.OrganizationQuotas(ctx, name)
}

// TestOrganization: whoever holds the pointer finds each change at once; what may have changed is asked for again.
func TestOrganization(t *testing.T) {
	ctx := t.Context()
	store := &unsureStore{Store: accounttest.NewMemory()}
	l := account.NewLive(store)
	set := func(limit int64) (account.OrganizationQuotas, error) {
		return l.SetOrganizationQuotas(ctx, "org", []account.Quota{{
			Scope: account.EveryScope, Unit: account.UnitRequests, Window: account.WindowDay, Limit: limit,
		}}, time.Unix(1, 0))
	}
	get := func() *account.Organization {
		t.Helper()
		o, err := l.Organization(ctx, "org")
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	held := get()
	check := func(what string, limit int64) {
		t.Helper()
		if held.InDoubt() {
			t.Fatalf("%s: in doubt", what)
		}
		switch l := held.Limits(); {
		case limit == 0 && l != nil, limit != 0 && (l == nil || l.Quotas[0].Limit != limit):
			t.Errorf("%s: %+v, want a limit of %d", what, l, limit)
		}
	}
	check("none", 0)
	old, err := set(1)
	if err != nil {
		t.Fatal(err)
	}
	check("set", 1)
	if _, err := set(2); err != nil {
		t.Fatal(err)
	}
	l.OrganizationChanged(old) // a reader that was slow
	check("set again", 2)
	if get(); store.asked != 1 {
		t.Errorf("the store was asked %d times, want once", store.asked)
	}

	store.silent = true
	if _, err := set(3); !errors.Is(err, errLost) {
		t.Fatalf("error %v, want that of the store", err)
	}
	if !held.InDoubt() {
		t.Error("what may have changed is believed")
	}
	l.OrganizationChanged(old)
	store.away = true
	if _, err := l.Organization(ctx, "org"); !errors.Is(err, errLost) {
		t.Errorf("in doubt, and the store is away: error %v", err)
	}
	store.silent, store.away = false, false
	if get() != held {
		t.Error("the pointer is another one after a doubt")
	}
	check("asked for again", 3)

	l.ChangesMissed()
	if _, err := store.SetOrganizationQuotas(ctx, "org", nil, time.Unix(2, 0)); err != nil { // another process
		t.Fatal(err)
	}
	held = get()
	check("after changes were missed", 0)
}

// TestUnknownQuotas: quotas that a newer version may have written, or nobody, are not taken for none.
func TestUnknownQuotas(t *testing.T) {
	good := account.Quota{Scope: "TILE", Unit: account.UnitRequests, Window: account.WindowDay, Limit: 5}
	for name, spoil := range map[string]func(*account.Quota){
		"nothing":  func(*account.Quota) {},
		"scope":    func(q *account.Quota) { q.Scope = "SATELLITE" },
		"no scope": func(q *account.Quota) { q.Scope = "" },
		"unit":     func(q *account.Quota) { q.Unit = "bytes" },
		"window":   func(q *account.Quota) { q.Window = "week" },
		"limit":    func(q *account.Quota) { q.Limit = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			bad := good
			spoil(&bad)
			store := accounttest.NewMemory()
			l := account.NewLive(store)
			set := func(q account.Quota) (*account.Organization, *account.State) {
				t.Helper()
				if _, err := l.SetOrganizationQuotas(t.Context(), "org", []account.Quota{q}, time.Unix(1, 0)); err != nil {
					t.Fatal(err)
				}
				o, err := l.Organization(t.Context(), "org")
				if err != nil {
					t.Fatal(err)
				}
				return o, l.Observe(account.Account{ID: name + q.Scope, Status: account.StatusActive,
					Quotas: []account.Quota{q}}).State()
			}
			if o, state := set(bad); o.InDoubt() == (bad == good) || state.Active != (bad == good) {
				t.Errorf("%+v: in doubt %v, account active %v", bad, o.InDoubt(), state.Active)
			}
			good := good
			good.Limit++
			if o, _ := set(good); o.InDoubt() || o.Limits().Quotas[0] != good {
				t.Errorf("mended quotas: in doubt %v, limits %+v", o.InDoubt(), o.Limits())
			}
		})
	}
}

// TestUnknownRestrictions: restrictions that cannot be understood are not taken for none.
func TestUnknownRestrictions(t *testing.T) {
	for origin, active := range map[string]bool{"https://a.test": true, "https://a.test/*": false} {
		a := account.Account{ID: origin, Status: account.StatusActive}
		a.Restrictions.Origins = []string{origin}
		if state := account.NewLive(accounttest.NewMemory()).Observe(a).State(); state.Active != active {
			t.Errorf("%s: active %v", origin, state.Active)
		}
	}
}
