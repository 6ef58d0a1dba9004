package credential

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
)

// How a token is verified:
//
//   - The first time, its form, key, signature and claims are checked. Then its grant, its accounts and the quotas of
//     its organization are read from the store. The result (an Identity or a refusal) is cached with the revisions of
//     the organization and of the signing keys from before the store was read.
//   - The next time, if the revisions are the same, nothing has changed, and the cached result is returned.
//   - A publishable key is read from the store instead, with its account. Unknown ones are not cached.
//   - If a revision is higher, the store is read again. A change raises the revision before its call returns, so a
//     suspended account is refused with the next request on this server, and within a second on others.

// accessClaims are the claims of an access token.
type accessClaims struct {
	jwt.RegisteredClaims `json:"-"` // only for the interface jwt.Claims: checkClaims reads the fields below

	Issuer     string    `json:"iss"`
	Audience   string    `json:"aud"` // one, never a list
	Subject    string    `json:"sub"`
	ClientID   string    `json:"client_id"`
	Server     string    `json:"srv,omitempty"`
	Generation [2]uint64 `json:"gen"`             // of the client's and of the server's account
	Grant      string    `json:"grant,omitempty"` // empty for guests
	Org        string    `json:"org"`
	Scope      string    `json:"scope"`
	Guest      bool      `json:"guest,omitempty"` // of an anonymous visitor, who is never an administrator
	IssuedAt   int64     `json:"iat"`
	NotBefore  int64     `json:"nbf,omitempty"`
	Expires    int64     `json:"exp"`
	ID         string    `json:"jti"`
}

// newAccess makes an access token of a grant. Tokens of guests have a grant without an id, which is not stored. ttl is
// in whole seconds; the token expires with the grant at the latest.
func (a *Authority) newAccess(ctx context.Context, g *account.Grant, scopes account.ScopeSet,
	now time.Time) (token string, ttl time.Duration, err error) {
	issued, expires := now.Unix(), min(now.Add(a.cfg.AccessTTL).Unix(), g.ExpiresAt.Unix())
	if expires <= issued {
		return "", 0, refusedExpired
	}
	key, err := a.signer(ctx, account.KeyAccess)
	if err != nil {
		return "", 0, err
	}
	claims := accessClaims{Issuer: a.cfg.Issuer, Audience: a.cfg.Audience, Subject: g.ClientAccount,
		ClientID: g.ClientAccount, Generation: [2]uint64{g.ClientGeneration, g.ServerGeneration}, Grant: g.ID,
		Org: g.Organization, Scope: scopes.String(), Guest: g.ID == "", IssuedAt: issued, Expires: expires, ID: newTokenID()}
	if g.ServerAccount != g.ClientAccount {
		claims.Server = g.ServerAccount
	}
	token, err = key.sign(&claims)
	return token, time.Duration(expires-issued) * time.Second, err
}

// knownToken is an access token whose signature was verified, or a publishable key. It is immutable.
type knownToken struct {
	token   string
	key     string        // kid; empty for a publishable key
	expires int64         // Unix seconds
	grant   account.Grant // from the claims, without times; that of guests has no id; empty for a publishable key

	// The result from the store at these revisions: an identity or a refusal.
	revision     *atomic.Uint64 // of the organization
	number, keys uint64
	identity     Identity
	refused      error
}

// VerifyAccess verifies an access token or a publishable key. A cached one needs neither I/O nor a lock.
func (a *Authority) VerifyAccess(ctx context.Context, token string) (Identity, error) {
	known, ok := a.cache.get(token)
	if !ok {
		var err error
		if strings.HasPrefix(token, publishablePrefix) {
			known, err = a.findPublishable(ctx, token)
		} else {
			known, err = a.verifySigned(ctx, token)
		}
		if err != nil {
			return Identity{}, err
		}
	}
	if !ok || known.revision.Load() != known.number || a.store.KeysRevision().Load() != known.keys {
		assessed, err := a.assess(ctx, *known)
		if err != nil {
			return Identity{}, err
		}
		a.cache.add(assessed, time.Duration(min(assessed.expires-a.cfg.Now().Unix(), seconds(maxCached)))*time.Second)
		known = assessed
	}
	now := a.cfg.Now().Unix()
	switch {
	case now >= known.expires:
		return Identity{}, refusedExpired
	case known.refused != nil:
		return Identity{}, known.refused
	}
	id := known.identity
	id.Unix = now
	return id, nil
}

