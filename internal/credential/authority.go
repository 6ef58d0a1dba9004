// Package credential makes and checks the tokens of the service: the opaque client, server and refresh tokens, the JWT
// access tokens that an exchange of the first two gives, and the user tokens that may manage accounts.
package credential

import (
	"context"
	"errors"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// Tokens is what an exchange or a refresh gives. Where one is refused, the fields that name the accounts and the
// grant are still filled as far as they became known, for the log.
type Tokens struct {
	Access    string
	Refresh   string        // empty where a refresh does not rotate
	ExpiresIn time.Duration // of Access, whole seconds
	Grant     string
	Client    string // id of the client token's account

	Server       string // id of the server token's account
	Organization string
	Scopes       account.ScopeSet
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
	Bounds *account.Bounds
	Limits usage.Limits
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
// the log alone. An error that matches none of these means that the store, or the issuer of a user token, could not
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
	live  *account.Live
	meter *usage.Meter
	keys  keys
	cache *tokenCache
	users map[string]*remoteIssuer // by exact iss

	guests guests

	deafen func() // ends the listening for news of keys
}

// New reads the signing keys from the store, making them on the first start. It asks no issuer of user tokens. meter is
// where tokens find the counters of their accounts; nil where nothing is counted.
func New(ctx context.Context, cfg Config, live *account.Live, meter *usage.Meter) (*Authority, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	elapsed := cfg.Now // for pauses and ages, which no correction of the store's clock may change
	if cfg.Now == nil {
		cfg.Now, elapsed = live.Now, time.Now
	}
	cache, err := newTokenCache(cacheBytes)
	if err != nil {
		return nil, err
	}
	a := &Authority{
		cfg: cfg, live: live, meter: meter, cache: cache, users: make(map[string]*remoteIssuer), guests: newGuests(),
	}
	for _, u := range cfg.Users {
		a.users[u.Issuer] = newRemoteIssuer(u, elapsed)
	}
	a.keys.changed = make(chan struct{}, 1)
	a.deafen = live.ListenForKeys(keyNews{&a.keys})
	if err := a.reload(ctx); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// JWKS is the set of public keys of access tokens (RFC 7517). The caller must not change it.
func (a *Authority) JWKS() []byte { return a.ring().jwks }

// CacheHits is the number of access tokens answered from the cache so far.
func (a *Authority) CacheHits() uint64 { return a.cache.hits.Load() }

// Close releases the cache. The store is not closed. Tokens can still be checked afterwards, only slower, and as long
// as no key changes.
func (a *Authority) Close() {
	a.deafen()
	a.cache.close()
}
