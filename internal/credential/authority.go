// Package credential makes and checks the tokens of the service: the opaque client, server and refresh tokens, the JWT
// access tokens that an exchange of the first two gives, and the user tokens that may manage accounts.
package credential

import (
	"context"
	"errors"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// Config is what an Authority needs to know. Durations are positive.
type Config struct {
	Issuer     string        // iss of access tokens
	Audience   string        // aud of access tokens; local user tokens have Audience + ":accounts"
	Algorithm  string        // EdDSA or ES256, for new keys and new tokens
	AccessTTL  time.Duration // life of an access token
	RefreshTTL time.Duration // life of a grant, from the exchange, never extended
	// KeyEncryptionKey seals private keys in the store with AES-256-GCM; nil keeps them in clear. 32 bytes.
	KeyEncryptionKey []byte
	// NoLocalUsers refuses user tokens that this service minted itself.
	NoLocalUsers bool
	// Users verifies user tokens of other issuers, by exact iss.
	Users []UserIssuer
	// Now is the clock; nil is time.Now.
	Now func() time.Time
}

// UserIssuer is an OpenID Connect issuer (or any publisher of a JWKS) whose tokens may manage accounts.
type UserIssuer struct {
	Issuer            string
	Audience          string
	JWKSURL           string   // fetched at the first token, not at start
	Algorithms        []string // JWS names; never HS*
	OrganizationClaim string
	RequireClaim      string // empty: any user of the issuer
	RequireValue      string
}

// Tokens is what an exchange or a refresh gives.
type Tokens struct {
	Access    string
	Refresh   string        // empty where a refresh does not rotate
	ExpiresIn time.Duration // of Access
	Grant     string
	Client    string // id of the client token's account
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
}

// User is who stands behind a verified user token.
type User struct {
	Subject      string
	Organization string
	Issuer       string
	ID           string // jti
}

// Errors. A token is refused with an error that matches ErrInvalid (errors.Is), whose text is the true reason, for the log
// alone. An error that matches none of these means that the store, or the issuer of a user token, could not be asked.
var (
	ErrInvalid = errors.New("invalid token")
	// ErrNoScope: the two accounts of an exchange have no scope in common.
	ErrNoScope = errors.New("no scope in common")
	// ErrReused: a refresh token that was rotated came again; its grant has been ended.
	ErrReused = errors.New("refresh token used again after rotation")
)

// Authority makes and checks tokens. It is safe for use by any number of goroutines, and lives as long as its store:
// configurations that share a store and a Config share it, with its keys and its cache.
type Authority struct{}

// New reads the signing keys from the store, making them on the first start.
func New(ctx context.Context, cfg Config, live *account.Live) (*Authority, error) { panic("unwritten") }

// Exchange trades a client and a server token for an access and a refresh token. Both accounts must be active and of one
// organization. ErrInvalid or ErrNoScope; the time it takes does not tell which of the two tokens was wrong.
func (a *Authority) Exchange(ctx context.Context, client, server string) (Tokens, error) {
	panic("unwritten")
}

// Refresh makes a new access token of a grant. server is looked at only where opts require it.
func (a *Authority) Refresh(ctx context.Context, refresh, server string, opts RefreshOptions) (Tokens, error) {
	panic("unwritten")
}

// Revoke ends the grant of a refresh token. A token that is unknown or malformed is no error.
func (a *Authority) Revoke(ctx context.Context, refresh string) error { panic("unwritten") }

// JWKS is the set of public keys of access tokens (RFC 7517).
func (a *Authority) JWKS() []byte { panic("unwritten") }

// VerifyAccess checks an access token. A token in the cache costs no I/O, no lock and no allocation.
func (a *Authority) VerifyAccess(ctx context.Context, token string) (Identity, error) {
	panic("unwritten")
}

// VerifyUser checks a user token, local or of one of the configured issuers.
func (a *Authority) VerifyUser(ctx context.Context, token string) (User, error) { panic("unwritten") }

// MintUser makes a local user token. ttl is at most MaxUserTTL.
func (a *Authority) MintUser(organization, subject string, ttl time.Duration) (token string, u User, expires time.Time, err error) {
	panic("unwritten")
}

// MaxUserTTL is the longest life of a local user token.
const MaxUserTTL = 24 * time.Hour

// CacheHits is the number of access tokens answered from the cache so far.
func (a *Authority) CacheHits() uint64 { panic("unwritten") }

// NewAccountTokens makes an account's two long-lived tokens, and fills in the account's hashes and hints.
func NewAccountTokens(acc *account.Account) (client, server string, err error) { panic("unwritten") }

// NewAccountID makes an id (sa_…) that sorts by time of creation.
func NewAccountID(now time.Time) string { panic("unwritten") }

// Kind tells what a string looks like ("access", "user", "opaque", ""), by its form alone.
// Close releases the cache. The store is not closed.
func (a *Authority) Close() { panic("unwritten") }
