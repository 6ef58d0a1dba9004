// Package usage counts what service accounts use, and compares it with their quotas: a Meter counts in memory and
// hands what was counted to a Store each second.
package usage

import (
	"cmp"
	"context"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// Store keeps what was used. Every request is kept exactly once, however often a flush is repeated, and in one place:
// first in its hour, and once that is over in its hour, day and month (FoldUsage). usagetest holds the suite that every
// Store passes.
type Store interface {
	// AddUsage adds the counts of a flush, all or nothing, unless a flush of the same node with the same or a higher
	// number was added before: so one whose answer was lost can be repeated. In any case it returns what the subjects
	// that the flush asks for have used in the present minute, day and month, with the flush included: by scope, without
	// those that are 0. An error that does not match account.ErrUnchanged leaves open whether the counts were added. A
	// flush without counts only asks.
	AddUsage(ctx context.Context, f *Flush) ([]Total, error)
	// Usage lists what the accounts of one organization used, by start, account and scope, all ascending. It is one
	// consistent view. Only what is not 0 is listed.
	Usage(ctx context.Context, q Query) ([]Row, error)
	// FoldUsage sums up hours that are over into hours, days and months that are kept, and removes what is older than it
	// has to be kept. Of several processes that do so at once one does. It reports whether there is more to do; each
	// call takes no longer than about a second.
	FoldUsage(ctx context.Context, now time.Time, keep Retention) (more bool, err error)
	// MarkQuota writes down that a level of a quota was reached in a window, and reports whether nobody had before. Marks
	// are kept at least until the window is over.
	MarkQuota(ctx context.Context, m Mark) (first bool, err error)
}

// Subject is whoever has quotas: an account, or, if Account is empty, an organization as a whole.
type Subject struct{ Organization, Account string }

func (s Subject) compare(other Subject) int {
	return cmp.Or(cmp.Compare(s.Organization, other.Organization), cmp.Compare(s.Account, other.Account))
}

// Count is what a subject used under one scope in one span of time.
type Count struct {
	Subject
	Scope account.Scope
	Start int64 // Unix seconds, UTC; the beginning of the span
	account.Usage
}

// Flush is what one node counted since its last one.
type Flush struct {
	// Node tells processes apart, also those of one machine that follow each other.
	Node string
	// Number rises with each flush of a node that has counts. It is positive.
	Number uint64
	// At is the present time. Rows of minutes and totals go by it.
	At time.Time
	// Hours are the counts by hour, and Minutes, of those subjects alone that have quotas for minutes, the same counts by
	// minute. Both are sorted by organization, account, scope and start, and name nothing twice. They hold the sums of
	// organizations too. Counts may be negative, where a request was taken back.
	Hours, Minutes []Count
	// Ask are the subjects whose totals are wanted.
	Ask []Subject
}

// Total is what a subject used under one scope in the present window.
type Total struct {
	Subject
	Scope    account.Scope
	Window   account.Window
	Requests int64
	Units    int64
}

// Query selects usage of one organization.
type Query struct {
	Organization string
	Account      string        // of this account alone, where it is not empty
	Scope        account.Scope // under this scope alone, where it is not empty
	Step         account.Step  // hour, day or month
	From, To     time.Time     // spans that begin at From or later, and before To; From is the beginning of one
	After        *Position     // only what comes after it in the list; nil for the first page
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

// Retention is for how long hours and days are kept, after they are over: a fold removes those that have been over for
// longer. Months are kept for ever.
type Retention struct{ Hours, Days time.Duration }

// DefaultRetention is what an operator gets who says nothing: 35 days, and 400 days, which are 13 months and some.
var DefaultRetention = Retention{Hours: 35 * 24 * time.Hour, Days: 400 * 24 * time.Hour}

// For how long stores keep what nobody lists, at least: every store the same, so that a server behaves alike on all.
const (
	// MinutesKept is that of minutes, after they began.
	MinutesKept = 10 * time.Minute
	// NumbersKept is that of the number of a node's last flush, after the time of that. It is longer than a node waits
	// to repeat a flush, also where its clock is set by months meanwhile.
	NumbersKept = 400 * 24 * time.Hour
	// MarksKept is that of marks, after their window is over: the clocks of nodes differ.
	MarksKept = time.Hour
)

// Mark says that a quota was used to some degree.
type Mark struct {
	Subject
	Quota account.Quota
	Start int64 // Unix seconds; the beginning of the window
	Level int   // percent
}
