package credential

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mapsedge/caddy-maps/internal/account"
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
			grant, err := w.live.GrantByRefresh(t.Context(), refresh)
			if err != nil {
				t.Fatal(err)
			}
			wantGrant := account.Grant{ID: tokens.Grant, RefreshHash: refresh,
				ClientAccount: test.client.ID, ServerAccount: test.server.ID, Organization: "org",
				Scopes: tokens.Scopes, CreatedAt: start, ExpiresAt: start.Add(30 * 24 * time.Hour)}
			if diff := cmp.Diff(wantGrant, grant); diff != "" {
				t.Errorf("grant (-want +got):\n%s", diff)
			}
			got, err := w.VerifyAccess(t.Context(), tokens.Access)
			if err != nil {
				t.Fatal(err)
			}
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
	if _, err := w.live.DeleteAccount(t.Context(), deleted.ID, nil); err != nil {
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
			before := w.store.byToken.Load()
			tokens, err := w.Exchange(t.Context(), test.client, test.server)
			refused(t, "Exchange", err, test.want)
			if tokens.Access != "" || tokens.Refresh != "" {
				t.Error("a refused exchange gave tokens")
			}
			if n := w.store.byToken.Load() - before; n != test.lookups {
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
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	first := w.exchange(t, app, app)
	w.cached(t, first.Access)
	w.advance(time.Second)
	second := w.exchange(t, app, app)
	for range maxGrants - 2 {
		w.advance(time.Millisecond)
		w.exchange(t, app, app)
	}
	if _, err := w.VerifyAccess(t.Context(), first.Access); err != nil {
		t.Fatalf("at the limit, the oldest grant is gone: %v", err)
	}
	last := w.exchange(t, app, app)
	_, err := w.VerifyAccess(t.Context(), first.Access)
	refused(t, "cached access token of the oldest grant", err, refusedGrant)
	_, err = w.Refresh(t.Context(), first.Refresh, "", RefreshOptions{})
	refused(t, "refresh token of the oldest grant", err, refusedUnknown)
	for _, tokens := range []Tokens{second, last} {
		if _, err := w.VerifyAccess(t.Context(), tokens.Access); err != nil {
			t.Errorf("a grant within the limit: %v", err)
		}
	}
}

func TestRevoke(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	kept, ended, uncached := w.exchange(t, app, app), w.exchange(t, app, app), w.exchange(t, app, app)
	w.cached(t, ended.Access)
	w.cached(t, kept.Access)
	later, err := w.Refresh(t.Context(), ended.Refresh, "", RefreshOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{
		ended.Refresh, ended.Refresh, uncached.Refresh, newOpaque(refreshPrefix), "", "nonsense", app.client,
	} {
		if err := w.Revoke(t.Context(), token); err != nil {
			t.Errorf("Revoke: %v", err)
		}
	}
	for _, token := range []string{ended.Access, later.Access, uncached.Access} {
		_, err := w.VerifyAccess(t.Context(), token)
		refused(t, "access token of an ended grant", err, refusedGrant)
	}
	_, err = w.Refresh(t.Context(), ended.Refresh, "", RefreshOptions{})
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

// A server that was configured for longer tokens has left some, and a grant of theirs ends: nobody forgets that while
// they live, whatever the life of new tokens is.
func TestEndOfLongerTokens(t *testing.T) {
	before := newWorld(t, func(c *Config) { c.AccessTTL = 24 * time.Hour })
	app := before.holder(t, "org", account.ScopeTile)
	tokens := before.exchange(t, app, app)
	cfg := before.cfg
	cfg.AccessTTL = time.Minute
	live := account.NewLive(before.store)
	after := newAuthority(t, cfg, live)
	if _, err := after.VerifyAccess(t.Context(), tokens.Access); err != nil {
		t.Fatal(err)
	}
	after.cache.tokens.Wait() // it is in the cache now
	if err := after.Revoke(t.Context(), tokens.Refresh); err != nil {
		t.Fatal(err)
	}
	before.advance(23 * time.Hour)
	if _, err := live.SweepGrants(t.Context(), time.Now().Add(23*time.Hour)); err != nil {
		t.Fatal(err)
	}
	_, err := after.VerifyAccess(t.Context(), tokens.Access)
	refused(t, "a token of an ended grant, with an hour to live", err, refusedGrant)
}
