package credential

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

func TestRefresh(t *testing.T) {
	w := newWorld(t)
	app, backend := w.holder(t, "org", account.ScopeTile, account.ScopeONM), w.holder(t, "org", account.ScopeTile, account.ScopeONM)
	tokens := w.exchange(t, app, backend)
	w.advance(time.Hour)
	w.refusedAccess(t, "access token of an hour ago", refusedExpired, tokens.Access)
	for range 3 { // a refresh token that does not rotate stays good
		got := must(w.Refresh(t.Context(), tokens.Refresh, "", RefreshOptions{}))
		if got.Refresh != tokens.Refresh || got.ExpiresIn != 15*time.Minute || got.Grant != tokens.Grant || got.Client != app.ID || got.Server != backend.ID {
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

// TestRefreshExpiry: the grant ends when the exchange said, however often it is refreshed, and no access token
// outlives it.
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
				if _, err := w.store.DeleteAccount(t.Context(), id, nil); err != nil {
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
				fresh := w.beside(t, func(*Config) {})
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
}

// TestRotation: a refresh token that was replaced can be used again for ten seconds, as by a client that did not get
// the answer. Later use ends the grant.
func TestRotation(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	tokens, bystander := w.exchange(t, app, app), w.exchange(t, app, app)
	options := RefreshOptions{Rotate: true}
	rotate := func(refresh string) string {
		t.Helper()
		got := must(w.Refresh(t.Context(), refresh, "", options))
		if _, ok := parseOpaque(refreshPrefix, got.Refresh); !ok || got.Refresh == refresh || got.Grant != tokens.Grant {
			t.Fatalf("rotated token %q of grant %s", got.Refresh, got.Grant)
		}
		w.cached(t, got.Access)
		return got.Refresh
	}
	first := rotate(tokens.Refresh)
	again := rotate(tokens.Refresh)
	if first == again {
		t.Error("a retry gave the same successor")
	}
	chain := []string{tokens.Refresh, first, again, rotate(first), rotate(again)}

	// Almost ten seconds later the first one is still good, by a clock that was set back a little as well.
	for _, age := range []time.Duration{account.RetryWindow - 2*time.Second, -account.RetryWindow + 2*time.Second} {
		w.age(t, age)
		chain = append(chain, rotate(tokens.Refresh))
		w.age(t, -age)
	}
	// Then it is not, also where rotation was switched off since: the grant ends, and all that came of it.
	w.age(t, account.RetryWindow+time.Second)
	got, err := w.Refresh(t.Context(), tokens.Refresh, "", RefreshOptions{})
	if !errors.Is(err, ErrReused) || !errors.Is(err, ErrInvalid) {
		t.Fatalf("an old refresh token: error %v", err)
	}
	want := Tokens{Grant: tokens.Grant, Client: app.ID, Server: app.ID, Organization: "org"}
	if got != want {
		t.Errorf("an old refresh token: %+v, want %+v", got, want)
	}
	for _, refresh := range chain {
		_, err := w.Refresh(t.Context(), refresh, "", options)
		refused(t, "refresh token of the ended grant", err, refusedUnknown)
	}
	w.refusedAccess(t, "access token of the ended grant", refusedGrant, tokens.Access)
	if _, err := w.Refresh(t.Context(), bystander.Refresh, "", options); err != nil {
		t.Errorf("another grant: %v", err)
	}
}

// age makes it that much longer ago that refresh tokens were replaced.
func (w *world) age(t *testing.T, by time.Duration) {
	t.Helper()
	w.sql(t, fmt.Sprintf("UPDATE maps_refresh_tokens SET used_at = used_at - (%d) WHERE used_at > 0", by.Microseconds()))
}

// TestReuseByAnotherClock: a token that seems to be replaced long after now was replaced before the clock was set back.
func TestReuseByAnotherClock(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	tokens := w.exchange(t, app, app)
	if _, err := w.Refresh(t.Context(), tokens.Refresh, "", RefreshOptions{Rotate: true}); err != nil {
		t.Fatal(err)
	}
	w.age(t, -time.Hour)
	if _, err := w.Refresh(t.Context(), tokens.Refresh, "", RefreshOptions{}); !errors.Is(err, ErrReused) {
		t.Errorf("error %v", err)
	}
}

// TestRotationByMany uses one token several times at once: all get successors of the same grant.
func TestRotationByMany(t *testing.T) {
	w := newWorld(t)
	app := w.holder(t, "org", account.ScopeTile)
	tokens := w.exchange(t, app, app)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			got, err := w.Refresh(t.Context(), tokens.Refresh, "", RefreshOptions{Rotate: true})
			if err != nil || got.Grant != tokens.Grant {
				t.Errorf("grant %s, error %v", got.Grant, err)
			}
		})
	}
	all.Wait()
}
