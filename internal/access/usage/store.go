// Package usage counts the use of service accounts, and compares it with their quotas. A Meter counts in memory and
// flushes the counts to a Store regularly. It does not decide what a request costs: handlers do.
//
// Start with Meter, and with admit.go for what happens at a request.
package usage

import (
	"context"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// Store keeps usage by hour, day and month. Each request counts exactly once, even if a flush is repeated.
type Store interface {
	// AddUsage adds the counts of a flush, all or none. If a flush of the same node with this or a higher number was added
	// before, it does nothing, so that a flush whose response was lost can be repeated.
	AddUsage(ctx context.Context, f Flush) error
	// Totals returns the usage of accounts of one organization, by scope, in the minute, the day and the month of a time.
	// An empty account is the sum over the organization. Totals that are 0 may be missing.
	Totals(ctx context.Context, organization string, accounts []string, at time.Time) ([]Total, error)
	// Usage lists the usage of the accounts of one organization, in ascending order of start, account and scope, without
	// rows that are 0.
	Usage(ctx context.Context, q Query) ([]Row, error)
	// SweepUsage removes usage that is older than keep says. A clock that is temporarily ahead does not make usage old.
	SweepUsage(ctx context.Context, keep Retention) error
	// MarkQuota records that a level of a quota was reached in a window, and reports whether this is the first record.
	MarkQuota(ctx context.Context, m Mark) (first bool, err error)
}

// Subject is an account, or an organization as a whole, of which Account is empty.
type Subject struct{ Organization, Account string }

// Count is the usage of an account under one scope in one minute or hour.
type Count struct {
	Subject
	Scope account.Scope
	Start int64 // Unix seconds; a time in the hour, or the start of the minute
	// Minute is whether the usage is needed by the minute, for a quota.
	Minute bool
	account.Usage
}

// Flush is the usage that one process counted since its last flush.
type Flush struct {
	// Node identifies the process. Each start of a server has another one.
	Node string
	// Number increases with each flush of a node. It is positive.
	Number uint64
	// Counts may be negative, for requests that were counted and then refused.
	Counts []Count
}

// Total is the usage of an account under one scope in the current window.
type Total struct {
	Account  string
	Scope    account.Scope
	Window   account.Window
	Requests int64
	Units    int64
}

// Query selects usage of one organization.
type Query struct {
	Organization string
	Account      string        // only this account, if it is not empty
	Scope        account.Scope // only this scope, if it is not empty
	Step         account.Step  // hour, day or month
	From, To     time.Time     // periods that start at From or later, and before To
	After        *Position     // only rows after this position; nil for the first page
	Limit        int           // the maximum number of rows; positive
}

// Position is a position in the list.
type Position struct {
	Start   int64 // Unix seconds
	Account string
	Scope   account.Scope
}

// Row is one row of the list.
type Row struct {
	Start   time.Time     `json:"start"` // UTC
	Account string        `json:"account"`
	Scope   account.Scope `json:"scope"`
	account.Usage
}

// Retention is how long hours and days are kept after their end. Months are kept forever.
type Retention struct{ Hours, Days time.Duration }

// DefaultRetention keeps hours for 35 days, and days for 400 days, which is more than 13 months.
var DefaultRetention = Retention{Hours: 35 * 24 * time.Hour, Days: 400 * 24 * time.Hour}

// Mark records that the use of a quota reached a level in a window.
type Mark struct {
	Subject
	Quota account.Quota
	Start int64 // of the window, in Unix seconds
	Level int   // percent
}
