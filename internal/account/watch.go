package account

import (
	"context"
	"time"
)

// Watcher is implemented by a Store that other processes change, too.
type Watcher interface {
	// Watch reports changes to a listener until ctx ends, and returns then. It begins with those that were committed after
	// the store was opened. Changes of this process are reported as well; those that a listener knows already do no harm.
	Watch(ctx context.Context, to Listener)
}

// Listener hears what was committed to a store by any process. Watch makes its calls one after another.
type Listener interface {
	// AccountChanged reports an account as it is now, or as it was at some moment after the change.
	AccountChanged(a Account)
	// AccountDeleted reports a deletion. version is higher than any that the account had.
	AccountDeleted(id string, version uint64)
	// OrganizationChanged reports the quotas of an organization as they are now, or as they were at some moment after the
	// change.
	OrganizationChanged(q OrganizationQuotas)
	// GrantEnded reports a grant that was ended before its time.
	GrantEnded(id string)
	// KeysChanged reports that signing keys were added or removed.
	KeysChanged()
	// KeyRemoved reports a signing key that was removed. KeysChanged follows.
	KeyRemoved(id string)
	// ChangesMissed reports that there were changes which can no longer be named. Whatever was read from the store before
	// has to be read again.
	ChangesMissed()

	// Synced reports that every change that was committed before asked has been reported.
	Synced(asked time.Time)
	// NotSynced reports that the store could not be asked for changes. It will be asked again.
	NotSynced(err error)
}

// AccountChanged is the method of Listener.
func (l *Live) AccountChanged(a Account) { l.Observe(a) }

// AccountDeleted is the method of Listener. The state is kept even if nobody has asked for the account yet: who is just
// reading it from the store must not make it active afterwards.
func (l *Live) AccountDeleted(id string, version uint64) { l.removed(&State{ID: id}, version) }

func (l *Live) removed(last *State, version uint64) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	l.state(last.ID).remove(last, version)
	l.deleted.add(last.ID)
}

// GrantEnded is the method of Listener.
func (l *Live) GrantEnded(id string) { l.ended.add(id) }

// KeysChanged is the method of Listener.
func (l *Live) KeysChanged() { l.tellKeys(KeyListener.KeysChanged) }

// KeyRemoved is the method of Listener.
func (l *Live) KeyRemoved(id string) { l.tellKeys(func(to KeyListener) { to.KeyRemoved(id) }) }

// ChangesMissed is the method of Listener. It cuts every state off from what holds it: a token that was verified before
// finds its states in doubt, for good, and is verified anew, its grant and its key included.
func (l *Live) ChangesMissed() {
	// First: whoever verifies a token anew has to find that the keys are not to be believed.
	l.tellKeys(KeyListener.KeysMissed)
	l.mu.Lock()
	l.epoch.Add(1)
	l.states.Range(func(id, c any) bool {
		l.states.Delete(id)
		c.(*Current).detach()
		return true
	})
	// Every token that is verified anew, which all are now, asks for its organization anew.
	l.organizations.Clear()
	l.mu.Unlock()
}

// KeyListener hears of changes of the signing keys, by this or another process. Its methods must not block.
type KeyListener interface {
	// KeysChanged: keys may have been added or removed.
	KeysChanged()
	// KeyRemoved: this key is no longer in the store. Whoever removed it is told so, or the store counts as asked, only
	// after this has returned.
	KeyRemoved(id string)
	// KeysMissed: keys may have been removed and added of which nobody can say which.
	KeysMissed()
}

// ListenForKeys tells a listener of changes of the keys until cancel is called.
func (l *Live) ListenForKeys(to KeyListener) (cancel func()) {
	id := new(byte)
	l.keyListeners.Store(id, to)
	return func() { l.keyListeners.Delete(id) }
}

// AddNextKey implements Store.
func (l *Live) AddNextKey(ctx context.Context, k Key, after string) (Key, error) {
	stands, err := l.Store.AddNextKey(ctx, k, after)
	l.note(ctx, err)
	if err == nil || mayHaveChanged(err) {
		l.KeysChanged()
	}
	return stands, err
}

// DeleteKey implements Store.
func (l *Live) DeleteKey(ctx context.Context, id string) error {
	err := l.Store.DeleteKey(ctx, id)
	l.note(ctx, err)
	if err == nil {
		l.KeyRemoved(id)
	}
	if err == nil || mayHaveChanged(err) {
		l.KeysChanged()
	}
	return err
}

// ReplaceKeys implements Store.
func (l *Live) ReplaceKeys(ctx context.Context, old []string, next []Key) ([]string, error) {
	removed, err := l.Store.ReplaceKeys(ctx, old, next)
	l.note(ctx, err)
	for _, id := range removed {
		l.KeyRemoved(id)
	}
	if err == nil || mayHaveChanged(err) {
		l.KeysChanged()
	}
	return removed, err
}

func (l *Live) tellKeys(tell func(KeyListener)) {
	l.keyListeners.Range(func(_, to any) bool {
		tell(to.(KeyListener))
		return true
	})
}
