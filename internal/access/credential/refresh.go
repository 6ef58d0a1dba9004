package credential

import (
	"context"
	"errors"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// Refresh makes a new access token of a grant. server is the server token, if opts require it. Without rotation,
// Tokens.Refresh is the given refresh token. The error may match ErrInvalid or ErrReused, or ErrNoScope if the accounts
// no longer have any scope of the grant.
func (a *Authority) Refresh(ctx context.Context, refresh, server string, opts RefreshOptions) (Tokens, error) {
	hash, ok := parseOpaque(refreshPrefix, refresh)
	if !ok {
		return Tokens{}, refusedMalformed
	}
	g, err := a.store.GrantByRefresh(ctx, hash)
	tokens := Tokens{Grant: g.ID, Client: g.ClientAccount, Server: g.ServerAccount, Organization: g.Organization}
	if errors.Is(err, account.ErrReused) {
		return tokens, a.endReused(ctx, g.ID)
	}
	if err := found(err, refusedUnknown); err != nil {
		return tokens, err
	}
	if opts.RequireServerToken {
		if err := a.checkServerToken(ctx, &g, server); err != nil {
			return tokens, err
		}
	}
	clientAccount, serverAccount, err := a.accounts(ctx, &g)
	if err != nil {
		return tokens, err
	}
	tokens.Scopes = g.Scopes & a.scopesOf(&clientAccount) & serverAccount.Scopes.Set()
	if tokens.Scopes == 0 {
		return tokens, ErrNoScope
	}
	access, ttl, err := a.newAccess(ctx, &g, tokens.Scopes, a.cfg.Now()) // refused if the grant has expired
	if err != nil {
		return tokens, err
	}
	if opts.Rotate {
		refresh = newOpaque(refreshPrefix)
		err := a.store.RotateGrant(ctx, g.ID, hash, hashOf(refresh))
		if errors.Is(err, account.ErrReused) {
			return tokens, a.endReused(ctx, g.ID)
		}
		if err := found(err, refusedGrant); err != nil {
			return tokens, err
		}
	}
	tokens.Access, tokens.Refresh, tokens.ExpiresIn = access, refresh, ttl
	return tokens, nil
}

// checkServerToken checks that a server token belongs to the server account of a grant.
func (a *Authority) checkServerToken(ctx context.Context, g *account.Grant, server string) error {
	hash, ok := parseOpaque(serverPrefix, server)
	if !ok {
		return refusedServer
	}
	holder, err := a.store.AccountByToken(ctx, account.ServerToken, hash)
	if err == nil && holder.ID != g.ServerAccount {
		return refusedServer
	}
	return found(err, refusedServer)
}

// endReused ends a grant whose refresh token was used again: one of its two holders has stolen it.
func (a *Authority) endReused(ctx context.Context, grant string) error {
	if err := a.store.EndGrant(ctx, grant); err != nil {
		return unavailable(err)
	}
	return ErrReused
}
