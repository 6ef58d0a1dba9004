package credential

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
	"github.com/mapsedge/caddy-maps/internal/base/text"
)

// Config configures an Authority. The app checks it, with the names of its options.
type Config struct {
	Issuer     string        // iss of access tokens
	Audience   string        // aud of access tokens; local user tokens have Audience + ":accounts"
	Algorithm  string        // EdDSA or ES256, for new keys and new tokens
	AccessTTL  time.Duration // lifetime of access tokens, from 1 s to MaxAccessTTL; they never outlive their grant
	RefreshTTL time.Duration // lifetime of grants, from the exchange; refreshes do not extend it
	// KeyEncryptionKey (32 bytes) encrypts private keys in the store with AES-256-GCM; nil keeps them in clear.
	KeyEncryptionKey []byte
	// KeyRotation is the age at which Maintain rotates a signing key; 0 for never.
	KeyRotation time.Duration
	// MaxGrants is the maximum number of grants of a pair of accounts. It is positive.
	MaxGrants int
	// OwnScopes are the scopes that tokens can have beside account.ServiceScopes.
	OwnScopes account.ScopeSet
	// NoLocalUsers refuses user tokens that this service minted.
	NoLocalUsers bool
	// Users are the other issuers of user tokens.
	Users []UserIssuer
	// Now is the clock; nil is that of the store.
	Now func() time.Time
}

// UserIssuer is an OpenID Connect issuer (or any publisher of a JWKS) whose tokens can manage accounts.
type UserIssuer struct {
	Issuer            string
	Audience          string
	JWKSURL           string   // fetched when the first token arrives
	Algorithms        []string // JWS names; never HS*
	OrganizationClaim string
	RequireClaim      string // empty: any user of the issuer
	RequireValue      string
}

// remoteAlgorithms are the algorithms that other issuers may use. All are asymmetric.
var remoteAlgorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512",
	"EdDSA"}

// CheckAlgorithms returns an error for an algorithm that other issuers may not use.
func (u UserIssuer) CheckAlgorithms() error {
	for _, alg := range u.Algorithms {
		if !slices.Contains(remoteAlgorithms, alg) {
			return fmt.Errorf("%q is not known; %s", alg, text.DidYouMean(alg, remoteAlgorithms))
		}
	}
	return nil
}

// CheckJWKSURL returns an error for a URL that keys cannot be fetched from safely.
func (u UserIssuer) CheckJWKSURL() error {
	where, err := url.Parse(u.JWKSURL)
	switch {
	case err != nil || where.Host == "" || where.Scheme != "https" && where.Scheme != "http":
		return errors.New("is not an http or https URL")
	case !SafeURL(where):
		return errors.New("must be https, except on loopback: over http, an attacker could replace the keys")
	}
	return nil
}

// SafeURL reports whether the network cannot read or change requests to a URL: it is https, or http on loopback.
func SafeURL(where *url.URL) bool {
	host := where.Hostname()
	return where.Scheme == "https" || where.Scheme == "http" && (host == "localhost" || net.ParseIP(host).IsLoopback())
}

// MaxAccessTTL and MaxUserTTL are the longest lifetimes of access tokens and of local user tokens. Longer-lived tokens
// are refused even if they are correctly signed.
const (
	MaxAccessTTL = 24 * time.Hour
	MaxUserTTL   = 24 * time.Hour
)

// maxSkew is how far in the future the iat of a token may be, since the clock may have been set back.
const maxSkew = 5 * time.Minute

// MinKeyRotation is the shortest KeyRotation. It bounds the number of keys, since those of user tokens are kept for a
// day after their rotation.
const MinKeyRotation = time.Hour

// DefaultMaxGrants is the default of Config.MaxGrants.
const DefaultMaxGrants = 100_000
