// Package account holds the service accounts of the platform: what an account, its grants and its quotas are, which
// changes of an account are allowed, and what a Store of them does.
package account

import (
	"errors"
	"time"
)

// Platform says what kind of application an account belongs to.
type Platform string

// The platforms of the service.
const (
	PlatformWeb     Platform = "WEB"
	PlatformAndroid Platform = "ANDROID"
	PlatformIOS     Platform = "IOS"
	PlatformDesktop Platform = "DESKTOP"
)

// Valid reports whether the platform is one of the service's.
func (p Platform) Valid() bool {
	switch p {
	case PlatformWeb, PlatformAndroid, PlatformIOS, PlatformDesktop:
		return true
	}
	return false
}

// Status says whether an account's tokens can be used.
type Status string

// ACTIVE and SUSPENDED go both ways, both go to REVOKED, and REVOKED is final.
const (
	StatusActive    Status = "ACTIVE"
	StatusSuspended Status = "SUSPENDED"
	StatusRevoked   Status = "REVOKED"
)

// Valid reports whether the status is one of the service's.
func (s Status) Valid() bool {
	switch s {
	case StatusActive, StatusSuspended, StatusRevoked:
		return true
	}
	return false
}

// Final reports whether nothing of an account in this status may be changed any more.
func (s Status) Final() bool { return s == StatusRevoked }

// Hash is the SHA-256 of an opaque token: all that is kept of it.
type Hash [32]byte

// Account is one service account.
type Account struct {
	ID             string    `json:"id"` // sa_…, sorts by time of creation
	OrganizationID string    `json:"organizationId"`
	Platform       Platform  `json:"platform"`
	IsAdmin        bool      `json:"isAdmin"`
	Description    string    `json:"description"`
	Scopes         Scopes    `json:"scopes"`
	Status         Status    `json:"status"`
	CreatedBy      string    `json:"createdBy"` // "user:<sub>" or an account's id
	ClientHint     string    `json:"clientTokenHint"`
	ServerHint     string    `json:"serverTokenHint"`
	CreatedAt      time.Time `json:"createdAt"` // UTC
	UpdatedAt      time.Time `json:"updatedAt"` // UTC
	// Quotas are how much may be used with the client token's access tokens.
	Quotas Quotas `json:"quotas"`
	// Restrictions are from where these tokens may be used.
	Restrictions Restrictions `json:"restrictions"`

	// ClientHash and ServerHash find the account by a token that is presented.
	ClientHash Hash `json:"-"`
	ServerHash Hash `json:"-"`
	// Generation is raised whenever the account leaves ACTIVE. A token carries the generations it was made under, so
	// that making the account ACTIVE again revives none of them.
	Generation uint64 `json:"-"`
	// Holds are what users decided about the account, which service accounts may not undo.
	Holds Holds `json:"-"`
}

// TokenKind tells an account's two long-lived tokens apart.
type TokenKind uint8

// The two long-lived tokens of an account.
const (
	ClientToken TokenKind = iota
	ServerToken
)

// Grant is one exchange: every access token of the exchange names it, and its refresh tokens give further ones.
type Grant struct {
	ID               string // the `grant` claim of access tokens; sorts by time of creation
	Organization     string
	ClientAccount    string
	ServerAccount    string // the same as ClientAccount if both tokens belong to one account
	ClientGeneration uint64
	ServerGeneration uint64
	Scopes           ScopeSet // what the exchange gave; a refresh never gives more
	CreatedAt        time.Time
	ExpiresAt        time.Time
}

// Key is one signing key as the store keeps it.
type Key struct {
	ID        string // kid
	Use       KeyUse
	Algorithm string // JWS name: EdDSA or ES256
	// Private is the PKCS #8 form, sealed with AES-256-GCM where Sealed is set (by the key encryption key).
	Private   []byte
	Sealed    bool
	CreatedAt time.Time
}

// KeyUse says what a key signs. User tokens have keys of their own, which are not published.
type KeyUse string

// The uses of signing keys.
const (
	KeyAccess KeyUse = "access"
	KeyUser   KeyUse = "user"
)

// Errors of a Store. Any other error means that the store is unavailable.
var (
	ErrNotFound = errors.New("not found")
	// ErrExists: the store already holds an account with this id or token hash.
	ErrExists = errors.New("already exists")
	// ErrLimit: the organization has as many accounts as it may have.
	ErrLimit = errors.New("the organization has too many service accounts")
	// ErrReused: the refresh token was used before, longer ago than a retry may take.
	ErrReused = errors.New("refresh token was used before")
	// ErrDamaged is matched by the error of a store whose file is damaged. To clients the store is unavailable.
	ErrDamaged = errors.New("the store is damaged")
)

// IsUnavailable reports whether an error of a Store means that the store could not answer.
func IsUnavailable(err error) bool {
	return err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrExists) && !errors.Is(err, ErrLimit) &&
		!errors.Is(err, ErrReused)
}
