package account

import "slices"

// Holds record what users took from an account. Users, who have user tokens, can undo every change. Automation, which
// has the access token of an administrator account, can only undo changes of automation.
type Holds struct {
	// Suspended is whether a user suspended the account.
	Suspended bool
	// Scopes are the ones that a user took away.
	Scopes Scopes
	// Dropped are the scopes that automation took away. A user who sets scopes without one of them takes it away, too.
	Dropped Scopes
}

// Equal compares holds.
func (h Holds) Equal(other Holds) bool {
	return h.Suspended == other.Suspended && slices.Equal(h.Scopes, other.Scopes) &&
		slices.Equal(h.Dropped, other.Dropped)
}

// ByUser returns the holds after a change that a user made. status and scopes are whether the user set them, even to
// the same value.
func (h Holds) ByUser(before, after *Account, status, scopes bool) Holds {
	if status {
		h.Suspended = after.Status == StatusSuspended
	}
	if scopes {
		h.Scopes, h.Dropped = missing(after.Scopes, h.Scopes, h.Dropped, before.Scopes), nil
	}
	return h
}

// ByAutomation returns the holds after a change that automation made.
func (h Holds) ByAutomation(before, after *Account) Holds {
	h.Dropped = missing(after.Scopes, h.Dropped, before.Scopes)
	return h
}

// missing returns the scopes of lists that a list lacks, in alphabetical order.
func missing(in Scopes, lists ...Scopes) Scopes {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(s Scope) bool { return slices.Contains(in, s) })
}

// Allow reports whether automation may change the status and the scopes from before to after. It must neither activate
// an account that a user suspended nor return a scope that a user took away.
func (h Holds) Allow(before, after *Account) (status, scopes bool) {
	status = !h.Suspended || before.Status != StatusSuspended || after.Status != StatusActive
	scopes = !slices.ContainsFunc(missing(before.Scopes, after.Scopes), func(s Scope) bool {
		return slices.Contains(h.Scopes, s)
	})
	return status, scopes
}
