package credential

import (
	"errors"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

func TestRefresh(t *testing.T) {
	w := newWorld(t)
	app, backend := w.holder(t, "org", account.ScopeTile, account.ScopeONM), w.holder(t, "org", account.ScopeTile, account.ScopeONM)
	tokens := w.exchange(t, app, backend)
	w.advance(time.Hour)
	_, err := w.VerifyAccess(t.Context(), tokens.Access)
	refused(t, "access token of an hour ago", err, refusedExpired)
	for range 3 { // a refresh token that does not rotate stays good
		got, err := w.Refresh(t.Context(), tokens.Refresh, "", RefreshOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got.Refresh != "" || got.ExpiresIn != 15*time.Minute || got.Grant != tokens.Grant || got.Client != app.ID || got.Server != backend.ID {
			t.Errorf("a refresh gave %+v", got)
		}
		id, err := w.VerifyAccess(t.Context(), got.Access)
		if err != nil || id.Scopes != tokens.Scopes {
			t.Errorf("refreshed token: scopes %v, error %v", id.Scopes, err)
		}
	}
	// Scopes: what was lost is lost, what was won since the exchange is not given.
	w.update(t, app.ID, func(a *account.Account) { a.Scopes = account.Scopes{account.ScopeONM, account.ScopeTSS} })
	w.update(t, backend.ID, func(a *account.Account) {
		a.Scopes = account.Scopes{account.ScopeONM, account.ScopeTSS, account.ScopeTile}
	})
	got, err := w.Refresh(t.Context(), tokens.Refresh, "", RefreshOptions{})
	if err != nil || got.Scopes != account.ScopeONM.Set() {
		t.Errorf("refresh after scopes changed: %v, error %v", got.Scopes, err)
	}
	w.update(t, app.ID, func(a *account.Account) { a.Scopes = account.Scopes{account.ScopeTSS} })
	if _, err = w.Refresh(t.Context(), tokens.Refresh, "", RefreshOptions{}); !errors.Is(err, ErrNoScope) {
		t.Errorf("refresh with no scope left: error %v", err)
	}
}

// TestRefreshExpiry: the grant ends when the exchange said, however often it is refreshed, and no access token outlives it.
func TestRefreshExpiry(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.RefreshTTL = time.Hour })
	app := w.holder(t, "org", account.ScopeTile)
	tokens := w.exchange(t, app, app)
	w.advance(50 * time.Minute)
	last, err := w.Refresh(t.Context(), tokens.Refresh, "", RefreshOptions{})
	if err != nil || last.ExpiresIn != 10*time.Minute {
		t.Fatalf("ten minutes before the end: access token for %v, error %v", last.ExpiresIn, err)
	}
	w.cached(t, last.Access)
	w.advance(10*time.Minute - time.Nanosecond)
	if _, err := w.VerifyAccess(t.Context(), last.Access); err != nil {
		t.Errorf("a nanosecond before the end: %v", err)
	}
	w.advance(time.Nanosecond)
	_, err = w.VerifyAccess(t.Context(), last.Access)
	refused(t, "access token at the end", err, refusedExpired)
	_, err = w.Refresh(t.Context(), tokens.Refresh, "", RefreshOptions{})
	refused(t, "refresh token at the end", err, refusedExpired)
}

func TestRefreshRefused(t *testing.T) {
	w := newWorld(t)
	for _, side := range []string{"client", "server"} {
		for _, test := range []struct {
			name   string
			change func(t *testing.T, id string)
			want   refusal
		}{
			{"suspended", func(t *testing.T, id string) { w.become(t, id, account.StatusSuspended) }, refusedSuspended},
			{"revoked", func(t *testing.T, id string) { w.become(t, id, account.StatusRevoked) }, refusedRevoked},
			{"suspended and active again", func(t *testing.T, id string) {
				w.become(t, id, account.StatusSuspended)
				w.become(t, id, account.StatusActive)
			}, refusedGeneration},
			{"deleted", func(t *testing.T, id string) {
				if _, err := w.live.DeleteAccount(t.Context(), id, nil); err != nil {
					t.Fatal(err)
				}
			}, refusedRevoked},
		} {
			t.Run(side+" "+test.name, func(t *testing.T) {
				app, backend := w.holder(t, "org", account.ScopeTile), w.holder(t, "org", account.ScopeTile)
				tokens := w.exchange(t, app, backend)
				w.cached(t, tokens.Access)
				id := app.ID
				if side == "server" {
					id = backend.ID
				}
				test.change(t, id)
				got, err := w.Refresh(t.Context(), tokens.Refresh, "", RefreshOptions{Rotate: true})
				refused(t, "Refresh", err, test.want)
				if got.Grant != tokens.Grant || got.Access != "" || got.Refresh != "" {
					t.Errorf("a refused refresh gave %+v, want the names alone", got)
				}
				_, err = w.VerifyAccess(t.Context(), tokens.Access)
				refused(t, "VerifyAccess, cached", err, test.want)
				// Another authority has it in no cache, nor any state in memory.
				fresh := newAuthority(t, w.cfg, account.NewLive(w.store))
				_, err = fresh.VerifyAccess(t.Context(), tokens.Access)
				refused(t, "VerifyAccess, uncached", err, test.want)
			})
		}
	}
	for _, token := range []string{"", "x", w.holder(t, "org").client} {
		_, err := w.Refresh(t.Context(), token, "", RefreshOptions{})
		refused(t, "Refresh", err, refusedMalformed)
	}
	_, err := w.Refresh(t.Context(), newOpaque(refreshPrefix), "", RefreshOptions{})
	refused(t, "Refresh", err, refusedUnknown)
}

