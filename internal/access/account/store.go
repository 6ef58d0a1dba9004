package account

import (
	"context"
	"sync/atomic"
	"time"
)

// Store keeps accounts, grants and signing keys. A change whose method has returned nil is durable: it survives a kill
// of the process. All methods are safe for concurrent use. Times have a resolution of microseconds.
type Store interface {
	// CreateAccount adds an account. ErrExists if its id or a token hash is taken; ErrLimit if its organization already
	// has limit accounts that are not REVOKED.
	CreateAccount(ctx context.Context, a Account, limit int) error
	// Account returns one account by id, or ErrNotFound.
	Account(ctx context.Context, id string) (Account, error)
	// AccountByToken returns the account that a client or server token belongs to, or ErrNotFound.
	AccountByToken(ctx context.Context, kind TokenKind, token Hash) (Account, error)
	// Accounts lists accounts of one organization, newest first (by descending id).
	Accounts(ctx context.Context, organization string, page Page) ([]Account, error)
	// Organizations lists organizations that have accounts of any status, at most limit, by name in the order of its
	// bytes. after is the last name of the previous page; empty for the first page.
	Organizations(ctx context.Context, after string, limit int) ([]Organization, error)
	// UpdateAccount applies change to the stored account in one transaction, as the function Change does, and returns the
	// account before and after. If change returns an error, nothing is written, and the error is returned. change may be
	// called several times, each time with a fresh copy. ErrNotFound if there is no such account.
	UpdateAccount(ctx context.Context, id string, change func(*Account) (changed bool, err error)) (
		before, after Account, err error)
	// DeleteAccount removes an account with its tokens and publishable keys, and returns the account. If check, which may
	// be nil, returns an error, nothing is removed.
	DeleteAccount(ctx context.Context, id string, check func(Account) error) (Account, error)

	// CreatePublishableKey adds the key that create returns for an account. If create returns an error, it is returned.
	// create may be called several times. ErrNotFound if there is no such account; ErrLimit if it already has limit keys.
	CreatePublishableKey(ctx context.Context, accountID string, limit int,
		create func(Account) (PublishableKey, error)) (PublishableKey, error)
	// PublishableKey returns a key by its text (mpk_…), or ErrNotFound.
	PublishableKey(ctx context.Context, key string) (PublishableKey, error)
	// PublishableKeys returns all keys of an account, newest first.
	PublishableKeys(ctx context.Context, accountID string) ([]PublishableKey, error)
	// DeletePublishableKey removes a key of an account. check is called as in DeleteAccount. ErrNotFound if there is no
	// such account, for which check is not called, or if it has no such key.
	DeletePublishableKey(ctx context.Context, accountID, id string, check func(Account) error) error

	// OrganizationQuotas returns the quotas on the sum over all accounts of an organization.
	OrganizationQuotas(ctx context.Context, organization string) (Quotas, error)
	SetOrganizationQuotas(ctx context.Context, organization string, quotas Quotas) error

	// AddGrant adds a grant with its first refresh token. If the pair of accounts then has more than limit grants, the
	// oldest end. It returns how many ended.
	AddGrant(ctx context.Context, g Grant, refresh Hash, limit int) (ended int, err error)
	// Grant returns a grant by id, or ErrNotFound.
	Grant(ctx context.Context, id string) (Grant, error)
	// GrantByRefresh returns the grant of a refresh token, or ErrNotFound. If RotateGrant replaced the token longer ago
	// than RetryWindow, it returns the grant and ErrReused.
	GrantByRefresh(ctx context.Context, refresh Hash) (Grant, error)
	// RotateGrant adds a refresh token to a grant and marks the old one as used. The old one can be used again within
	// RetryWindow after its first use; later the error is ErrReused. ErrNotFound if the grant has no such token.
	RotateGrant(ctx context.Context, id string, old, next Hash) error
	// EndGrant removes a grant. A grant that does not exist is no error.
	EndGrant(ctx context.Context, id string) error
	// SweepGrants removes expired grants and returns how many.
	SweepGrants(ctx context.Context) (int, error)

	// Keys returns all signing keys, oldest first.
	Keys(ctx context.Context) ([]Key, error)
	// UpdateKeys replaces the signing keys, oldest first, with the result of change, in one transaction, and returns
	// them. Concurrent calls, also of other servers, are serialized. change may be called several times.
	UpdateKeys(ctx context.Context, change func([]Key) ([]Key, error)) ([]Key, error)

	// Now returns the time by the clock of the store, which is the same for all servers that share it.
	Now() time.Time
	// Revision returns a counter that increases whenever an account, a publishable key, a grant or the quotas of the
	// organization may have changed: before the call that made the change returns, and within a second on other servers.
	// Data that was read from the store is current as long as the revision is the same as before the read.
	Revision(organization string) *atomic.Uint64
	// KeysRevision is the revision of the signing keys.
	KeysRevision() *atomic.Uint64
}

// RetryWindow is how long a client can use a rotated refresh token again, in case it did not receive the response to
// its first use.
const RetryWindow = 10 * time.Second

// Page selects a part of a list.
type Page struct {
	// After is the id of the last account of the previous page; empty for the first page. That account may have been
	// deleted.
	After string
	// Status selects accounts with this status if it is not empty.
	Status Status
	// Limit is the maximum number of accounts to return. It is positive.
	Limit int
}
