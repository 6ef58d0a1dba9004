// Package account defines service accounts, their publishable keys, grants, quotas and restrictions, signing keys, the
// rules for changing an account, and the interface Store, which keeps all of these.
//
// It stores and checks nothing itself: package store implements Store, package credential makes and verifies tokens,
// and package usage counts requests against quotas. Start with Account, and with store.go for the interface.
package account

import (
	"errors"
	"time"
)

// Platform is a label: the kind of application that an account belongs to.
type Platform string

// The platforms of the service.
const (
	PlatformWeb     Platform = "WEB"
	PlatformAndroid Platform = "ANDROID"
	PlatformIOS     Platform = "IOS"
	PlatformDesktop Platform = "DESKTOP"
)

// Valid reports whether the platform is one of the service's, or empty.
func (p Platform) Valid() bool {
	switch p {
	case "", PlatformWeb, PlatformAndroid, PlatformIOS, PlatformDesktop:
		return true
	}
	return false
}

// Status is whether an account's tokens can be used.
type Status string

// ACTIVE and SUSPENDED accounts can become each other or REVOKED, which is final.
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

// Final reports whether an account with this status can no longer be changed.
func (s Status) Final() bool { return s == StatusRevoked }

// Hash is the SHA-256 of an opaque token. Nothing else of the token is stored.
type Hash [32]byte

// Account is one service account.
type Account struct {
	ID             string    `json:"id"` // sa_…, sorts by time of creation
	OrganizationID string    `json:"organizationId"`
	Platform       Platform  `json:"platform"` // may be empty
	IsAdmin        bool      `json:"isAdmin"`
	Description    string    `json:"description"`
	Scopes         Scopes    `json:"scopes"`
	Status         Status    `json:"status"`
	CreatedBy      string    `json:"createdBy"` // "user:<sub>" or an account's id
	ClientHint     string    `json:"clientTokenHint"`
	ServerHint     string    `json:"serverTokenHint"`
	CreatedAt      time.Time `json:"createdAt"` // UTC
	UpdatedAt      time.Time `json:"updatedAt"` // UTC
	// Quotas limit the use of access tokens whose client token belongs to this account.
	Quotas Quotas `json:"quotas"`
	// Restrictions limit where these access tokens can be used from.
	Restrictions Restrictions `json:"restrictions"`

	// ClientHash and ServerHash are those of the account's two tokens.
	ClientHash Hash `json:"-"`
	ServerHash Hash `json:"-"`
	// Generation increases each time the account leaves ACTIVE. Access tokens carry the generation of their account, so
	// that making the account ACTIVE again does not make old tokens valid again.
	Generation uint64 `json:"-"`
	// Holds are decisions of users that service accounts must not undo.
	Holds Holds `json:"-"`
}

// Organization counts the accounts of an organization by their status.
type Organization struct {
	Name      string `json:"name"`
	Active    int    `json:"active"`
	Suspended int    `json:"suspended"`
	Revoked   int    `json:"revoked"`
}

// TokenKind is one of the two kinds of long-lived tokens that each account has.
type TokenKind uint8

// The kinds of long-lived tokens.
const (
	ClientToken TokenKind = iota
	ServerToken
)

// Grant is the result of one exchange. Each access token names its grant, and the grant's refresh tokens yield further
// access tokens.
type Grant struct {
	ID               string // the `grant` claim of access tokens; sorts by time of creation
	Organization     string
	ClientAccount    string
	ServerAccount    string // the same as ClientAccount if both tokens belong to one account
	ClientGeneration uint64
	ServerGeneration uint64
	Scopes           ScopeSet // of the exchange; a refresh never adds any
	CreatedAt        time.Time
	ExpiresAt        time.Time
}

// Key is one signing key, as it is stored.
type Key struct {
	ID        string // kid
	Use       KeyUse
	Algorithm string // JWS name: EdDSA or ES256
	// Private is the PKCS #8 form; if Sealed is set, it is encrypted with AES-256-GCM by the key encryption key.
	Private   []byte
	Sealed    bool
	CreatedAt time.Time
}

// KeyUse is the kind of tokens that a key signs. Keys of user tokens are not published.
type KeyUse string

// The uses of signing keys.
const (
	KeyAccess KeyUse = "access"
	KeyUser   KeyUse = "user"
)

// Errors of a Store. Any other error means that the store is unavailable.
var (
	ErrNotFound = errors.New("not found")
	// ErrExists means that an account with this id or token hash exists.
	ErrExists = errors.New("already exists")
	// ErrLimit means that the organization has the maximum number of accounts, or an account that of publishable keys.
	ErrLimit = errors.New("there are too many already")
	// ErrReused means that the refresh token was replaced longer ago than RetryWindow.
	ErrReused = errors.New("refresh token was used before")
	// ErrDamaged matches errors of a store whose file is damaged. Clients see an unavailable store.
	ErrDamaged = errors.New("the store is damaged")
)

// IsUnavailable reports whether an error of a Store means that the store is unavailable.
func IsUnavailable(err error) bool {
	return err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrExists) && !errors.Is(err, ErrLimit) &&
		!errors.Is(err, ErrReused)
}
