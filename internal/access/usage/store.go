// Package usage counts what service accounts use, and compares it with their quotas. A Meter counts in memory and hands
// what it counted to a Store from time to time. Start with meter.go.
package usage

import (
	"context"
	"time"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

// Store keeps what was used, by hour, day and month. Every request is kept exactly once, however often a flush is
// repeated.
type Store interface {
	// AddUsage adds the counts of a flush, all or nothing, unless a flush of the same node with this or a higher number
	// was added before: so one whose answer was lost can be repeated.
	AddUsage(ctx context.Context, f Flush) error
	// Totals returns what accounts of one organization have used in the minute, the day and the month of a moment, by
	// scope. An empty account is the sum over the organization. What is 0 may be left out.
	Totals(ctx context.Context, organization string, accounts []string, at time.Time) ([]Total, error)
	// Usage lists what the accounts of one organization used, by start, account and scope, all ascending. What is 0 is
	// left out.
	Usage(ctx context.Context, q Query) ([]Row, error)
	// SweepUsage removes what is older than it has to be kept. Age is by the clock of the store, as far as that has run
	// steadily.
	SweepUsage(ctx context.Context, keep Retention) error
	// MarkQuota writes down that a level of a quota was reached in a window, and reports whether it was not known before.
	MarkQuota(ctx context.Context, m Mark) (first bool, err error)
}

// Subject has quotas: an account, or an organization as a whole, whose Account is empty.
type Subject struct{ Organization, Account string }

// Count is what an account used under one scope in one minute or hour.
type Count struct {
	Subject
	Scope account.Scope
	Start int64 // Unix seconds; a moment in the hour, or the beginning of the minute
	// Minute is whether the use of the single minute is wanted, for a quota.
	Minute bool
	account.Usage
}

// Flush is what one node counted since its last one.
type Flush struct {
	// Node tells processes apart, even those that follow each other on one machine.
	Node string
	// Number rises with each flush of a node. It is positive.
	Number uint64
	// Counts may be negative if a request was taken back.
	Counts []Count
}

// Total is what an account used under one scope in the present window.
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
	Account      string        // only of this account, if it is not empty
	Scope        account.Scope // only under this scope, if it is not empty
	Step         account.Step  // hour, day or month
	From, To     time.Time     // spans that begin at From or later, and before To
	After        *Position     // only what follows this position; nil for the first page
	Limit        int           // the largest number of rows; positive
}

// Position is a place in the list.
type Position struct {
	Start   int64 // Unix seconds
	Account string
	Scope   account.Scope
}

// Row is one line of the list.
type Row struct {
	Start   time.Time     `json:"start"` // UTC
	Account string        `json:"account"`
	Scope   account.Scope `json:"scope"`
	account.Usage
}

// Retention is how long hours and days are kept after they are over. Months are kept for ever.
type Retention struct{ Hours, Days time.Duration }

// DefaultRetention is 35 days for hours, and 400 days for days: 13 months and some.
var DefaultRetention = Retention{Hours: 35 * 24 * time.Hour, Days: 400 * 24 * time.Hour}

// Mark says that the use of a quota reached a level in a window.
type Mark struct {
	Subject
	Quota account.Quota
	Start int64 // Unix seconds; the beginning of the window
	Level int   // percent
}
