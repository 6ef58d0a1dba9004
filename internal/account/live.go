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
// slow reader of the store cannot put an older one back. Where a change fails in a way that leaves open whether the
// store took it, the state is in doubt: not active until the store has been read again.
//
// Of a store that other processes change too (Watcher), Live is to be told of their changes: it has the methods of
// Listener that concern accounts, grants and keys.
type Live struct {
	Store
	states sync.Map // account id → *Current
	// organizations holds the quotas of those that were asked for, or changed.
	organizations sync.Map // name → *Organization
	ended         endedGrants
	deleted       deletedAccounts

	// epoch is raised when changes were missed. What was read from the store in an older one is not to be believed. mu
	// keeps states from being entered while it is raised.
	mu    sync.RWMutex
	epoch atomic.Uint64

	keyListeners sync.Map // *byte, of no meaning → KeyListener
	now          func() time.Time
	failed       func(error)
}

// NewLive wraps a store. Who relies on Ended has to call RememberEnded.
func NewLive(s Store) *Live {
	l := &Live{Store: s, now: time.Now, ended: endedGrants{began: time.Now()}}
	if c, ok := s.(Clock); ok {
		l.now = c.Now
	}
	return l
}

// Now returns the time by which keys, grants and tokens are dated and judged: that of the store, where it is a Clock,
// and else that of this machine.
func (l *Live) Now() time.Time { return l.now() }

// Observe records a version of an account that has just come from the store.
func (l *Live) Observe(a Account) *Current {
	l.mu.RLock()
	defer l.mu.RUnlock()
	c := l.state(a.ID)
	c.advance(stateOf(a))
	return c
}

// observeIn is Observe for what was read in an epoch, unless that is over.
func (l *Live) observeIn(epoch uint64, a Account) (*Current, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.epoch.Load() != epoch {
		return nil, false
	}
	c := l.state(a.ID)
	c.advance(stateOf(a))
	return c, true
}

func (l *Live) state(id string) *Current {
	c, ok := l.states.Load(id)
	if !ok {
		c, _ = l.states.LoadOrStore(id, new(Current))
	}
	return c.(*Current)
}

func (l *Live) doubt(id string) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if c, ok := l.states.Load(id); ok {
		c.(*Current).doubt()
	}
}

// Current returns the pointer to an account's present state, from memory or else from the store. ErrNotFound if there
// is no such account; one that was deleted through this Live leaves a state that is not active.
func (l *Live) Current(ctx context.Context, id string) (*Current, error) {
	for {
		cur, err := l.currentIn(ctx, l.epoch.Load(), id)
		if cur != nil || err != nil {
			return cur, err
		}
		// Changes were missed while the store was read. What it said may be older than they are.
	}
}

// currentIn returns nothing if the epoch ends meanwhile.
func (l *Live) currentIn(ctx context.Context, epoch uint64, id string) (*Current, error) {
	var cur *Current
	var doubtful *State
	if c, ok := l.states.Load(id); ok {
		cur = c.(*Current)
		if s := cur.State(); s != nil {
			switch {
			case s.detached:
				return nil, nil
			case !s.inDoubt:
				return cur, nil
			}
			doubtful = s
		}
	}
	a, err := l.Store.Account(ctx, id)
	switch {
	case err == nil && doubtful == nil:
		cur, _ = l.observeIn(epoch, a)
		return cur, nil
	case err == nil:
		cur.settle(doubtful, stateOf(a))
	case errors.Is(err, ErrNotFound) && doubtful != nil:
		cur.settle(doubtful, doubtful.gone())
	default:
		return nil, err
	}
	if l.epoch.Load() != epoch {
		return nil, nil
	}
	return cur, nil
}

// CreateAccount implements Store.
func (l *Live) CreateAccount(ctx context.Context, a Account) error {
	epoch := l.epoch.Load()
	if err := l.Store.CreateAccount(ctx, a); err != nil {
		l.note(ctx, err)
		return err
	}
	l.observeIn(epoch, a)
	return nil
}

// UpdateAccount implements Store.
func (l *Live) UpdateAccount(ctx context.Context, id string, change func(*Account) (bool, error)) (
	before, after Account, err error) {
	var refused error
	epoch := l.epoch.Load()
	before, after, err = l.Store.UpdateAccount(ctx, id, func(a *Account) (bool, error) {
		changed, err := change(a)
		refused = err
		return changed, err
	})
	switch {
	case err == nil:
		l.observeIn(epoch, after)
	case refused == nil:
		l.note(ctx, err)
		if mayHaveChanged(err) {
			l.doubt(id)
		}
	}
	return before, after, err
}

