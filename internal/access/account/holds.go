package account

// Holds are what users took from an account. Users, who come with user tokens, may undo everything; automation, which
// comes with the access token of an account, only what automation did.
type Holds struct {
	// Suspended is whether a user wants the account SUSPENDED.
	Suspended bool
	// Scopes are those that the account had and a user took away.
	Scopes ScopeSet
	// Dropped are those that the account had and automation took away. A user who leaves one of them out of a list of
	// scopes takes it away, too.
	Dropped ScopeSet
}

// ByPerson returns the holds after a change that a user made. status and scopes are whether the person named them,
// which counts also where they stay what they were.
func (h Holds) ByPerson(before, after *Account, status, scopes bool) Holds {
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

// Allow reports whether automation may change the account from before to after: it may neither make ACTIVE what a
// person suspended nor give back a scope that a user took away.
func (h Holds) Allow(before, after *Account) (status, scopes bool) {
	status = !h.Suspended || before.Status != StatusSuspended || after.Status != StatusActive
	scopes = h.Scopes&after.Scopes.Set()&^before.Scopes.Set() == 0
	return status, scopes
}