// maxCached is how long the cache keeps a token at most: access tokens until they expire.
const maxCached = MaxAccessTTL + maxSkew

// verifySigned checks everything that needs no data of the store except the key.
func (a *Authority) verifySigned(ctx context.Context, token string) (*knownToken, error) {
	var claims accessClaims
	var key *signingKey
	err := parseSigned(token, &claims, func(t *jwt.Token) (_ any, err error) {
		if headerText(t, "typ") != accessType {
			return nil, refusedType
		}
		if claims.Issuer != a.cfg.Issuer {
			return nil, refusedIssuer
		}
		if key, err = a.ownKey(ctx, account.KeyAccess, t); err != nil {
			return nil, err
		}
		return key.public, nil
	})
	if err != nil {
		return nil, err
	}
	known, err := a.checkClaims(&claims)
	if err != nil {
		return nil, err
	}
	known.token = strings.Clone(token) // which may be a small part of a large string, such as a URL
	known.key = key.id
	known.revision = a.store.Revision(known.grant.Organization)
	return known, nil
}

// ownKey returns the key of this service that a token names, if the token has the algorithm of that key.
func (a *Authority) ownKey(ctx context.Context, use account.KeyUse, t *jwt.Token) (*signingKey, error) {
	key, err := a.findKey(ctx, use, headerText(t, "kid"))
	if err != nil {
		return nil, err
	}
	if t.Method.Alg() != key.method.Alg() {
		return nil, refusedAlgorithm
	}
	return key, nil
}

