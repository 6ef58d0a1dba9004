package account

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Live is a Store together with the present state of its accounts in memory. A verified token keeps pointers to the
// states it depends on, so that a check on a cached token is exact and asks nobody: there is no entry to remove, and
// none that could be removed too early or too late.
//
// Every change through Live is in the states before the call returns. A state only ever moves to a higher Version, so a
// slow reader of the store cannot put an older one back.
type Live struct {
	Store
	states sync.Map // account id → *Current
	ended  sync.Map // grant id → time.Time until which its access tokens could still be unexpired
	nEnded atomic.Int64
	// memory is how long an ended grant has to be remembered: the longest life of an access token.
	memory time.Duration
}

// NewLive wraps a store. accessTTL is the longest life of an access token that the store's grants can have given.
func NewLive(s Store, accessTTL time.Duration) *Live { return &Live{Store: s, memory: accessTTL} }

// State is what a token's validity depends on, at one version of its account.
type State struct {
	ID           string
	Organization string
	Scopes       ScopeSet
	Generation   uint64
	Version      uint64
	Active       bool
	Admin        bool
}

// Current points at an account's present state. It is never removed while the process runs: a deleted account leaves a
// state that is not active.
type Current struct{ p atomic.Pointer[State] }

// State returns the present state.
func (c *Current) State() *State { return c.p.Load() }

func (c *Current) advance(next *State) {
	for {
		now := c.p.Load()
		if now != nil && now.Version >= next.Version {
			return
		}
		if c.p.CompareAndSwap(now, next) {
			return
		}
	}
}

func stateOf(a Account) *State {
	return &State{ID: a.ID, Organization: a.OrganizationID, Scopes: a.Scopes.Set(), Generation: a.Generation, Version: a.Version,
		Active: a.Status == StatusActive, Admin: a.IsAdmin}
}

// Observe records a version of an account that came from the store.
func (l *Live) Observe(a Account) *Current {
	c, ok := l.states.Load(a.ID)
	if !ok {
		c, _ = l.states.LoadOrStore(a.ID, new(Current))
	}
	cur := c.(*Current)
	cur.advance(stateOf(a))
	return cur
}

// Current returns the pointer to an account's present state, from memory or else from the store. ErrNotFound if there is
// no such account.
func (l *Live) Current(ctx context.Context, id string) (*Current, error) {
	if c, ok := l.states.Load(id); ok {
		if cur := c.(*Current); cur.State() != nil {
			return cur, nil
		}
	}
	a, err := l.Store.Account(ctx, id)
	if err != nil {
		return nil, err
	}
	return l.Observe(a), nil
}

// CreateAccount implements Store.
func (l *Live) CreateAccount(ctx context.Context, a Account) error {
	if err := l.Store.CreateAccount(ctx, a); err != nil {
		return err
	}
	l.Observe(a)
	return nil
}

// UpdateAccount implements Store.
func (l *Live) UpdateAccount(ctx context.Context, id string, change func(*Account) (bool, error)) (before, after Account, err error) {
	before, after, err = l.Store.UpdateAccount(ctx, id, change)
	if err == nil {
		l.Observe(after)
	}
	return before, after, err
}

// DeleteAccount implements Store.
func (l *Live) DeleteAccount(ctx context.Context, id string, check func(Account) error) (Account, error) {
	a, err := l.Store.DeleteAccount(ctx, id, check)
	if err == nil {
		gone := a
		gone.Version++
		gone.Generation++
		gone.Status = StatusRevoked
		l.Observe(gone)
	}
	return a, err
}

// AddGrant implements Store.
func (l *Live) AddGrant(ctx context.Context, g Grant, limit int) ([]string, error) {
	ended, err := l.Store.AddGrant(ctx, g, limit)
	for _, id := range ended {
		l.endGrant(id)
	}
	return ended, err
}

// EndGrant implements Store.
func (l *Live) EndGrant(ctx context.Context, id string) error {
	err := l.Store.EndGrant(ctx, id)
	if err == nil {
		l.endGrant(id)
	}
	return err
}

func (l *Live) endGrant(id string) {
	if _, was := l.ended.Swap(id, time.Now().Add(l.memory)); !was {
		l.nEnded.Add(1)
	}
}

// Ended reports whether a grant was ended while an access token of it might still be unexpired.
func (l *Live) Ended(grant string) bool {
	if l.nEnded.Load() == 0 {
		return false
	}
	_, ended := l.ended.Load(grant)
	return ended
}

// SweepGrants implements Store, and forgets ended grants whose access tokens have all expired.
func (l *Live) SweepGrants(ctx context.Context, now time.Time) (int, error) {
	l.ended.Range(func(id, until any) bool {
		if now.After(until.(time.Time)) {
			l.ended.Delete(id)
			l.nEnded.Add(-1)
		}
		return true
	})
	n, err := l.Store.SweepGrants(ctx, now)
	return n, err
}

// IsUnavailable reports whether an error of a Store means that it could not be asked.
func IsUnavailable(err error) bool {
	return err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrExists) && !errors.Is(err, ErrRotated)
}
