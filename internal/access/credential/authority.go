// Package credential makes and checks the tokens of the service: the opaque client, server and refresh tokens, the JWT
// access tokens that an exchange of the first two gives, and the user tokens that may manage accounts.
package credential

import (
	"context"
	"errors"
	"time"

	"golang.org/x/time/rate"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/access/usage"
)

// Tokens is what an exchange or a refresh gives. Where one is refused, the fields that name the accounts and the
// grant are still filled as far as they became known, for the log.
type Tokens struct {
	Access    string
	Refresh   string
	ExpiresIn time.Duration // of Access, whole seconds
	Grant     string
	Client    string // id of the client token's account

	Server       string // id of the server token's account
	Organization string
	Scopes       account.ScopeSet
	// Ended is how many older grants of the same accounts an exchange has ended, because there were too many.
	Ended int
}

// RefreshOptions are the two hardenings of a refresh that an operator may switch on.
type RefreshOptions struct {
	RequireServerToken bool
	Rotate             bool
}

// Identity is who stands behind a verified access token, as of this request.
type Identity struct {
	Client       string // id of the client token's account
	Server       string // id of the server token's account; the same as Client when both tokens are of one account
	Organization string
	Scopes       account.ScopeSet // those of the token that both accounts still have
	Admin        bool             // every account behind the token has isAdmin

	// Bounds are from where the token may be used; nil for anywhere. It is the client token's account that says so, whose
	// quotas Limits are as well, with those of its organization.
	Restrictions *account.CompiledRestrictions
	Limits       usage.Limits
	// Counter counts for the client token's account; nil where nothing is counted.
	Counter *usage.Counter
	// Unix is the time of the check, in seconds, by the store's clock.
	Unix int64
}

// User is who stands behind a verified user token.
type User struct {
	Subject      string
	Organization string
	Issuer       string
	ID           string // jti
}

// Errors. A token is refused with an error that matches ErrInvalid (errors.Is), whose text is the true reason, for
// the log. An error that matches none of these means that the store, or the issuer of a user token, could not
// be asked.
var (
	ErrInvalid = errors.New("invalid token")
	// ErrNoScope: the two accounts of an exchange have no scope in common.
	ErrNoScope = errors.New("no scope in common")
	// ErrReused: a refresh token that was rotated came again; its grant has been ended. It matches ErrInvalid, too.
	ErrReused error = newRefusal("refresh token used again after rotation")
)

// Authority makes and checks tokens. It is safe for use by any number of goroutines, and lives as long as its store:
// configurations that share a store and a Config share it, with its keys and its cache.
type Authority struct {
	cfg   Config
	store account.Store
	meter *usage.Meter
	keys  keys
	cache *tokenCache
	users map[string]*remoteIssuer // by exact iss
	stop  context.CancelFunc       // ends the refreshing of their keys
}

// New reads the signing keys from the store, making them on the first start. It asks no issuer of user tokens. meter is
// where tokens find the counters of their accounts; nil counts nothing.
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

// CacheHits is the number of access tokens answered from the cache so far.
func (a *Authority) CacheHits() uint64 { return a.cache.hits.Load() }

// Close releases the cache, and ends the refreshing of other issuers' keys. The store is not closed. Tokens can still
// be checked afterwards, only slower.
func (a *Authority) Close() {
	a.stop()
	a.cache.close()
}
