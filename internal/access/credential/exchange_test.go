package credential

import (
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/store"
	"github.com/mapsedge/caddy-maps/internal/testkit/pgtest"
)

// TestExchange: what an exchange returns, stores and signs, with both algorithms.
func TestExchange(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []string{algEdDSA, algES256} {
		w := newWorld(t, func(c *Config) { c.Algorithm = algorithm })
		app, backend := w.holder("org", account.ScopeGeocoding, matrix, direction), w.holder("org", direction, tile, matrix)
		w.update(app.ID, func(a *account.Account) { a.IsAdmin = true })
		w.become(backend.ID, account.StatusSuspended, account.StatusActive)
		for _, test := range []struct {
			server holder
			scopes account.ScopeSet
			scope  string
			admin  bool
			claims object
		}{
			{backend, direction.Set() | matrix.Set(), "MATRIX DIRECTION", false, object{"srv": backend.ID, "gen": []any{0.0, 1.0}}},
			{app, app.Scopes.Set(), "MATRIX DIRECTION GEOCODING", true, object{"gen": []any{0.0, 0.0}}},
		} {
			tokens := w.exchange(app, test.server)
			same(t, "tokens", Tokens{Access: tokens.Access, Refresh: tokens.Refresh, ExpiresIn: 15 * time.Minute, Grant: tokens.Grant,
				Client: app.ID, Server: test.server.ID, Organization: "org", Scopes: test.scopes}, tokens)
			hash, _ := parseOpaque(refreshPrefix, tokens.Refresh)
			grant := must(w.store.GrantByRefresh(w.ctx, hash))
			same(t, "grant", account.Grant{ID: tokens.Grant, ClientAccount: app.ID, ServerAccount: test.server.ID,
				Organization: "org", ServerGeneration: grant.ServerGeneration, Scopes: tokens.Scopes, CreatedAt: start,
				ExpiresAt: start.Add(30 * 24 * time.Hour)}, grant)
			same(t, "identity", Identity{Client: app.ID, Server: test.server.ID, Organization: "org", Scopes: test.scopes,
				Admin: test.admin, Unix: start.Unix()}, must(w.VerifyAccess(w.ctx, tokens.Access)))
			header, claims := parsed(tokens.Access)
			same(t, "header", object{"alg": algorithm, "typ": "at+jwt", "kid": w.signing(account.KeyAccess).id}, header)
			same(t, "claims", object{"iss": "https://maps.test", "aud": "maps.test", "sub": app.ID, "client_id": app.ID,
				"grant": tokens.Grant, "org": "org", "scope": test.scope, "iat": float64(start.Unix()),
				"exp": float64(start.Unix() + 900), "jti": claims["jti"]}.with(test.claims), claims)
			if jti, _ := claims["jti"].(string); len(jti) < 22 {
				t.Errorf("jti %q is too short to be unique", jti)
			}
		}
	}
}

// TestExchangeRefused: see TestAccountEnds for accounts that are not active.
func TestExchangeRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app, backend, foreign := w.holder("org", tile), w.holder("org", tile), w.holder("other", tile)
	suspended := w.holder("org", tile)
	w.become(suspended.ID, account.StatusSuspended)
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
		{"suspended and of another organization", suspended.client, foreign.server, refusedOrganization, 2},
	} {
		before := w.store.reads.Load()
		tokens, err := w.Exchange(w.ctx, test.client, test.server, 0)
		refused(t, test.name, err, test.want)
		same(t, test.name+": look-ups", test.lookups, w.store.reads.Load()-before)
		same(t, test.name+": tokens", "", tokens.Access+tokens.Refresh)
	}
	_, err := w.Exchange(w.ctx, app.client, w.holder("org", onm).server, 0)
	if !errors.Is(err, ErrNoScope) || errors.Is(err, ErrInvalid) {
		t.Errorf("no scope in common: error %v", err)
	}
	app, backend = w.holder("org", tile, onm), w.holder("org", tile, onm, tss)
	narrowed, err := w.Exchange(w.ctx, app.client, backend.server, onm.Set())
	succeeds(err)
	same(t, "scopes", onm.Set(), must(w.VerifyAccess(w.ctx, narrowed.Access)).Scopes)
	same(t, "scopes after a refresh", onm.Set(), must(w.refresh(narrowed.Refresh, RefreshOptions{})).Scopes)
	if _, err := w.Exchange(w.ctx, app.client, backend.server, onm.Set()|tss.Set()); !errors.Is(err, ErrNoScope) {
		t.Errorf("a scope that one account lacks: error %v", err)
	}
}

