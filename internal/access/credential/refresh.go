package credential

import (
	"context"
	"errors"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// Refresh makes a new access token of a grant. Without rotation, Tokens.Refresh is the given refresh token. The error
// may match ErrInvalid, ErrReused or ErrHolder, or ErrNoScope if the accounts no longer have any scope of the grant, or
// not all that opts want.
func (a *Authority) Refresh(ctx context.Context, refresh string, opts RefreshOptions) (Tokens, error) {
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
	if opts.RequireServerToken || opts.Server != "" {
		if err := a.checkHolder(ctx, account.ServerToken, serverPrefix, opts.Server, g.ServerAccount); err != nil {
			return tokens, err
		}
	}
	if opts.Client != "" {
		if err := a.checkHolder(ctx, account.ClientToken, clientPrefix, opts.Client, g.ClientAccount); err != nil {
			return tokens, err
		}
	}
	clientAccount, serverAccount, err := a.accounts(ctx, &g)
	if err != nil {
		return tokens, err
	}
	tokens.Scopes = narrow(g.Scopes&a.scopesOf(&clientAccount)&serverAccount.Scopes.Set(), opts.Scopes)
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

// checkHolder checks that a client or server token belongs to an account of a grant.
func (a *Authority) checkHolder(ctx context.Context, kind account.TokenKind, prefix, token, id string) error {
	hash, ok := parseOpaque(prefix, token)
	if !ok {
		return ErrHolder
	}
	holder, err := a.store.AccountByToken(ctx, kind, hash)
	if err == nil && holder.ID != id {
		return ErrHolder
	}
	return found(err, refusedHolder)
}

// endReused ends a grant whose refresh token was used again: one of its two holders has stolen it.
func (a *Authority) endReused(ctx context.Context, grant string) error {
	if err := a.store.EndGrant(ctx, grant); err != nil {
		return unavailable(err)
	}
	return ErrReused
}
