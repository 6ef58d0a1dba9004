package credential

import (
	"context"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// GuestTTL is the longest lifetime of an access token of an anonymous visitor.
const GuestTTL = 15 * time.Minute

// Guest makes an access token of an account for an anonymous visitor. It has the scopes of the account that are
// allowed, lives for at most GuestTTL, and has neither a grant nor a refresh token. It is never an administrator's, and
// ends when the account leaves ACTIVE. The error matches ErrInvalid if the account does not exist or is not active, and
// ErrNoScope if no scope is left.
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
