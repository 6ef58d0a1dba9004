package credential

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"time"

	"github.com/mapsedge/caddy-maps/internal/base/text"
)

// Config is what an Authority needs to know. It is not checked: package modules/app does that, with the names of its
// options.
type Config struct {
	Issuer     string        // iss of access tokens
	Audience   string        // aud of access tokens; local user tokens have Audience + ":accounts"
	Algorithm  string        // EdDSA or ES256, for new keys and new tokens
	AccessTTL  time.Duration // life of an access token, from a second to MaxAccessTTL; it never outlives its grant
	RefreshTTL time.Duration // life of a grant, from the exchange, never extended
	// KeyEncryptionKey seals private keys in the store with AES-256-GCM; nil keeps them in clear. 32 bytes.
	KeyEncryptionKey []byte
	// KeyRotation is the age at which a signing key is followed by another; 0 leaves that to Rotate.
	KeyRotation time.Duration
	// MaxGrants is how many grants a pair of accounts may have at once; positive.
	MaxGrants int
	// NoLocalUsers refuses user tokens that this service minted itself.
	NoLocalUsers bool
	// Users verifies user tokens of other issuers, by exact iss.
	Users []UserIssuer
	// Now is the clock; nil is that of the store.
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

// remoteAlgorithms are the asymmetric ones that a user issuer's tokens may be pinned to.
var remoteAlgorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512",
	"EdDSA"}

// CheckAlgorithms finds an algorithm that is not among those that other issuers may use.
func (u UserIssuer) CheckAlgorithms() error {
	for _, alg := range u.Algorithms {
		if !slices.Contains(remoteAlgorithms, alg) {
			return fmt.Errorf("%q is not known; %s", alg, text.DidYouMean(alg, remoteAlgorithms))
		}
	}
	return nil
}

// CheckJWKSURL finds what is wrong with the address of the keys.
func (u UserIssuer) CheckJWKSURL() error {
	where, err := url.Parse(u.JWKSURL)
	switch {
	case err != nil || where.Host == "" || where.Scheme != "https" && where.Scheme != "http":
		return errors.New("is not an http or https URL")
	case !SafeURL(where):
		return errors.New("must be https, except on loopback: without it, the keys could be replaced on their way")
	}
	return nil
}

// SafeURL reports whether nobody can change or read on its way what comes from a URL or goes to it: it is https, or
// http on loopback.
func SafeURL(where *url.URL) bool {
	host := where.Hostname()
	return where.Scheme == "https" || where.Scheme == "http" && (host == "localhost" || net.ParseIP(host).IsLoopback())
}

// MaxAccessTTL and MaxUserTTL are the longest lives of an access token and of a local user token. Longer-lived tokens
// are refused even if they are correctly signed.
const (
	MaxAccessTTL = 24 * time.Hour
	MaxUserTTL   = 24 * time.Hour
)

// maxSkew is how far in the future a token may have been made: the clock may have been set back since.
const maxSkew = 5 * time.Minute

// MinKeyRotation is the shortest age at which signing keys may be rotated by themselves. Keys of user tokens are kept
// for a day after that, so it bounds how many there are.
const MinKeyRotation = time.Hour

// DefaultMaxGrants is how many grants a pair of accounts may have at once unless the configuration says otherwise.
const DefaultMaxGrants = 100_000