func TestRefreshWithServerToken(t *testing.T) {
	w := newWorld(t)
	app, backend := w.holder(t, "org", account.ScopeTile), w.holder(t, "org", account.ScopeTile)
	tokens := w.exchange(t, app, backend)
	options := RefreshOptions{RequireServerToken: true}
	if _, err := w.Refresh(t.Context(), tokens.Refresh, backend.server, options); err != nil {
		t.Errorf("with the right server token: %v", err)
	}
	for name, server := range map[string]string{
		"none": "", "the client's account's": app.server, "a client token": backend.client, "unknown": newOpaque(serverPrefix), "malformed": backend.server[1:],
	} {
		_, err := w.Refresh(t.Context(), tokens.Refresh, server, options)
		refused(t, "server token: "+name, err, refusedServer)
	}
	// Whether the refresh or the server token is wrong, both are looked up.
	before := w.store.byToken.Load()
	_, err := w.Refresh(t.Context(), newOpaque(refreshPrefix), backend.server, options)
	refused(t, "unknown refresh token", err, refusedUnknown)
	if w.store.byToken.Load() != before+1 {
		t.Error("the server token was not looked up")
	}
}

func TestRotation(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	tokens, bystander := w.exchange(t, app, app), w.exchange(t, app, app)
	options := RefreshOptions{Rotate: true}
	chain, access := []string{tokens.Refresh}, []string{tokens.Access}
	for range 5 {
		got, err := w.Refresh(t.Context(), chain[len(chain)-1], "", options)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := parseOpaque(refreshPrefix, got.Refresh); !ok {
			t.Fatalf("rotated token %q is malformed", got.Refresh)
		}
		w.cached(t, got.Access)
		chain, access = append(chain, got.Refresh), append(access, got.Access)
	}
	// An old one again, also where rotation has been switched off since: the grant ends, and all that came of it.
	got, err := w.Refresh(t.Context(), chain[1], "", RefreshOptions{})
	if !errors.Is(err, ErrReused) || !errors.Is(err, ErrInvalid) {
		t.Fatalf("an old refresh token: error %v", err)
	}
	if got.Grant != tokens.Grant || got.Client != app.ID || got.Organization != "org" || got.Access != "" {
		t.Errorf("an old refresh token: %+v, want the names of grant and account", got)
	}
	for _, refresh := range chain {
		_, err := w.Refresh(t.Context(), refresh, "", options)
		refused(t, "refresh token of the ended grant", err, refusedUnknown)
	}
	for _, token := range access {
		_, err := w.VerifyAccess(t.Context(), token)
		refused(t, "access token of the ended grant", err, refusedGrant)
	}
	if _, err := w.Refresh(t.Context(), bystander.Refresh, "", options); err != nil {
		t.Errorf("another grant: %v", err)
	}
}

// TestRotationByMany uses one token several times at once: at most one may win, and then the grant is ended.
func TestRotationByMany(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	tokens := w.exchange(t, app, app)
	const clients = 8
	results := make(chan error, clients)
	for range clients {
		go func() {
			_, err := w.Refresh(t.Context(), tokens.Refresh, "", RefreshOptions{Rotate: true})
			results <- err
		}()
	}
	won := 0
	for range clients {
		if err := <-results; err == nil {
			won++
		} else if !errors.Is(err, ErrInvalid) {
			t.Errorf("error %v", err)
		}
	}
	if won > 1 {
		t.Errorf("%d refreshes with one token gave a new one", won)
	}
	_, err := w.VerifyAccess(t.Context(), tokens.Access)
	refused(t, "access token of the ended grant", err, refusedGrant)
}
