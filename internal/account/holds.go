package account

// Holds remember who narrowed an account. People, who come with user tokens, may undo everything; automation, which
// comes with the access token of an account, only what automation did.
type Holds struct {
	// Suspended is whether a person wants the account SUSPENDED.
	Suspended bool
	// Scopes are those that the account had and a person took away.
	Scopes ScopeSet
	// Dropped are those that the account had and automation took away. If a person leaves one of them out of a list of
	// scopes, the person has taken it away, too.
	Dropped ScopeSet
}

// UnknownHolds are those of an account that was narrowed before anybody wrote down by whom: by people.
func UnknownHolds(a *Account) Holds {
	return Holds{Suspended: a.Status == StatusSuspended, Scopes: allScopes &^ a.Scopes.Set()}
}

// ByPerson returns the holds after a change that a person made. status and scopes are whether the person named them,
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
// person suspended nor give back a scope that a person took away.
func (h Holds) Allow(before, after *Account) (status, scopes bool) {
	status = !h.Suspended || before.Status != StatusSuspended || after.Status != StatusActive
	scopes = h.Scopes&after.Scopes.Set()&^before.Scopes.Set() == 0
	return status, scopes
}
