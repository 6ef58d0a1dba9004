package credential

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

func TestExchange(t *testing.T) {
	w := newWorld(t)
	backend := w.holder(t, "org", account.ScopeDirection, account.ScopeTile, account.ScopeMatrix)
	app := w.holder(t, "org", account.ScopeGeocoding, account.ScopeMatrix, account.ScopeDirection)
	w.update(t, app.ID, func(a *account.Account) { a.IsAdmin = true })
	for _, test := range []struct {
		name           string
		client, server holder
		want           Identity
	}{
		{"two accounts", app, backend, Identity{Client: app.ID, Server: backend.ID, Organization: "org",
			Scopes: account.ScopeDirection.Set() | account.ScopeMatrix.Set()}},
		{"one account", app, app, Identity{Client: app.ID, Server: app.ID, Organization: "org",
			Scopes: app.Scopes.Set(), Admin: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			tokens := w.exchange(t, test.client, test.server)
			want := Tokens{Access: tokens.Access, Refresh: tokens.Refresh, ExpiresIn: 15 * time.Minute, Grant: tokens.Grant,
				Client: test.want.Client, Server: test.want.Server, Organization: "org", Scopes: test.want.Scopes}
			if diff := cmp.Diff(want, tokens); diff != "" {
				t.Errorf("tokens (-want +got):\n%s", diff)
			}
			refresh, ok := parseOpaque(refreshPrefix, tokens.Refresh)
			if !ok {
				t.Fatalf("refresh token %q is malformed", tokens.Refresh)
			}
			grant := must(w.store.GrantByRefresh(t.Context(), refresh))
			wantGrant := account.Grant{ID: tokens.Grant,
				ClientAccount: test.client.ID, ServerAccount: test.server.ID, Organization: "org",
				Scopes: tokens.Scopes, CreatedAt: start, ExpiresAt: start.Add(30 * 24 * time.Hour)}
			if diff := cmp.Diff(wantGrant, grant); diff != "" {
				t.Errorf("grant (-want +got):\n%s", diff)
			}
			got := must(w.VerifyAccess(t.Context(), tokens.Access))
			test.want.Unix = start.Unix()
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("identity (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExchangeRefused(t *testing.T) {
	w := newWorld(t)
	app, backend := w.holder(t, "org", account.ScopeTile), w.holder(t, "org", account.ScopeTile)
	foreign, other := w.holder(t, "other", account.ScopeTile), w.holder(t, "org", account.ScopeONM)
	suspended, revoked := w.holder(t, "org", account.ScopeTile), w.holder(t, "org", account.ScopeTile)
	deleted := w.holder(t, "org", account.ScopeTile)
	w.become(t, suspended.ID, account.StatusSuspended)
	w.become(t, revoked.ID, account.StatusRevoked)
	if _, err := w.store.DeleteAccount(t.Context(), deleted.ID, nil); err != nil {
		t.Fatal(err)
	}
	unknownClient, unknownServer := newOpaque(clientPrefix), newOpaque(serverPrefix)
	for _, test := range []struct {
		name           string
		client, server string
		want           refusal
		lookups        int64
	}{
		{"empty", "", "", refusedMalformed, 0},
		{"client malformed", app.client[:50], backend.server, refusedMalformed, 0},
		{"server malformed", app.client, backend.server + "x", refusedMalformed, 0},
		{"swapped", backend.server, app.client, refusedMalformed, 0},
		{"two client tokens", app.client, backend.client, refusedMalformed, 0},
		{"client unknown", unknownClient, backend.server, refusedUnknown, 2},
		{"server unknown", app.client, unknownServer, refusedUnknown, 2},
		{"both unknown", unknownClient, unknownServer, refusedUnknown, 2},
		{"another organization", app.client, foreign.server, refusedOrganization, 2},
		{"client suspended", suspended.client, backend.server, refusedSuspended, 2},
		{"server suspended", app.client, suspended.server, refusedSuspended, 2},
		{"client revoked", revoked.client, backend.server, refusedRevoked, 2},
		{"server revoked", app.client, revoked.server, refusedRevoked, 2},
		{"client deleted", deleted.client, backend.server, refusedUnknown, 2},
		{"suspended and of another organization", suspended.client, foreign.server, refusedOrganization, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := w.store.reads.Load()
			tokens, err := w.Exchange(t.Context(), test.client, test.server)
			refused(t, "Exchange", err, test.want)
			if tokens.Access != "" || tokens.Refresh != "" {
				t.Error("a refused exchange gave tokens")
			}
			if n := w.store.reads.Load() - before; n != test.lookups {
				t.Errorf("%d tokens were looked up, want %d whatever was wrong", n, test.lookups)
			}
		})
	}
	_, err := w.Exchange(t.Context(), app.client, other.server)
	if !errors.Is(err, ErrNoScope) || errors.Is(err, ErrInvalid) {
		t.Errorf("no scope in common: error %v", err)
	}
	w.store.down.Store(true)
	_, err = w.Exchange(t.Context(), app.client, backend.server)
	isUnavailable(t, "Exchange without a store", err)
	_, err = w.Exchange(t.Context(), unknownClient, unknownServer)
	isUnavailable(t, "Exchange without a store", err)
}

// TestGrantLimit makes one exchange more than a pair of accounts may have grants.
func TestGrantLimit(t *testing.T) {
	const limit = 5
	w := newWorld(t, func(c *Config) { c.MaxGrants = limit })
	app, backend := w.holder(t, "org", account.ScopeTile), w.holder(t, "org", account.ScopeTile)
	other := w.exchange(t, app, backend)
	var all []Tokens
	for range limit {
		w.advance(time.Millisecond)
		tokens := w.exchange(t, app, app)
		w.cached(t, tokens.Access)
		if all = append(all, tokens); tokens.Ended != 0 {
			t.Errorf("within the limit, %d grants ended", tokens.Ended)
		}
	}
	w.accepted(t, "at the limit, the oldest grant", all[0].Access)
	w.advance(time.Millisecond)
	last := w.exchange(t, app, app)
	if last.Ended != 1 {
		t.Errorf("%d grants ended, want 1", last.Ended)
	}
	w.refusedAccess(t, "cached access token of the oldest grant", refusedGrant, all[0].Access)
	_, err := w.Refresh(t.Context(), all[0].Refresh, "", RefreshOptions{})
	refused(t, "refresh token of the oldest grant", err, refusedUnknown)
	w.accepted(t, "a grant within the limit", all[1].Access, last.Access, other.Access)
}

func TestRevoke(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	kept, ended, uncached := w.exchange(t, app, app), w.exchange(t, app, app), w.exchange(t, app, app)
	w.cached(t, ended.Access)
	w.cached(t, kept.Access)
	later := must(w.Refresh(t.Context(), ended.Refresh, "", RefreshOptions{}))
	for _, token := range []string{
		ended.Refresh, ended.Refresh, uncached.Refresh, newOpaque(refreshPrefix), "", "nonsense", app.client,
	} {
		if err := w.Revoke(t.Context(), token); err != nil {
			t.Errorf("Revoke: %v", err)
		}
	}
	w.refusedAccess(t, "access token of an ended grant", refusedGrant, ended.Access, later.Access, uncached.Access)
	_, err := w.Refresh(t.Context(), ended.Refresh, "", RefreshOptions{})
	refused(t, "refresh token of an ended grant", err, refusedUnknown)
	if _, err := w.VerifyAccess(t.Context(), kept.Access); err != nil {
		t.Errorf("another grant of the same accounts: %v", err)
	}
	// Long after, when the end may be forgotten, so must be the tokens.
	w.advance(15 * time.Minute)
	_, err = w.VerifyAccess(t.Context(), ended.Access)
	refused(t, "cached access token of an ended grant after it expired", err, refusedExpired)
	w.store.down.Store(true)
	isUnavailable(t, "Revoke without a store", w.Revoke(t.Context(), kept.Refresh))
}
