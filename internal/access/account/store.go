package account

import (
	"context"
	"sync/atomic"
	"time"
)

// Store keeps accounts, grants and signing keys. A method that returns nil has made its change durable: the change
// survives a kill of the process. All methods are safe for concurrent use. Times have microseconds.
type Store interface {
	// CreateAccount adds an account. ErrExists if its id or a token hash is taken; ErrLimit if its organization already
	// has limit accounts that are not REVOKED.
	CreateAccount(ctx context.Context, a Account, limit int) error
	// Account returns one account by id, or ErrNotFound.
	Account(ctx context.Context, id string) (Account, error)
	// AccountByToken returns the account that a client or server token belongs to, or ErrNotFound.
	AccountByToken(ctx context.Context, kind TokenKind, token Hash) (Account, error)
	// Accounts lists accounts of one organization, newest first, which is by descending id.
	Accounts(ctx context.Context, organization string, page Page) ([]Account, error)
	// UpdateAccount applies change to the stored account in one transaction, as the function Change does, and returns
	// the account before and after. ErrNotFound, or the error of change, with which nothing is written. change may run
	// more than once, each time on a fresh copy.
	UpdateAccount(ctx context.Context, id string, change func(*Account) (changed bool, err error)) (
		before, after Account, err error)
	// DeleteAccount removes an account with its token hashes, if check (which may be nil) allows, and returns what it was.
	DeleteAccount(ctx context.Context, id string, check func(Account) error) (Account, error)

	// OrganizationQuotas returns the quotas of all accounts of an organization together.
	OrganizationQuotas(ctx context.Context, organization string) (Quotas, error)
	SetOrganizationQuotas(ctx context.Context, organization string, quotas Quotas) error

	// AddGrant adds a grant with its first refresh token. Of the pair of accounts at most limit grants stay: the oldest
	// end first. It returns how many ended.
	AddGrant(ctx context.Context, g Grant, refresh Hash, limit int) (ended int, err error)
	// Grant returns a grant by id, or ErrNotFound.
	Grant(ctx context.Context, id string) (Grant, error)
	// GrantByRefresh returns the grant of a refresh token, or ErrNotFound. The error is ErrReused, beside the grant, if
	// RotateGrant replaced the token longer than RetryWindow ago.
	GrantByRefresh(ctx context.Context, refresh Hash) (Grant, error)
	// RotateGrant adds a refresh token to a grant and marks the old one as used. Within RetryWindow after its first use,
	// the old one can be used again; later the error is ErrReused. ErrNotFound if the grant has no such token.
	RotateGrant(ctx context.Context, id string, old, next Hash) error
	// EndGrant removes a grant. A grant that does not exist is no error.
	EndGrant(ctx context.Context, id string) error
	// SweepGrants removes expired grants and returns how many.
	SweepGrants(ctx context.Context) (int, error)

	// Keys returns all signing keys, oldest first.
	Keys(ctx context.Context) ([]Key, error)
	// UpdateKeys replaces the signing keys, oldest first, with what change makes of them, in one transaction: servers
	// that do so at the same time take turns. It returns the keys as they are then. change may run more than once.
	UpdateKeys(ctx context.Context, change func([]Key) ([]Key, error)) ([]Key, error)

	// Now returns the time by the clock of the store, which all servers that share it go by.
	Now() time.Time
	// Revision returns the number of changes of an organization that this process knows of. It rises whenever an
	// account, a grant or the quotas of the organization may have changed: before the call that made the change returns,
	// and within a second on other servers. If it is the same as before the store was read, what was read still holds.
	Revision(organization string) *atomic.Uint64
	// KeysRevision is the same for the signing keys.
	KeysRevision() *atomic.Uint64
}

// RetryWindow is how long a client may use a rotated refresh token again, because the response to its first use was
// lost.
const RetryWindow = 10 * time.Second

// Page selects a part of a list.
type Page struct {
	// After is the id of the last account of the previous page; empty for the first page. That account may be gone.
	After string
	// Status restricts the list if it is not empty.
	Status Status
	// Limit is the largest number of accounts to return; it is positive.
	Limit int
}