// DeleteAccount implements Store.
func (l *Live) DeleteAccount(ctx context.Context, id string, check func(Account) error) (Account, error) {
	var refused error
	a, err := l.Store.DeleteAccount(ctx, id, func(a Account) error {
		if check != nil {
			refused = check(a)
		}
		return refused
	})
	switch {
	case err == nil:
		l.removed(stateOf(a), a.Version+1)
	case refused == nil:
		l.note(ctx, err)
		if mayHaveChanged(err) {
			l.doubt(id)
		}
	}
	return a, err
}

// AddGrant implements Store.
func (l *Live) AddGrant(ctx context.Context, g Grant, limit int) ([]string, error) {
	ended, err := l.Store.AddGrant(ctx, g, limit)
	l.note(ctx, err)
	for _, id := range ended {
		l.ended.add(id)
	}
	return ended, err
}

// EndGrant implements Store. The grant counts as ended here even when the store fails, since it may have ended there.
func (l *Live) EndGrant(ctx context.Context, id string) error {
	err := l.Store.EndGrant(ctx, id)
	l.note(ctx, err)
	l.ended.add(id)
	return err
}

// SweepGrants implements Store, and forgets ended grants whose access tokens have all expired, and the states of
// accounts that were deleted some sweeps ago.
func (l *Live) SweepGrants(ctx context.Context, now time.Time) (int, error) {
	l.ended.forget()
	for _, id := range l.deleted.sweep() {
		l.states.Delete(id)
	}
	n, err := l.Store.SweepGrants(ctx, now)
	l.note(ctx, err)
	return n, err
}

// Ended reports whether a grant was ended while an access token of it that somebody holds for verified might still be
// unexpired.
func (l *Live) Ended(grant Ref) bool { return l.ended.has(grant) }

// RememberEnded makes sure that a grant that ends from now on is remembered for at least as long as given. Whoever is
// about to keep a token as verified, for that long from now on and no longer, whatever becomes of any clock, calls it
// with the rest of the token's life, before asking the store whether the token's grant has ended: either the store
// says so, or the end is still to come. It never shortens.
func (l *Live) RememberEnded(rest time.Duration) { l.ended.keepFor(rest) }

// IsUnavailable reports whether an error of a Store means that it could not be asked.
func IsUnavailable(err error) bool {
	return err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrExists) && !errors.Is(err, ErrRotated)
}

// mayHaveChanged reports whether a change that failed may have taken place.
func mayHaveChanged(err error) bool { return IsUnavailable(err) && !errors.Is(err, ErrUnchanged) }

var _ Store = (*Live)(nil)

// deletedAccounts are the ids of accounts that were deleted since the last sweep, in the one before, and so on. Who
// read an account just before it was deleted must not make it active afterwards, so its state stays for some sweeps:
// not for some time, in which a process that was stopped may have done nothing. Tokens keep pointers to the state for
// themselves.
type deletedAccounts struct {
	mu  sync.Mutex
	ids [4][]string
}

func (d *deletedAccounts) add(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ids[0] = append(d.ids[0], id)
}

// sweep returns those of the oldest sweep, and forgets them.
func (d *deletedAccounts) sweep() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	last := len(d.ids) - 1
	over := d.ids[last]
	copy(d.ids[1:], d.ids[:last])
	d.ids[0] = nil
	return over
}

// endedGrants remembers grants from their end until the last access token of them has expired, and for endedSlack more.
type endedGrants struct {
	began  time.Time // moments are counted from here, so that no setting of a clock moves them
	until  sync.Map  // Ref → time.Duration since began
	count  atomic.Int64
	memory atomic.Int64 // time.Duration
}

// endedSlack is for a check that is under way. Nothing has to be added for clocks that are set back: who keeps a
// token keeps it for a time that passes, as this does, and not until a moment.
const endedSlack = 10 * time.Second

func (e *endedGrants) keepFor(d time.Duration) {
	for {
		now := e.memory.Load()
		if now >= int64(d) || e.memory.CompareAndSwap(now, int64(d)) {
			return
		}
	}
}

// add counts before it stores: has skips the map while the count is 0, and must not miss an entry of a call that
// returned.
func (e *endedGrants) add(id string) {
	e.count.Add(1)
	until := time.Since(e.began) + time.Duration(e.memory.Load()) + endedSlack
	if _, was := e.until.Swap(GrantRef(id), until); was {
		e.count.Add(-1)
	}
}

func (e *endedGrants) has(grant Ref) bool {
	if e.count.Load() == 0 {
		return false
	}
	_, ended := e.until.Load(grant)
	return ended
}

func (e *endedGrants) forget() {
	now := time.Since(e.began)
	e.until.Range(func(grant, until any) bool {
		// CompareAndDelete, since the grant may have been ended again for longer in the meantime.
		if until.(time.Duration) < now && e.until.CompareAndDelete(grant, until) {
			e.count.Add(-1)
		}
		return true
	})
}
