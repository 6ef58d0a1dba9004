package credential

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// accessClaims are the claims of an access token.
type accessClaims struct {
	Issuer     string    `json:"iss"`
	Audience   string    `json:"aud"` // one, never a list
	Subject    string    `json:"sub"`
	ClientID   string    `json:"client_id"`
	Server     string    `json:"srv,omitempty"`
	Generation [2]uint64 `json:"gen"` // of the client's and of the server's account
	Grant      string    `json:"grant"`
	Org        string    `json:"org"`
	Scope      string    `json:"scope"`
	Guest      bool      `json:"guest,omitempty"` // given to whoever asked (Guest): never an admin's
	IssuedAt   int64     `json:"iat"`
	NotBefore  int64     `json:"nbf,omitempty"` // this service writes none, but means it where it stands
	Expires    int64     `json:"exp"`
	ID         string    `json:"jti"`
}

// signedAccess is a new access token, or why there is none.
type signedAccess struct {
	token string
	ttl   time.Duration // whole seconds
	err   error
}

// newAccess makes an access token of a grant. It ends with the grant at the latest.
func (a *Authority) newAccess(ctx context.Context, g *account.Grant, scopes account.ScopeSet,
	now time.Time) signedAccess {
	return a.signAccess(ctx, g, accessClaims{Scope: scopes.String()}, now, a.cfg.AccessTTL)
}

// signAccess completes the claims of a token that is to live for ttl, at most the configured one, and signs them.
func (a *Authority) signAccess(ctx context.Context, g *account.Grant, claims accessClaims, now time.Time,
	ttl time.Duration) signedAccess {
	issued := now.Unix()
	expires := min(now.Add(min(ttl, a.cfg.AccessTTL)).Unix(), g.ExpiresAt.Unix())
	if expires <= issued {
		return signedAccess{err: refusedExpired}
	}
	claims = accessClaims{
		Issuer: a.cfg.Issuer, Audience: a.cfg.Audience, Subject: g.ClientAccount, ClientID: g.ClientAccount,
		Generation: [2]uint64{g.ClientGeneration, g.ServerGeneration},
		Grant:      g.ID, Org: g.Organization, Scope: claims.Scope, Guest: claims.Guest,
		IssuedAt: issued, Expires: expires, ID: newTokenID(),
	}
	if g.ServerAccount != g.ClientAccount {
		claims.Server = g.ServerAccount
	}
	key, err := a.signer(ctx, account.KeyAccess)
	if err != nil {
		return signedAccess{err: err}
	}
	token, err := key.sign(&claims)
	return signedAccess{token, time.Duration(expires-issued) * time.Second, err}
}

// VerifyAccess checks an access token. A token in the cache costs no I/O, no lock and no allocation.
func (a *Authority) VerifyAccess(ctx context.Context, token string) (id Identity, err error) {
	if known, ok := a.cache.get(token); ok {
		if err = a.judge(known, &id); err != errDoubt {
			return id, err
		}
	}
	return a.verifyUnknown(ctx, token)
}

// judge says whether a token whose signature was checked before is good at this moment, and fills in who stands behind
// it if it is.
func (a *Authority) judge(t *knownToken, id *Identity) error {
	now := a.cfg.Now().Unix()
	if now >= t.expires {
		return refusedExpired
	}
	client, server := t.client.State(), t.server.State()
	if !client.Active || !server.Active || client.Generation != t.clientGeneration ||
		server.Generation != t.serverGeneration {
		return refusalOf(client, server)
	}
	if a.live.Ended(t.grant) {
		return refusedGrant
	}
	if t.key.removed.Load() {
		return refusedKey
	}
	if t.organization.InDoubt() {
		return errDoubt
	}
	*id = Identity{
		Client:       client.ID,
		Server:       server.ID,
		Organization: client.Organization,
		Scopes:       t.scopes & client.Scopes & server.Scopes,
		Admin:        client.Admin && server.Admin && !t.guest,
		Bounds:       client.Bounds,
		Limits:       usage.Limits{Account: client.Limits, Organization: t.organization.Limits()},
		Counter:      t.counter,
		Unix:         now,
	}
	return nil
}

// refusalOf says why a token of these accounts is not good any more.
func refusalOf(client, server *account.State) error {
	for _, s := range []*account.State{client, server} {
		if s.InDoubt() {
			return errDoubt
		}
		if !s.Active {
			return inactive(s.Status)
		}
	}
	return refusedGeneration
}

