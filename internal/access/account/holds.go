package account

// Holds record what users took from an account. Users, who have user tokens, can undo every change. Automation, which
// has the access token of an administrator account, can only undo changes of automation.
type Holds struct {
	// Suspended is whether a user suspended the account.
	Suspended bool
	// Scopes are the ones that a user took away.
	Scopes ScopeSet
	// Dropped are the scopes that automation took away. A user who sets scopes without one of them takes it away, too.
	Dropped ScopeSet
}

// ByUser returns the holds after a change that a user made. status and scopes are whether the user set them, even to
// the same value.
func (h Holds) ByUser(before, after *Account, status, scopes bool) Holds {
	if status {
		h.Suspended = after.Status == StatusSuspended
	}
	if scopes {
		h.Scopes, h.Dropped = (h.Scopes|h.Dropped|before.Scopes.Set())&^after.Scopes.Set(), 0
	}
	return h
}

// ByAutomation returns the holds after a change that automation made.
func (h Holds) ByAutomation(before, after *Account) Holds {
	h.Dropped = (h.Dropped | before.Scopes.Set()) &^ after.Scopes.Set()
	return h
}

// Allow reports whether automation may change the status and the scopes from before to after. It must neither activate
// an account that a user suspended nor return a scope that a user took away.
func (h Holds) Allow(before, after *Account) (status, scopes bool) {
	status = !h.Suspended || before.Status != StatusSuspended || after.Status != StatusActive
	scopes = h.Scopes&after.Scopes.Set()&^before.Scopes.Set() == 0
	return status, scopes
}
