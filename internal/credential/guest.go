package credential

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/mapsedge/caddy-maps/internal/account"
)

const (
	// GuestTTL is the longest life of a guest's access token.
	GuestTTL = 15 * time.Minute
	// guestGrantTTL is for how long tokens of guests are of the same grant.
	guestGrantTTL = 24 * time.Hour
)

// guests keeps the grant of each account that takes guests, by the account's id. All guests of an account share one, so
// that they cost the store no write each, and do not push the grants of its exchanges out.
type guests struct {
	one    *semaphore.Weighted // guards grants
	grants map[string]account.Grant
}

func newGuests() guests {
	return guests{one: semaphore.NewWeighted(1), grants: make(map[string]account.Grant)}
}

// Guest makes an access token of an account for somebody who has none of its tokens. The caller decides who that may
// be. The token has those scopes of allowed that the account has, lives for GuestTTL at most, and has no refresh
// token. It depends on the account as any other: it ends at once when that leaves ACTIVE, and with it every scope
// that the account loses. It never is an admin's. ErrInvalid if the account is not there or not active, ErrNoScope
// if it has none of the scopes.
func (a *Authority) Guest(ctx context.Context, id string, allowed account.ScopeSet) (Tokens, error) {
	tokens := Tokens{Client: id, Server: id}
	current, err := a.live.Current(ctx, id)
	switch {
	case errors.Is(err, account.ErrNotFound):
		return tokens, refusedRevoked
	case err != nil:
		return tokens, unavailable(err)
	}
	state := current.State()
	tokens.Organization, tokens.Scopes = state.Organization, state.Scopes&allowed
	switch {
	case !state.Active:
		return tokens, refusalOf(state, state)
	case tokens.Scopes == 0:
		return tokens, ErrNoScope
	}
	now := a.cfg.Now()
	grant, err := a.guestGrant(ctx, state, now)
	if err != nil {
		return tokens, unavailable(err)
	}
	tokens.Grant = grant.ID
	claims := accessClaims{Scope: tokens.Scopes.String(), Guest: true}
	access := a.signAccess(ctx, &grant, claims, now, GuestTTL)
	tokens.Access, tokens.ExpiresIn = access.token, access.ttl
	return tokens, access.err
}

// guestGrant returns the grant of an account's guests, a new one if that which was is too old, or ended, or of a
// time before the account was last suspended.
func (a *Authority) guestGrant(ctx context.Context, s *account.State, now time.Time) (account.Grant, error) {
	if err := a.guests.one.Acquire(ctx, 1); err != nil {
		return account.Grant{}, err
	}
	defer a.guests.one.Release(1)
	known, ok := a.guests.grants[s.ID]
	if ok && known.ClientGeneration == s.Generation && known.Organization == s.Organization &&
		now.Add(GuestTTL).Before(known.ExpiresAt) {
		// Exchanges may have pushed it out of the store, as anybody's.
		switch _, err := a.live.Grant(ctx, known.ID); {
		case err == nil:
			return known, nil
		case !errors.Is(err, account.ErrNotFound):
			return account.Grant{}, err
		}
	}
	grant := account.Grant{
		ID: newID(grantPrefix, now),
		// Of a refresh token that nobody has.
		RefreshHash:   hashOf(newOpaque(refreshPrefix)),
		ClientAccount: s.ID, ServerAccount: s.ID, ClientGeneration: s.Generation, ServerGeneration: s.Generation,
		Organization: s.Organization, Scopes: s.Scopes, CreatedAt: now.UTC(), ExpiresAt: now.Add(guestGrantTTL).UTC(),
	}
	if _, err := a.live.AddGrant(ctx, grant, maxGrants); err != nil {
		return account.Grant{}, err
	}
	a.guests.grants[s.ID] = grant
	return grant, nil
}
