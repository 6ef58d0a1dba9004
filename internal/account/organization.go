package account

import (
	"context"
	"sync/atomic"
	"time"
)

// OrganizationQuotas are the quotas of all accounts of an organization together.
type OrganizationQuotas struct {
	Organization string
	Quotas       []Quota
	// Version is raised by every change, so that of two copies the newer is known. It is 0 if none was ever made.
	Version   uint64
	UpdatedAt time.Time
}

// organizationState is what is known of an organization's quotas.
type organizationState struct {
	limits  *Limits
	version uint64
	inDoubt bool // a change may or may not have reached the store, or the quotas cannot be understood
}

// organizationStateOf leaves quotas in doubt that cannot be understood: they may not allow more than was meant.
func organizationStateOf(q OrganizationQuotas, inDoubt bool) *organizationState {
	return &organizationState{
		limits: NewLimits(q.Quotas), version: q.Version, inDoubt: inDoubt || CheckQuotas(q.Quotas) != nil,
	}
}

// Organization points at an organization's present quotas.
type Organization struct {
	p atomic.Pointer[organizationState]
}

// Limits returns the present quotas, nil for none. InDoubt has to be asked for first.
func (o *Organization) Limits() *Limits { return o.p.Load().limits }

// InDoubt reports whether the quotas have to be asked for again (Live.Organization) before they are believed.
func (o *Organization) InDoubt() bool { return o.p.Load().inDoubt }

// advance moves to a newer version. Doubt stays: what was read may be older than the change that is in doubt.
func (o *Organization) advance(q OrganizationQuotas) {
	for {
		now := o.p.Load()
		if now != nil && now.version >= q.Version {
			return
		}
		if o.p.CompareAndSwap(now, organizationStateOf(q, now != nil && now.inDoubt)) {
			return
		}
	}
}

func (o *Organization) doubt() {
	for {
		now := o.p.Load()
		if now == nil || o.p.CompareAndSwap(now, &organizationState{now.limits, now.version, true}) {
			return
		}
	}
}

// Organization returns the pointer to an organization's present quotas, from memory or else from the store. It is
// still in doubt only where another change has failed meanwhile, or where the quotas cannot be understood.
func (l *Live) Organization(ctx context.Context, name string) (*Organization, error) {
	for {
		epoch := l.epoch.Load()
		var doubtful *organizationState
		if known, ok := l.organizations.Load(name); ok {
			o := known.(*Organization)
			if doubtful = o.p.Load(); doubtful != nil && !doubtful.inDoubt {
				return o, nil
			}
		}
		q, err := l.Store.OrganizationQuotas(ctx, name)
		if err != nil {
			return nil, err
		}
		if o, ok := l.organizationIn(epoch, q, doubtful); ok {
			return o, nil
		}
	}
}

// organizationIn records quotas that were read in an epoch, unless that is over. doubtful is the state in doubt that
// had been seen before.
func (l *Live) organizationIn(epoch uint64, q OrganizationQuotas, doubtful *organizationState) (*Organization, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.epoch.Load() != epoch {
		return nil, false
	}
	entry, _ := l.organizations.LoadOrStore(q.Organization, new(Organization))
	o := entry.(*Organization)
	if doubtful != nil && q.Version >= doubtful.version {
		o.p.CompareAndSwap(doubtful, organizationStateOf(q, false))
	}
	o.advance(q)
	return o, true
}

// SetOrganizationQuotas implements Store.
func (l *Live) SetOrganizationQuotas(ctx context.Context, name string, quotas []Quota,
	at time.Time) (OrganizationQuotas, error) {
	q, err := l.Store.SetOrganizationQuotas(ctx, name, quotas, at)
	if err == nil {
		l.OrganizationChanged(q)
		return q, nil
	}
	l.note(ctx, err)
	if known, ok := l.organizations.Load(name); ok && mayHaveChanged(err) {
		known.(*Organization).doubt()
	}
	return q, err
}

// OrganizationChanged is the method of Listener. The quotas are kept even if nobody has asked for them yet: who is just
// reading older ones from the store must not put those into their place.
func (l *Live) OrganizationChanged(q OrganizationQuotas) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	entry, _ := l.organizations.LoadOrStore(q.Organization, new(Organization))
	entry.(*Organization).advance(q)
}
