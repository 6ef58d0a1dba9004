package account

import (
	"context"
	"time"
)

// Store keeps accounts, grants and signing keys. A method that returns nil has made its change durable: it survives the
// process being killed at any moment after. All methods may be called at once from any number of goroutines, and none
// after Close. accounttest holds the suite that every Store passes.
type Store interface {
	// CreateAccount adds an account. ErrExists if its id or a token hash is taken.
	CreateAccount(ctx context.Context, a Account) error
	// Account returns one account by id, or ErrNotFound.
	Account(ctx context.Context, id string) (Account, error)
	// AccountByToken returns the account that a client or server token belongs to, or ErrNotFound.
	AccountByToken(ctx context.Context, kind TokenKind, token Hash) (Account, error)
	// Accounts lists accounts of one organization, newest first, which is by descending id.
	Accounts(ctx context.Context, organization string, page Page) ([]Account, error)
	// UpdateAccount applies change to the stored account in one transaction, as the function Change does: it raises
	// Version when change reports true, and Generation when the account left ACTIVE. An error of change is returned as it
	// is and nothing is written. change may run more than once, each time on a fresh copy, so it must depend on nothing
	// but that copy. Returned are the account before and after.
	UpdateAccount(ctx context.Context, id string, change func(*Account) (changed bool, err error)) (
		before, after Account, err error)
	// DeleteAccount removes an account with its token hashes, if check (which may be nil) allows, and returns what it was.
	DeleteAccount(ctx context.Context, id string, check func(Account) error) (Account, error)

	// OrganizationQuotas returns the quotas of an organization; of one that never had any, none with the version 0.
	OrganizationQuotas(ctx context.Context, organization string) (OrganizationQuotas, error)
	// SetOrganizationQuotas replaces the quotas of an organization, raises their version and returns what then stands.
	SetOrganizationQuotas(ctx context.Context, organization string, quotas []Quota,
		at time.Time) (OrganizationQuotas, error)

	// AddGrant adds a grant and ends the oldest ones of the same pair of accounts beyond limit, whose ids it returns.
	// ErrExists if its id or refresh token is taken. limit is positive.
	AddGrant(ctx context.Context, g Grant, limit int) (ended []string, err error)
	// Grant returns a grant by id, or ErrNotFound.
	Grant(ctx context.Context, id string) (Grant, error)
	// GrantByRefresh returns the grant of a refresh token, or ErrNotFound. For a token that RotateGrant replaced it
	// returns the grant with ErrRotated.
	GrantByRefresh(ctx context.Context, refresh Hash) (Grant, error)
	// RotateGrant replaces a grant's refresh token; of two calls with the same old token one gets ErrRotated. ErrNotFound
	// if there is no such grant. A store remembers at least the last 1,000 tokens that it replaced for a grant.
	RotateGrant(ctx context.Context, id string, old, next Hash) error
	// EndGrant removes a grant. It is no error if there is none.
	EndGrant(ctx context.Context, id string) error
	// SweepGrants removes grants that expired before now and returns how many.
	SweepGrants(ctx context.Context, now time.Time) (int, error)

	// Keys returns all signing keys, oldest first.
	Keys(ctx context.Context) ([]Key, error)
	// ReplaceKey replaces the private half, and whether it is sealed, of the key with the same id, use and algorithm, or
	// returns ErrNotFound. It serves to seal a key that was kept in clear.
	ReplaceKey(ctx context.Context, k Key) error
	// AddFirstKey adds a key unless one with its use and algorithm is there already; it returns the one that then stands.
	AddFirstKey(ctx context.Context, k Key) (Key, error)
	// AddNextKey adds a key if the newest one with its use and algorithm is the one named after; it returns the newest
	// that then stands. So of several processes that follow the same key with another, one does. k is newer than that key.
	// ErrExists if its id is taken.
	AddNextKey(ctx context.Context, k Key, after string) (Key, error)
	// DeleteKey removes a key. It is no error if there is none.
	DeleteKey(ctx context.Context, id string) error
	// ReplaceKeys removes the keys named old and adds next, all in one transaction, and returns the ids of those that it
	// removed. Where a key with the use and algorithm of one of next is left, that one stands and the new one is not
	// added. So of several processes that replace the same keys, one does. The keys of next are newer than any other;
	// ErrExists if an id is taken.
	ReplaceKeys(ctx context.Context, old []string, next []Key) (removed []string, err error)

	// Probe makes a change that nobody sees, as large as those of requests and as durable, to find out whether
	// changes can be made. The error is why not.
	Probe(ctx context.Context) error

	// Close releases the store.
	Close() error
}

// Backuper is implemented by a Store that can copy itself to a file while it is in use.
type Backuper interface {
	// Backup writes a copy of one moment to a file, which replaces what is there, and returns its size in bytes.
	Backup(ctx context.Context, path string) (size int64, err error)
}

// Clock is implemented by a Store that several processes share. They go by its clock, not by those of their machines,
// since what one of them dates the others judge.
type Clock interface {
	// Now returns the store's time as it was heard last, and what has passed since. It asks nobody.
	Now() time.Time
}

// Page selects a part of a list.
type Page struct {
	// After is the id of the last account of the page before; empty for the first page. It need not exist any more.
	After string
	// Status restricts the list where it is not empty.
	Status Status
	// Limit is the largest number of accounts to return; it is positive.
	Limit int
}
