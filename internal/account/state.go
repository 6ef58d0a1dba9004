package account

import (
	"sync/atomic"
	"unique"
)

// State is what a token's validity depends on, at one version of its account.
type State struct {
	ID           string
	Organization string
	Scopes       ScopeSet
	Generation   uint64
	Version      uint64
	Status       Status
	Active       bool
	Admin        bool
	Limits       *Limits // nil for none
	Bounds       *Bounds // nil for none

	// inDoubt: a change may or may not have reached the store. Such a state is not active, and is read again before
	// anybody is told so.
	inDoubt bool
	// detached: changes were missed after it was read (Live.ChangesMissed). It stays in doubt forever; the account has
	// another Current now, or none.
	detached bool
}

func stateOf(a Account) *State {
	bounds, err := NewBounds(a.Restrictions)
	return &State{
		ID: a.ID, Organization: a.OrganizationID, Scopes: a.Scopes.Set(), Generation: a.Generation, Version: a.Version,
		// What cannot be understood may not widen what an account may do.
		Status: a.Status, Active: a.Status == StatusActive && err == nil && CheckQuotas(a.Quotas) == nil, Admin: a.IsAdmin,
		Limits: NewLimits(a.Quotas), Bounds: bounds,
	}
}

// gone is the state that follows when the account is deleted.
func (s *State) gone() *State {
	next := *s
	next.Version++
	next.Generation++
	next.Status, next.Active, next.Admin, next.Scopes, next.inDoubt = StatusRevoked, false, false, 0, s.detached
	return &next
}

// InDoubt reports whether the state has to be asked for again (Live.Current) before it is believed.
func (s *State) InDoubt() bool { return s.inDoubt }

// Current points at an account's present state. A deleted account leaves a state that is not active for good: whoever
// holds the pointer finds that, also after Live has forgotten it.
type Current struct{ p atomic.Pointer[State] }

// State returns the present state. It is never nil where Live.Current or Live.Observe returned the pointer.
func (c *Current) State() *State { return c.p.Load() }

// advance moves to a newer version. Doubt stays: what was read may be older than the change that is in doubt.
func (c *Current) advance(next *State) {
	for {
		now := c.p.Load()
		if now != nil && now.Version >= next.Version {
			return
		}
		take := next
		if now != nil && now.inDoubt {
			unsure := *next
			unsure.Active, unsure.inDoubt, unsure.detached = false, true, now.detached
			take = &unsure
		}
		if c.p.CompareAndSwap(now, take) {
			return
		}
	}
}

// doubt marks the state as in doubt. Each call makes a state of its own, so that settle can tell whether anything
// failed since it began to read.
func (c *Current) doubt() {
	for {
		now := c.p.Load()
		if now == nil {
			return // nobody holds it: the next to ask reads the store anyway
		}
		unsure := *now
		unsure.Active, unsure.inDoubt = false, true
		if c.p.CompareAndSwap(now, &unsure) {
			return
		}
	}
}

// remove moves to the state of an account that was deleted; last is what is known of it where there is no state yet. A
// deletion is final, and so leaves no doubt.
func (c *Current) remove(last *State, version uint64) {
	for {
		now := c.p.Load()
		if now != nil {
			if now.Version >= version && !now.inDoubt {
				return
			}
			last = now
		}
		next := last.gone()
		next.Version = max(next.Version, version)
		if c.p.CompareAndSwap(now, next) {
			return
		}
	}
}

// detach puts the state in doubt for good.
func (c *Current) detach() {
	for {
		now := c.p.Load()
		var last State
		if now != nil {
			last = *now
		}
		last.Active, last.inDoubt, last.detached = false, true, true
		if c.p.CompareAndSwap(now, &last) {
			return
		}
	}
}

// settle replaces a state in doubt by what the store said after it was seen, if nothing happened in between.
func (c *Current) settle(doubtful, next *State) {
	if next.Version >= doubtful.Version {
		c.p.CompareAndSwap(doubtful, next)
	}
}

// Ref is a grant's id in the form that Live.Ended looks up without an allocation.
type Ref = unique.Handle[string]

// GrantRef returns the reference of a grant's id.
func GrantRef(id string) Ref { return unique.Make(id) }
