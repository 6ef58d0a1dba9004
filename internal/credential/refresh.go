package credential

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// Refresh makes a new access token of a grant. server is looked at only where opts require it. ErrInvalid, ErrReused,
// or ErrNoScope when the accounts have lost every scope of the grant.
func (a *Authority) Refresh(ctx context.Context, refresh, server string, opts RefreshOptions) (Tokens, error) {
	refreshHash, ok := parseOpaque(refreshPrefix, refresh)
	if !ok {
		return Tokens{}, refusedMalformed
	}
	var serverHash account.Hash
	if opts.RequireServerToken {
		if serverHash, ok = parseOpaque(serverPrefix, server); !ok {
			return Tokens{}, refusedServer
		}
	}
	// Both are looked up, and only then is anything decided.
	g, err := a.live.GrantByRefresh(ctx, refreshHash)
	var holder account.Account
	var holderErr error
	if opts.RequireServerToken {
		holder, holderErr = a.live.AccountByToken(ctx, account.ServerToken, serverHash)
	}
	tokens := Tokens{Grant: g.ID, Client: g.ClientAccount, Server: g.ServerAccount, Organization: g.Organization}
	now := a.cfg.Now()
	switch {
	case account.IsUnavailable(err):
		return tokens, unavailable(err)
	case account.IsUnavailable(holderErr):
		return tokens, unavailable(holderErr)
	case errors.Is(err, account.ErrRotated):
		return tokens, a.endReused(ctx, g.ID)
	case err != nil:
		return tokens, refusedUnknown
	case opts.RequireServerToken && (holderErr != nil || holder.ID != g.ServerAccount):
		return tokens, refusedServer
	case !now.Before(g.ExpiresAt):
		return tokens, refusedExpired
	}
	scopes, err := a.grantScopes(ctx, &g)
	if err != nil {
		return tokens, err
	}
	tokens.Scopes = scopes
	return a.renew(ctx, tokens, &g, refreshHash, opts.Rotate, now)
}

// renew signs the new access token, and replaces the refresh token where it rotates.
func (a *Authority) renew(ctx context.Context, tokens Tokens, g *account.Grant, old account.Hash, rotate bool,
	now time.Time) (Tokens, error) {
	access := a.newAccess(ctx, g, tokens.Scopes, now)
	if access.err != nil {
		return tokens, access.err
	}
	if rotate {
		next := newOpaque(refreshPrefix)
		switch err := a.live.RotateGrant(ctx, g.ID, old, hashOf(next)); {
		case err == nil:
			tokens.Refresh = next
		case errors.Is(err, account.ErrRotated):
			return tokens, a.endReused(ctx, g.ID)
		case errors.Is(err, account.ErrNotFound):
			return tokens, refusedGrant
		default:
			return tokens, unavailable(err)
		}
	}
	tokens.Access, tokens.ExpiresIn = access.token, access.ttl
	return tokens, nil
}

// endReused ends a grant whose refresh token came a second time: one of the two who hold it stole it.
func (a *Authority) endReused(ctx context.Context, grant string) error {
	if err := a.live.EndGrant(ctx, grant); err != nil {
		return unavailable(err)
	}
	return ErrReused
}

// grantScopes returns the scopes that a grant still gives: those of the exchange that both accounts have now. Both
// must be ACTIVE and must have been all the time.
func (a *Authority) grantScopes(ctx context.Context, g *account.Grant) (account.ScopeSet, error) {
	client, err := a.stateFor(ctx, g.ClientAccount, g.Organization)
	server, err2 := a.stateFor(ctx, g.ServerAccount, g.Organization)
	if err = cmp.Or(err, err2); err != nil {
		return 0, err
	}
	c, s := client.State(), server.State()
	if !c.Active || !s.Active || c.Generation != g.ClientGeneration || s.Generation != g.ServerGeneration {
		return 0, refusalOf(c, s)
	}
	scopes := g.Scopes & c.Scopes & s.Scopes
	if scopes == 0 {
		return 0, ErrNoScope
	}
	return scopes, nil
}