// verifyUnknown checks a token that is not in the cache: form, key, signature, claims, then what the store knows.
func (a *Authority) verifyUnknown(ctx context.Context, token string) (Identity, error) {
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
		return Identity{}, err
	}
	known, err := a.knownFrom(token, &claims)
	if err != nil {
		return Identity{}, err
	}
	known.key = key
	rest := time.Duration(known.expires-a.cfg.Now().Unix()) * time.Second
	known.until = time.Now().Add(rest) // by this machine's monotonic clock, which is never set
	a.live.RememberEnded(rest)
	if err := a.checkGrant(ctx, &claims); err != nil {
		return Identity{}, err
	}
	if known.client, err = a.stateFor(ctx, claims.Subject, claims.Org); err != nil {
		return Identity{}, err
	}
	if known.server = known.client; claims.Server != "" {
		if known.server, err = a.stateFor(ctx, claims.Server, claims.Org); err != nil {
			return Identity{}, err
		}
	}
	if known.organization, err = a.live.Organization(ctx, claims.Org); err != nil {
		return Identity{}, unavailable(err)
	}
	var id Identity
	if err := a.judge(known, &id); err != nil {
		return id, err
	}
	if a.meter != nil { // after the token was found to be good: what cannot count is nothing to keep
		a.meter.KeptFor(rest)
		known.counter = a.meter.Counter(claims.Org, claims.Subject)
		id.Counter = known.counter
	}
	if ttl := time.Until(known.until); ttl > 0 {
		a.cache.add(known, ttl)
	}
	return id, nil
}

// ownKey returns the key of this service that a token names, if the token is of that key's algorithm.
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

// knownFrom checks the claims of a token whose signature is good.
func (a *Authority) knownFrom(token string, c *accessClaims) (*knownToken, error) {
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
	scopes, err := account.ParseScopeSet(c.Scope)
	if err != nil || c.Subject == "" || c.ClientID != c.Subject || c.Grant == "" || c.Org == "" || c.Server == c.Subject {
		return nil, refusedClaims
	}
	return &knownToken{
		// A copy: the caller's string may be a small part of a large one, such as a request's URL.
		token: strings.Clone(token), expires: c.Expires, grant: account.GrantRef(c.Grant), scopes: scopes, guest: c.Guest,
		clientGeneration: c.Generation[0], serverGeneration: c.Generation[1],
	}, nil
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

// checkGrant makes sure that the exchange behind a token has not been ended, and that the token ends with it.
func (a *Authority) checkGrant(ctx context.Context, c *accessClaims) error {
	g, err := a.live.Grant(ctx, c.Grant)
	switch {
	case errors.Is(err, account.ErrNotFound):
		return refusedGrant
	case err != nil:
		return unavailable(err)
	}
	server := c.Server
	if server == "" {
		server = c.Subject
	}
	if c.Expires > g.ExpiresAt.Unix() {
		return refusedLife
	}
	if g.ClientAccount != c.Subject || g.ServerAccount != server || g.Organization != c.Org {
		return refusedClaims
	}
	return nil
}

// stateFor returns the present state of an account behind a token.
func (a *Authority) stateFor(ctx context.Context, id, organization string) (*account.Current, error) {
	cur, err := a.live.Current(ctx, id)
	switch {
	case errors.Is(err, account.ErrNotFound):
		return nil, refusedRevoked
	case err != nil:
		return nil, unavailable(err)
	case cur.State().Organization != organization:
		return nil, refusedOrganization
	}
	return cur, nil
}

// UnmarshalJSON refuses claims that two readers could understand in two ways.
func (c *accessClaims) UnmarshalJSON(data []byte) error {
	if err := uniqueNames(data); err != nil {
		return err
	}
	type plain accessClaims
	return json.Unmarshal(data, (*plain)(c))
}

// The methods of jwt.Claims. The parser is told not to use them; knownFrom checks the claims.

func (c *accessClaims) GetExpirationTime() (*jwt.NumericDate, error) {
	return jwt.NewNumericDate(time.Unix(c.Expires, 0)), nil
}
func (c *accessClaims) GetIssuedAt() (*jwt.NumericDate, error) {
	return jwt.NewNumericDate(time.Unix(c.IssuedAt, 0)), nil
}
func (c *accessClaims) GetNotBefore() (*jwt.NumericDate, error) {
	return jwt.NewNumericDate(time.Unix(c.NotBefore, 0)), nil
}
func (c *accessClaims) GetIssuer() (string, error)  { return c.Issuer, nil }
func (c *accessClaims) GetSubject() (string, error) { return c.Subject, nil }
func (c *accessClaims) GetAudience() (jwt.ClaimStrings, error) {
	return jwt.ClaimStrings{c.Audience}, nil
}
