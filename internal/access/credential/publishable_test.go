package credential

import (
	"net/netip"
	"testing"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// TestPublishableKey changes an account and its key, and checks what the key is good for with the next request, whether
// it is in the cache or not.
func TestPublishableKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.holder("org", tile, direction, matrix)
	w.update(app.ID, func(a *account.Account) { a.IsAdmin = true })
	// MATRIX is no publishable scope, even if the store has it, and GEOCODING none of the account.
	key := w.publish(app.ID, account.Scopes{tile, direction, matrix, account.ScopeGeocoding}, "https://app.test")
	other := w.publish(app.ID, account.Scopes{tile}, "https://other.test")
	w.cached(t, key.Key, other.Key)
	id := must(w.VerifyAccess(w.ctx, key.Key))
	id.Restrictions = nil
	same(t, "identity", Identity{Client: app.ID, Server: app.ID, Organization: "org", Scopes: tile.Set() | direction.Set(),
		PublishableKey: key.Key, Unix: start.Unix()}, id)

	become := func(statuses ...account.Status) func() { return func() { w.become(app.ID, statuses...) } }
	for _, step := range []struct {
		what    string
		change  func()
		scopes  account.ScopeSet
		refused refusal // the zero one is for none
	}{
		{"lost a scope", func() { w.setScopes(app.ID, tile, matrix) }, tile.Set(), refusal{}},
		{"lost all", func() { w.setScopes(app.ID, matrix) }, 0, refusal{}},
		{"got them back", func() { w.setScopes(app.ID, tile, direction) }, tile.Set() | direction.Set(), refusal{}},
		{"suspended", become(account.StatusSuspended), 0, refusedSuspended},
		{"active again", become(account.StatusActive), tile.Set() | direction.Set(), refusal{}},
		{"deleted key", func() {
			succeeds(w.store.DeletePublishableKey(w.ctx, app.ID, key.ID, func(account.Account) error { return nil }))
		}, 0, refusedUnknown},
	} {
		step.change()
		for what, at := range map[string]*world{step.what: w, step.what + ", not cached": w.beside(t, func(*Config) {})} {
			id, err := at.VerifyAccess(w.ctx, key.Key)
			if step.refused != (refusal{}) {
				refused(t, what, err, step.refused)
			} else if err != nil || id.Scopes != step.scopes {
				t.Errorf("%s: %v, %v", what, id.Scopes, err)
			}
		}
	}
	reads := w.store.reads.Load()
	w.refusedAccess(t, "a deleted key, cached", refusedUnknown, key.Key, key.Key)
	same(t, "readings of the store", reads, w.store.reads.Load())
	w.accepted(t, "the other key", other.Key)
	must(w.store.DeleteAccount(w.ctx, app.ID, nil))
	w.refusedAccess(t, "a key of a deleted account", refusedUnknown, other.Key)
}

// TestPublishableOrigins: a request must be allowed by the key and by its account.
func TestPublishableOrigins(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.holder("org", tile)
	key := w.publish(app.ID, app.Scopes, "https://*.app.test", "https://both.test").Key
	for _, step := range []struct {
		account account.Restrictions
		origin  string
		client  string
		want    account.Violation
	}{
		{account.Restrictions{}, "https://a.app.test", "203.0.113.1", ""},
		{account.Restrictions{}, "https://evil.test", "203.0.113.1", account.ViolationOrigin},
		{account.Restrictions{}, "", "203.0.113.1", account.ViolationNoOrigin},
		{account.Restrictions{Networks: []string{"203.0.113.0/24"}}, "https://both.test", "203.0.113.1", ""},
		{account.Restrictions{Networks: []string{"203.0.113.0/24"}}, "https://both.test", "198.51.100.1", account.ViolationNetwork},
		{account.Restrictions{Origins: []string{"https://both.test"}}, "https://both.test", "203.0.113.1", ""},
		{account.Restrictions{Origins: []string{"https://both.test"}}, "https://a.app.test", "203.0.113.1", account.ViolationOrigin},
		{account.Restrictions{Origins: []string{"https://evil.test"}}, "https://evil.test", "203.0.113.1", account.ViolationOrigin},
	} {
		w.update(app.ID, func(a *account.Account) { a.Restrictions = step.account })
		id := must(w.VerifyAccess(w.ctx, key))
		if got := id.Restrictions.Check(step.origin, "", netip.MustParseAddr(step.client)); got != step.want {
			t.Errorf("%v, from %q: %q, want %q", step.account, step.origin, got, step.want)
		}
	}
	// A key whose origins are lost or of a newer version is valid nowhere.
	for _, origins := range []string{"[]", "null", `["new:*"]`} {
		lost := w.publish(app.ID, app.Scopes, "https://app.test")
		w.sql("UPDATE maps_publishable_keys SET origins = '" + origins + "' WHERE id = '" + lost.ID + "'")
		_, err := w.VerifyAccess(w.ctx, lost.Key)
		isUnavailable(t, origins, err)
	}
}

// TestUnknownPublishableKeys: keys that the store does not have are refused each time by reading it, and evict nothing. They are no
// tokens of another kind.
func TestUnknownPublishableKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.holder("org", tile)
	known := w.publish(app.ID, app.Scopes, "https://app.test").Key
	for range 3 * recentTokens {
		w.refusedAccess(t, "unknown", refusedUnknown, newOpaque(publishablePrefix))
	}
	for i := range w.cache.recent {
		if w.cache.recent[i].Load() != nil {
			t.Fatal("the cache took an unknown key")
		}
	}
	w.cached(t, known)
	w.store.down.Store(true)
	w.accepted(t, "a cached key without the store", known)
	_, err := w.VerifyAccess(w.ctx, newOpaque(publishablePrefix))
	isUnavailable(t, "an unknown key without the store", err)
	w.store.down.Store(false)

	_, err = w.VerifyUser(w.ctx, known)
	refused(t, "VerifyUser", err, refusedMalformed)
	_, err = w.refresh(known, RefreshOptions{})
	refused(t, "Refresh", err, refusedMalformed)
	for _, pair := range [][2]string{{known, app.server}, {app.client, known}} {
		_, err = w.Exchange(w.ctx, pair[0], pair[1], 0)
		refused(t, "Exchange", err, refusedMalformed)
	}
}
