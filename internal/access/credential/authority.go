// Package credential makes and verifies the tokens of the service: opaque client, server and refresh tokens,
// publishable keys, JWT access tokens, and user tokens, which manage accounts. It also rotates the signing keys.
//
// It does not know HTTP: modules read tokens from requests and turn errors into answers. An error that matches
// ErrInvalid is a refusal; any other one means that the store, or the issuer of a user token, is unavailable.
//
// Start with Authority, and with access.go for how an access token is verified.
package credential

import (
	"context"
	"errors"
	"time"

	"golang.org/x/time/rate"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
)

// Tokens is the result of an exchange or a refresh. If that is refused, the ids that are known are set, for the log.
type Tokens struct {
	Access    string
	Refresh   string
	ExpiresIn time.Duration // of Access, whole seconds
	Grant     string
	Client    string // id of the client token's account

	Server       string // id of the server token's account
	Organization string
	Scopes       account.ScopeSet
	// Ended is the number of older grants of the same accounts that an exchange has ended because of MaxGrants.
	Ended int
}

// RefreshOptions are optional restrictions of refreshes.
type RefreshOptions struct {
	RequireServerToken bool
	Rotate             bool
	// Client and Server are a client and a server token of the grant's accounts; "" is not checked unless required.
	Client, Server string
	// Scopes are those of the new access token; the empty set is for all of the grant.
	Scopes account.ScopeSet
}

// Identity is the result of verifying an access token or a publishable key: its accounts and their rights at this
// moment.
type Identity struct {
	Client       string // id of the client token's account, or of the key's
	Server       string // id of the server token's account; the same as Client when both tokens are of one account
	Organization string
	Scopes       account.ScopeSet // of the token; both accounts still have them
	Admin        bool             // both accounts have isAdmin; never for a key

	// PublishableKey is the key (mpk_…), which is no secret; empty for an access token.
	PublishableKey string

	// Restrictions are those of the client token's account, and the origins of the key; nil for none. Limits are the
	// quotas of the account and of its organization.
	Restrictions *account.CompiledRestrictions
	Limits       usage.Limits
	// Counter counts for the client token's account; nil if nothing is counted.
	Counter *usage.Counter
	// Unix is the time of the verification by the store's clock, in seconds.
	Unix int64
}

// User is the result of verifying a user token.
type User struct {
	Subject      string
	Organization string
	Issuer       string
	ID           string // jti
}

// Errors. An error that matches none of them means that the store, or the issuer of a user token, is unavailable.
var (
	// ErrInvalid matches all errors of tokens that are refused. Their texts are the reasons, for the log only.
	ErrInvalid = errors.New("invalid token")
	// ErrNoScope means that the two accounts of an exchange have no scope in common, or lack one that was asked for.
	ErrNoScope = errors.New("no scope in common")
	// ErrHolder means that a refresh lacks the client or server token of its grant's accounts. It matches ErrInvalid, too.
	ErrHolder error = refusedHolder
	// ErrReused means that a refresh token was used again after its rotation. Its grant has been ended. It matches
	// ErrInvalid, too.
	ErrReused error = newRefusal("refresh token used again after rotation")
)

// Authority makes and verifies tokens. It is safe for concurrent use, and lives as long as its store: configurations
// with the same store and Config share it, with its keys and its cache.
type Authority struct {
	cfg   Config
	store account.Store
	meter *usage.Meter
	keys  keys
	cache *tokenCache
	users map[string]*remoteIssuer // by exact iss
	stop  context.CancelFunc       // stops refreshing their keys
}

// New reads the signing keys from the store, and makes them on the first start. It sends no requests to issuers of user
// tokens. meter has the counters of accounts; nil counts nothing.
func New(ctx context.Context, cfg Config, store account.Store, meter *usage.Meter) (*Authority, error) {
	if cfg.Now == nil {
		cfg.Now = store.Now
	}
	a := &Authority{cfg: cfg, store: store, meter: meter, users: make(map[string]*remoteIssuer)}
	a.keys.unknown = rate.NewLimiter(rate.Every(lookupPause), 1)
	if err := a.prepareKeys(ctx); err != nil {
		return nil, err
	}
	if _, err := a.load(ctx); err != nil {
		return nil, err
	}
	var err error
	if a.cache, err = newTokenCache(cacheBytes); err != nil {
		return nil, err
	}
	var refreshing context.Context
	refreshing, a.stop = context.WithCancel(context.Background())
	for _, u := range cfg.Users {
		a.users[u.Issuer] = newRemoteIssuer(refreshing, u)
	}
	return a, nil
}

// JWKS is the set of public keys of access tokens (RFC 7517). The caller must not change it.
func (a *Authority) JWKS(ctx context.Context) ([]byte, error) {
	ring, err := a.ring(ctx)
	if err != nil {
		return nil, err
	}
	return ring.jwks, nil
}

// CacheHits is the number of access tokens and publishable keys answered from the cache so far.
func (a *Authority) CacheHits() uint64 { return a.cache.hits.Load() }

// Close releases the cache, and stops refreshing other issuers' keys. It does not close the store. Tokens can still be
// verified afterwards, but slower.
func (a *Authority) Close() {
	a.stop()
	a.cache.close()
}