// TestGrantLimit makes one exchange more than a pair of accounts may have grants.
func TestGrantLimit(t *testing.T) {
	t.Parallel()
	const limit = 5
	w := newWorld(t, func(c *Config) { c.MaxGrants = limit })
	app, backend := w.holder("org", tile), w.holder("org", tile)
	other := w.exchange(app, backend)
	var all []Tokens
	for n := range limit + 1 {
		w.advance(time.Millisecond)
		tokens := w.exchange(app, app)
		all = append(all, tokens)
		same(t, "ended", max(0, n+1-limit), tokens.Ended)
		if n < limit {
			w.cached(t, tokens.Access)
			w.accepted(t, "within the limit", all[0].Access)
		}
	}
	w.refusedAccess(t, "cached access token of the oldest grant", refusedGrant, all[0].Access)
	_, err := w.refresh(all[0].Refresh, RefreshOptions{})
	refused(t, "refresh token of the oldest grant", err, refusedUnknown)
	w.accepted(t, "a grant within the limit", all[1].Access, all[limit].Access, other.Access)
}

func TestRevoke(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	app := w.holder("org", tile)
	kept, ended, uncached := w.exchange(app, app), w.exchange(app, app), w.exchange(app, app)
	w.cached(t, ended.Access, kept.Access)
	later := must(w.refresh(ended.Refresh, RefreshOptions{}))
	for _, token := range []string{
		ended.Refresh, ended.Refresh, uncached.Refresh, newOpaque(refreshPrefix), "", "nonsense", app.client,
	} {
		succeeds(w.Revoke(w.ctx, token))
	}
	w.refusedAccess(t, "access token of an ended grant", refusedGrant, ended.Access, later.Access, uncached.Access)
	_, err := w.refresh(ended.Refresh, RefreshOptions{})
	refused(t, "refresh token of an ended grant", err, refusedUnknown)
	w.accepted(t, "another grant of the same accounts", kept.Access)
	w.advance(15 * time.Minute) // when the end may be forgotten, so must be the tokens
	w.refusedAccess(t, "cached access token of an ended grant after it expired", refusedExpired, ended.Access)
}

func (w *world) guest(id string) (Tokens, error) {
	return w.Guest(w.ctx, id, tile.Set()|direction.Set())
}

// TestGuest: a guest of an administrator is none, has only scopes that are allowed, and no refresh token.
func TestGuest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *Config) { c.AccessTTL = time.Hour })
	host := w.holder("org", tile, matrix)
	w.update(host.ID, func(a *account.Account) { a.IsAdmin = true })
	tokens := must(w.guest(host.ID))
	same(t, "tokens", Tokens{Access: tokens.Access, ExpiresIn: GuestTTL, Client: host.ID, Server: host.ID,
		Organization: "org", Scopes: tile.Set()}, tokens)
	for range 2 { // the second one is cached
		same(t, "identity", Identity{Client: host.ID, Server: host.ID, Organization: "org", Scopes: tile.Set(),
			Unix: start.Unix()}, must(w.VerifyAccess(w.ctx, tokens.Access)))
		w.cache.tokens.Wait()
	}
	w.setScopes(host.ID, matrix)
	same(t, "after a scope was taken", 0, must(w.VerifyAccess(w.ctx, tokens.Access)).Scopes)
	if _, err := w.guest(host.ID); !errors.Is(err, ErrNoScope) {
		t.Errorf("no scope is allowed: %v", err)
	}
	w.advance(GuestTTL)
	w.refusedAccess(t, "after its life", refusedExpired, tokens.Access)
	_, err := w.guest("sa_unknown")
	refused(t, "no such account", err, refusedRevoked)
}

// BenchmarkExchange measures whole exchanges by 64 clients at once: two tokens looked up, an access token signed, and the
// grant durable.
func BenchmarkExchange(b *testing.B) {
	for name, open := range map[string]func(b *testing.B) (*store.Store, error){
		"sqlite": func(b *testing.B) (*store.Store, error) {
			return store.OpenSQLite(filepath.Join(b.TempDir(), "accounts.db"), zap.NewNop())
		},
		"postgres": func(b *testing.B) (*store.Store, error) {
			return store.OpenPostgres(b.Context(), must(store.ParseDSN(pgtest.DSN(b), "")), zap.NewNop())
		},
	} {
		b.Run(name, func(b *testing.B) {
			w := newWorld(b)
			s := must(open(b))
			defer s.Close()
			w = &world{Authority: newAuthority(b, w.cfg, s), ctx: b.Context(), store: &fallible{Store: s}}
			var begun atomic.Int64
			var all sync.WaitGroup
			b.ResetTimer()
			for range 64 {
				h := w.holder("org", direction)
				all.Go(func() {
					for begun.Add(1) <= int64(b.N) {
						w.exchange(h, h)
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "exchanges/s")
		})
	}
}
