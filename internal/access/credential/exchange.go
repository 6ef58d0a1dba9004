package credential

import (
	"cmp"
	"context"
	"errors"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// Exchange makes an access and a refresh token from a client and a server token. Both accounts must be active and in
// the same organization. The tokens get the scopes that both accounts have, or only those wanted unless that set is
// empty. The error may match ErrInvalid or ErrNoScope.
func (a *Authority) Exchange(ctx context.Context, client, server string, want account.ScopeSet) (Tokens, error) {
	clientHash, ok := parseOpaque(clientPrefix, client)
	serverHash, ok2 := parseOpaque(serverPrefix, server)
	if !ok || !ok2 {
		return Tokens{}, refusedMalformed
	}
	c, clientErr := a.store.AccountByToken(ctx, account.ClientToken, clientHash)
	s, serverErr := a.store.AccountByToken(ctx, account.ServerToken, serverHash)
	tokens := Tokens{Client: c.ID, Server: s.ID, Organization: c.OrganizationID}
	if err := cmp.Or(found(clientErr, refusedUnknown), found(serverErr, refusedUnknown)); err != nil {
		return tokens, err
	}
	switch {
	case c.OrganizationID != s.OrganizationID:
		return tokens, refusedOrganization
	case c.Status != account.StatusActive:
		return tokens, inactive(c.Status)
	case s.Status != account.StatusActive:
		return tokens, inactive(s.Status)
	}
	if tokens.Scopes = narrow(a.scopesOf(&c)&s.Scopes.Set(), want); tokens.Scopes == 0 {
		return tokens, ErrNoScope
	}

	now := a.cfg.Now()
	refresh := newOpaque(refreshPrefix)
	grant := account.Grant{
		ID: newID(grantPrefix, now), Organization: c.OrganizationID,
		ClientAccount: c.ID, ServerAccount: s.ID, ClientGeneration: c.Generation, ServerGeneration: s.Generation,
		Scopes: tokens.Scopes, CreatedAt: now.UTC(), ExpiresAt: now.Add(a.cfg.RefreshTTL).UTC(),
	}
	tokens.Grant = grant.ID
	access, ttl, err := a.newAccess(ctx, &grant, tokens.Scopes, now)
	if err != nil {
		return tokens, err
	}
	ended, err := a.store.AddGrant(ctx, grant, hashOf(refresh), a.cfg.MaxGrants)
	if err != nil {
		return tokens, unavailable(err)
	}
	tokens.Access, tokens.Refresh, tokens.ExpiresIn, tokens.Ended = access, refresh, ttl, ended
	return tokens, nil
}

// narrow returns the wanted scopes if all of them are available, or none. Without wanted ones it returns all.
func narrow(available, want account.ScopeSet) account.ScopeSet {
	switch {
	case want == 0:
		return available
	case available.Has(want):
		return want
	}
	return 0
}

// Revoke ends the grant of a refresh token. An unknown or malformed token is no error.
func (a *Authority) Revoke(ctx context.Context, refresh string) error {
	hash, ok := parseOpaque(refreshPrefix, refresh)
	if !ok {
		return nil
	}
	g, err := a.store.GrantByRefresh(ctx, hash)
	// A reused token still identifies its grant.
	if err == nil || errors.Is(err, account.ErrReused) {
		err = a.store.EndGrant(ctx, g.ID)
	}
	if account.IsUnavailable(err) {
		return unavailable(err)
	}
	return nil
}