// checkClaims checks the claims of a token with a valid signature.
func (a *Authority) checkClaims(c *accessClaims) (*knownToken, error) {
	if c.Audience != a.cfg.Audience {
		return nil, refusedAudience
	}
	switch now := a.cfg.Now().Unix(); {
	case now >= c.Expires:
		return nil, refusedExpired
	case c.Expires > c.IssuedAt+seconds(MaxAccessTTL):
		return nil, refusedLife
	case now < c.NotBefore, now < c.IssuedAt-seconds(maxSkew):
		return nil, refusedNotYet
	}
	if c.Subject == "" || c.ClientID != c.Subject || c.Org == "" || c.Server == c.Subject ||
		(c.Grant == "") != c.Guest || c.Guest && c.Server != "" {
		return nil, refusedClaims
	}
	return &knownToken{expires: c.Expires, grant: account.Grant{ID: c.Grant, Organization: c.Org,
		ClientAccount: c.Subject, ServerAccount: cmp.Or(c.Server, c.Subject), ClientGeneration: c.Generation[0],
		ServerGeneration: c.Generation[1], Scopes: account.ParseScopeSet(c.Scope)}}, nil
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

// assess returns the token with the current result from the store. The error means that the store is unavailable.
func (a *Authority) assess(ctx context.Context, t knownToken) (*knownToken, error) {
	t.number, t.keys = t.revision.Load(), a.store.KeysRevision().Load() // before the store is read
	t.identity, t.refused = Identity{}, nil
	id, err := a.identify(ctx, &t)
	switch {
	case err == nil:
		t.identity = id
		return &t, nil
	case errors.Is(err, ErrInvalid):
		t.refused = err
		return &t, nil
	}
	return nil, err
}

// identify reads the accounts of a token and their rights from the store.
func (a *Authority) identify(ctx context.Context, t *knownToken) (Identity, error) {
	if t.key == "" {
		return a.identifyPublishable(ctx, t)
	}
	if _, err := a.findKey(ctx, account.KeyAccess, t.key); err != nil {
		return Identity{}, err
	}
	g := &t.grant
	guest := g.ID == ""
	if !guest {
		if err := a.checkGrant(ctx, t); err != nil {
			return Identity{}, err
		}
	}
	client, server, err := a.accounts(ctx, g)
	if err != nil {
		return Identity{}, err
	}
	id, err := a.rights(ctx, &client)
	id.Server = server.ID
	id.Scopes &= g.Scopes & server.Scopes.Set()
	id.Admin = id.Admin && server.IsAdmin && !guest
	return id, err
}

// rights returns the identity of one ACTIVE account.
func (a *Authority) rights(ctx context.Context, acc *account.Account) (Identity, error) {
	quotas, err := a.store.OrganizationQuotas(ctx, acc.OrganizationID)
	if err != nil {
		return Identity{}, unavailable(err)
	}
	// Settings of a newer version must not be ignored: they may restrict the token.
	restrictions, err := acc.Restrictions.Compile()
	if err != nil || account.CheckQuotas(acc.Quotas) != nil || account.CheckQuotas(quotas) != nil {
		return Identity{}, unavailable(errors.New("an account or its organization has settings of a newer version"))
	}
	id := Identity{
		Client:       acc.ID,
		Server:       acc.ID,
		Organization: acc.OrganizationID,
		Scopes:       a.scopesOf(acc),
		Admin:        acc.IsAdmin,
		Restrictions: restrictions,
		Limits:       usage.Limits{Account: account.NewLimits(acc.Quotas), Organization: account.NewLimits(quotas)},
	}
	if a.meter != nil {
		id.Counter = a.meter.Counter(acc.OrganizationID, acc.ID)
	}
	return id, nil
}

// scopesOf returns the scopes of an account that are declared.
func (a *Authority) scopesOf(acc *account.Account) account.ScopeSet {
	return acc.Scopes.Set() & (account.ServiceScopes | a.cfg.OwnScopes)
}

// checkGrant checks that the grant of a token exists, and that the token does not outlive it.
func (a *Authority) checkGrant(ctx context.Context, t *knownToken) error {
	g, err := a.store.Grant(ctx, t.grant.ID)
	switch {
	case err != nil:
		return found(err, refusedGrant)
	case t.expires > g.ExpiresAt.Unix():
		return refusedLife
	case g.ClientAccount != t.grant.ClientAccount || g.ServerAccount != t.grant.ServerAccount ||
		g.Organization != t.grant.Organization:
		return refusedClaims
	}
	return nil
}

// accounts returns the two accounts of a grant if both have been ACTIVE since the exchange.
func (a *Authority) accounts(ctx context.Context, g *account.Grant) (client, server account.Account, err error) {
	client, err = a.active(ctx, g.ClientAccount, g.Organization, g.ClientGeneration)
	if err != nil || g.ServerAccount == g.ClientAccount {
		return client, client, err
	}
	server, err = a.active(ctx, g.ServerAccount, g.Organization, g.ServerGeneration)
	return client, server, err
}

// active returns an account if it is ACTIVE and still has the given generation.
func (a *Authority) active(ctx context.Context, id, organization string, generation uint64) (account.Account, error) {
	acc, err := a.activeNow(ctx, id)
	switch {
	case err != nil:
		return acc, err
	case acc.OrganizationID != organization:
		return acc, refusedOrganization
	case acc.Generation != generation:
		return acc, refusedGeneration
	}
	return acc, nil
}

// activeNow returns an account if it is ACTIVE.
func (a *Authority) activeNow(ctx context.Context, id string) (account.Account, error) {
	acc, err := a.store.Account(ctx, id)
	switch {
	case err != nil:
		return acc, found(err, refusedRevoked)
	case acc.Status != account.StatusActive:
		return acc, inactive(acc.Status)
	}
	return acc, nil
}
