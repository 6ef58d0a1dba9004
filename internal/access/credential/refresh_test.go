package credential

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// TestRefresh: see TestAccountEnds for accounts that are not active.
func TestRefresh(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app, backend := w.holder("org", tile, onm), w.holder("org", tile, onm)
	tokens := w.exchange(app, backend)
	w.advance(time.Hour)
	w.refusedAccess(t, "access token of an hour ago", refusedExpired, tokens.Access)
	for range 3 { // a refresh token that does not rotate stays good
		got := must(w.refresh(tokens.Refresh, RefreshOptions{}))
		want := tokens
		want.Access = got.Access
		same(t, "tokens", want, got)
		same(t, "scopes", tokens.Scopes, must(w.VerifyAccess(w.ctx, got.Access)).Scopes)
	}
	// A scope that was lost is lost, and one that was added since the exchange is not given.
	w.setScopes(app.ID, onm, tss)
	w.setScopes(backend.ID, onm, tss, tile)
	same(t, "scopes", onm.Set(), must(w.refresh(tokens.Refresh, RefreshOptions{})).Scopes)
	if _, err := w.refresh(tokens.Refresh, RefreshOptions{Scopes: onm.Set() | tile.Set()}); !errors.Is(err, ErrNoScope) {
		t.Errorf("a scope that is no longer there: error %v", err)
	}
	w.setScopes(app.ID, tss)
	if _, err := w.refresh(tokens.Refresh, RefreshOptions{}); !errors.Is(err, ErrNoScope) {
		t.Errorf("no scope is left: error %v", err)
	}
	for token, want := range map[string]refusal{
		"": refusedMalformed, "x": refusedMalformed, app.client: refusedMalformed, newOpaque(refreshPrefix): refusedUnknown,
	} {
		_, err := w.refresh(token, RefreshOptions{})
		refused(t, token, err, want)
	}
}

// TestRefreshExpiry: the grant ends when the exchange said, however often it is refreshed, and no access token outlives
// it.
func TestRefreshExpiry(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.RefreshTTL = time.Hour })
	app := w.holder("org", tile)
	tokens := w.exchange(app, app)
	w.advance(50 * time.Minute)
	last := must(w.refresh(tokens.Refresh, RefreshOptions{}))
	same(t, "life of an access token ten minutes before the end", 10*time.Minute, last.ExpiresIn)
	w.cached(t, last.Access)
	w.advance(10*time.Minute - time.Nanosecond)
	w.accepted(t, "a nanosecond before the end", last.Access)
	w.advance(time.Nanosecond)
	w.refusedAccess(t, "access token at the end", refusedExpired, last.Access)
	_, err := w.refresh(tokens.Refresh, RefreshOptions{})
	refused(t, "refresh token at the end", err, refusedExpired)
}

func TestRefreshWithServerToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app, backend := w.holder("org", tile), w.holder("org", tile)
	tokens, options := w.exchange(app, backend), RefreshOptions{RequireServerToken: true, Server: backend.server}
	must(w.refresh(tokens.Refresh, options))
	must(w.refresh(tokens.Refresh, RefreshOptions{Client: app.client}))
	for name, server := range map[string]string{
		"none": "", "the client's account's": app.server, "a client token": backend.client,
		"unknown": newOpaque(serverPrefix), "malformed": backend.server[1:],
	} {
		options.Server = server
		_, err := w.refresh(tokens.Refresh, options)
		refused(t, "server token: "+name, err, refusedHolder)
	}
	for _, given := range []RefreshOptions{{Client: backend.client}, {Server: app.server}} { // checked without need
		_, err := w.refresh(tokens.Refresh, given)
		refused(t, "a token of another account", err, refusedHolder)
	}
}

// TestRotation: a refresh token that was replaced can be used again for ten seconds, as by a client that did not get the
// answer. Later use ends the grant.
func TestRotation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.holder("org", tile)
	tokens, bystander := w.exchange(app, app), w.exchange(app, app)
	rotate := func(refresh string) string {
		got := must(w.refresh(refresh, RefreshOptions{Rotate: true}))
		if _, ok := parseOpaque(refreshPrefix, got.Refresh); !ok || got.Refresh == refresh || got.Grant != tokens.Grant {
			t.Errorf("rotated token %q of grant %s", got.Refresh, got.Grant)
		}
		w.cached(t, got.Access)
		return got.Refresh
	}
	first, again := rotate(tokens.Refresh), rotate(tokens.Refresh)
	if first == again {
		t.Error("a retry gave the same successor")
	}
	chain := []string{tokens.Refresh, first, again, rotate(first), rotate(again)}
	// Many retries at once are as good as one.
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { rotate(tokens.Refresh) })
	}
	all.Wait()
	// Almost ten seconds later the first one is still good, by a clock that was set back a little as well.
	for _, age := range []time.Duration{account.RetryWindow - 2*time.Second, -account.RetryWindow + 2*time.Second} {
		w.age(age)
		chain = append(chain, rotate(tokens.Refresh))
		w.age(-age)
	}
	// Then it is not, also where rotation was switched off since: the grant ends, and all that came of it.
	w.age(account.RetryWindow + time.Second)
	got, err := w.refresh(tokens.Refresh, RefreshOptions{})
	refused(t, "an old refresh token", err, ErrReused)
	same(t, "tokens", Tokens{Grant: tokens.Grant, Client: app.ID, Server: app.ID, Organization: "org"}, got)
	for _, refresh := range chain {
		_, err := w.refresh(refresh, RefreshOptions{Rotate: true})
		refused(t, "refresh token of the ended grant", err, refusedUnknown)
	}
	w.refusedAccess(t, "access token of the ended grant", refusedGrant, tokens.Access)
	// A token that seems to be replaced long after now was replaced before the clock was set back.
	must(w.refresh(bystander.Refresh, RefreshOptions{Rotate: true}))
	w.age(-time.Hour)
	_, err = w.refresh(bystander.Refresh, RefreshOptions{})
	refused(t, "by another clock", err, ErrReused)
}

// age makes it that much longer ago that refresh tokens were replaced.
func (w *world) age(by time.Duration) {
	w.sql(fmt.Sprintf("UPDATE maps_refresh_tokens SET used_at = used_at - (%d) WHERE used_at > 0", by.Microseconds()))
}
