package credential

import (
	"context"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// GuestTTL is the longest life of a guest's access token.
const GuestTTL = 15 * time.Minute

// Guest makes an access token of an account for an anonymous visitor. The caller decides who that may be. The token
// has those scopes of allowed that the account has, lives for GuestTTL at most, and has no grant and so no refresh
// token. Like any other, it ends when the account leaves ACTIVE. It is never an administrator's. ErrInvalid if the
// account does not exist or is not active, ErrNoScope if it has none of the scopes.
func (a *Authority) Guest(ctx context.Context, id string, allowed account.ScopeSet) (Tokens, error) {
	tokens := Tokens{Client: id, Server: id}
	acc, err := a.store.Account(ctx, id)
	if err := found(err, refusedRevoked); err != nil {
		return tokens, err
	}
	tokens.Organization, tokens.Scopes = acc.OrganizationID, acc.Scopes.Set()&allowed
	switch {
	case acc.Status != account.StatusActive:
		return tokens, inactive(acc.Status)
	case tokens.Scopes == 0:
		return tokens, ErrNoScope
	}
	now := a.cfg.Now()
	tokens.Access, tokens.ExpiresIn, err = a.newAccess(ctx, &account.Grant{Organization: acc.OrganizationID,
		ClientAccount: id, ServerAccount: id, ClientGeneration: acc.Generation, ServerGeneration: acc.Generation,
		ExpiresAt: now.Add(GuestTTL)}, tokens.Scopes, now)
	return tokens, err
}
