package accounttest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// Memory is the plainest Store there is: maps under one lock, every question answered by looking at all of them. It
// forgets everything with the process, so it is for tests alone: as the model that other stores are compared with, and
// as a store for tests of what stands on one.
type Memory struct {
	mu       sync.Mutex
	accounts map[string]account.Account
	grants   map[string]*memoryGrant
	keys     []account.Key
	quotas   map[string]account.OrganizationQuotas
	closed   bool
}

type memoryGrant struct {
	account.Grant
	old []account.Hash
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{accounts: map[string]account.Account{}, grants: map[string]*memoryGrant{},
		quotas: map[string]account.OrganizationQuotas{}}
}

var errClosed = errors.New("store is closed")

func (m *Memory) enter(ctx context.Context) error {
	m.mu.Lock()
	if m.closed {
		return errClosed
	}
	return ctx.Err()
}

func cloned(a account.Account) account.Account {
	a.Scopes, a.Quotas = slices.Clone(a.Scopes), slices.Clone(a.Quotas)
	a.Restrictions.Origins = slices.Clone(a.Restrictions.Origins)
	a.Restrictions.Networks = slices.Clone(a.Restrictions.Networks)
	return a
}

// CreateAccount implements account.Store.
func (m *Memory) CreateAccount(ctx context.Context, a account.Account) error {
	err := m.enter(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return err
	}
	for _, b := range m.accounts {
		if a.ID == b.ID || a.ClientHash == b.ClientHash || a.ServerHash == b.ServerHash {
			return account.ErrExists
		}
	}
	m.accounts[a.ID] = cloned(a)
	return nil
}

// Account implements account.Store.
func (m *Memory) Account(ctx context.Context, id string) (account.Account, error) {
	err := m.enter(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return account.Account{}, err
	}
	a, ok := m.accounts[id]
	if !ok {
		return account.Account{}, account.ErrNotFound
	}
	return cloned(a), nil
}

// AccountByToken implements account.Store.
func (m *Memory) AccountByToken(ctx context.Context, kind account.TokenKind,
	token account.Hash) (account.Account, error) {
	err := m.enter(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return account.Account{}, err
	}
	for _, a := range m.accounts {
		if kind == account.ClientToken && a.ClientHash == token || kind == account.ServerToken && a.ServerHash == token {
			return cloned(a), nil
		}
	}
	return account.Account{}, account.ErrNotFound
}

// Accounts implements account.Store.
func (m *Memory) Accounts(ctx context.Context, organization string, page account.Page) ([]account.Account, error) {
	err := m.enter(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	var list []account.Account
	for _, a := range m.accounts {
		if a.OrganizationID == organization && (page.Status == "" || a.Status == page.Status) &&
			(page.After == "" || a.ID < page.After) {
			list = append(list, cloned(a))
		}
	}
	slices.SortFunc(list, func(a, b account.Account) int { return cmp.Compare(b.ID, a.ID) })
	return list[:min(len(list), page.Limit)], nil
}

// UpdateAccount implements account.Store.
func (m *Memory) UpdateAccount(ctx context.Context, id string,
	change func(*account.Account) (bool, error)) (before, after account.Account, err error) {
	err = m.enter(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return before, after, err
	}
	before, ok := m.accounts[id]
	if !ok {
		return before, after, account.ErrNotFound
	}
	after, _, err = account.Change(before, change)
	if err != nil {
		return account.Account{}, account.Account{}, err
	}
	m.accounts[id] = cloned(after)
	return cloned(before), after, nil
}

// DeleteAccount implements account.Store.
func (m *Memory) DeleteAccount(ctx context.Context, id string,
	check func(account.Account) error) (account.Account, error) {
	err := m.enter(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return account.Account{}, err
	}
	a, ok := m.accounts[id]
	if !ok {
		return account.Account{}, account.ErrNotFound
	}
	if check != nil {
		if err := check(cloned(a)); err != nil {
			return account.Account{}, err
		}
	}
	delete(m.accounts, id)
	return a, nil
}

// AddGrant implements account.Store.
func (m *Memory) AddGrant(ctx context.Context, g account.Grant, limit int) ([]string, error) {
	err := m.enter(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if _, taken := m.grants[g.ID]; taken {
		return nil, account.ErrExists
	}
	if _, err := m.byRefresh(g.RefreshHash); err != account.ErrNotFound {
		return nil, account.ErrExists
	}
	var same []*memoryGrant
	for _, h := range m.grants {
		if h.ClientAccount == g.ClientAccount && h.ServerAccount == g.ServerAccount {
			same = append(same, h)
		}
	}
	slices.SortFunc(same, func(a, b *memoryGrant) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	var ended []string
	for i := range max(0, len(same)+1-limit) {
		ended = append(ended, same[i].ID)
		delete(m.grants, same[i].ID)
	}
	m.grants[g.ID] = &memoryGrant{Grant: g}
	return ended, nil
}

// Grant implements account.Store.
func (m *Memory) Grant(ctx context.Context, id string) (account.Grant, error) {
	err := m.enter(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return account.Grant{}, err
	}
	g, ok := m.grants[id]
	if !ok {
		return account.Grant{}, account.ErrNotFound
	}
	return g.Grant, nil
}

// GrantByRefresh implements account.Store.
func (m *Memory) GrantByRefresh(ctx context.Context, refresh account.Hash) (account.Grant, error) {
	err := m.enter(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return account.Grant{}, err
	}
	return m.byRefresh(refresh)
}

func (m *Memory) byRefresh(refresh account.Hash) (account.Grant, error) {
	for _, g := range m.grants {
		if g.RefreshHash == refresh {
			return g.Grant, nil
		}
		if slices.Contains(g.old, refresh) {
			return g.Grant, account.ErrRotated
		}
	}
	return account.Grant{}, account.ErrNotFound
}

// RotateGrant implements account.Store.
func (m *Memory) RotateGrant(ctx context.Context, id string, old, next account.Hash) error {
	err := m.enter(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return err
	}
	g, ok := m.grants[id]
	switch {
	case !ok:
		return account.ErrNotFound
	case slices.Contains(g.old, old):
		return account.ErrRotated
	case g.RefreshHash != old:
		return account.ErrNotFound
	}
	if _, err := m.byRefresh(next); err != account.ErrNotFound {
		return account.ErrExists
	}
	g.old, g.RefreshHash = append(g.old, old), next
	return nil
}

// EndGrant implements account.Store.
func (m *Memory) EndGrant(ctx context.Context, id string) error {
	err := m.enter(ctx)
	defer m.mu.Unlock()
	if err == nil {
		delete(m.grants, id)
	}
	return err
}

// SweepGrants implements account.Store.
func (m *Memory) SweepGrants(ctx context.Context, now time.Time) (int, error) {
	err := m.enter(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return 0, err
	}
	before := len(m.grants)
	for id, g := range m.grants {
		if !now.Before(g.ExpiresAt) {
			delete(m.grants, id)
		}
	}
	return before - len(m.grants), nil
}

// Keys implements account.Store.
func (m *Memory) Keys(ctx context.Context) ([]account.Key, error) {
	err := m.enter(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	list := slices.Clone(m.keys)
	for i := range list {
		list[i].Private = bytes.Clone(list[i].Private)
	}
	slices.SortFunc(list, byAge)
	return list, nil
}

// AddFirstKey implements account.Store.
func (m *Memory) AddFirstKey(ctx context.Context, k account.Key) (account.Key, error) {
	err := m.enter(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return account.Key{}, err
	}
	slices.SortFunc(m.keys, byAge)
	for _, have := range m.keys {
		if have.Use == k.Use && have.Algorithm == k.Algorithm {
			have.Private = bytes.Clone(have.Private)
			return have, nil
		}
	}
	if slices.ContainsFunc(m.keys, func(have account.Key) bool { return have.ID == k.ID }) {
		return account.Key{}, account.ErrExists
	}
	k.Private = bytes.Clone(k.Private)
	m.keys = append(m.keys, k)
	return k, nil
}

// AddNextKey implements account.Store.
func (m *Memory) AddNextKey(ctx context.Context, k account.Key, after string) (account.Key, error) {
	err := m.enter(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return account.Key{}, err
	}
	slices.SortFunc(m.keys, byAge)
	for _, have := range slices.Backward(m.keys) {
		if have.Use != k.Use || have.Algorithm != k.Algorithm {
			continue
		}
		if have.ID != after {
			have.Private = bytes.Clone(have.Private)
			return have, nil
		}
		break
	}
	if slices.ContainsFunc(m.keys, func(have account.Key) bool { return have.ID == k.ID }) {
		return account.Key{}, account.ErrExists
	}
	kept := k
	kept.Private = bytes.Clone(k.Private)
	m.keys = append(m.keys, kept)
	return k, nil
}

// byAge puts older keys first.
func byAge(a, b account.Key) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
}

// DeleteKey implements account.Store.
func (m *Memory) DeleteKey(ctx context.Context, id string) error {
	err := m.enter(ctx)
	defer m.mu.Unlock()
	if err == nil {
		m.keys = slices.DeleteFunc(m.keys, func(k account.Key) bool { return k.ID == id })
	}
	return err
}

// Probe implements account.Store.
func (m *Memory) Probe(ctx context.Context) error {
	err := m.enter(ctx)
	defer m.mu.Unlock()
	return err
}

// ReplaceKeys implements account.Store.
func (m *Memory) ReplaceKeys(ctx context.Context, old []string, next []account.Key) (removed []string, err error) {
	err = m.enter(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(m.keys, byAge)
	var keys []account.Key
	for _, k := range m.keys {
		if slices.Contains(old, k.ID) {
			removed = append(removed, k.ID)
		} else {
			keys = append(keys, k)
		}
	}
	for _, k := range next {
		if slices.ContainsFunc(keys, func(have account.Key) bool {
			return have.Use == k.Use &&
				have.Algorithm == k.Algorithm
		}) {
			continue
		}
		if slices.ContainsFunc(keys, func(have account.Key) bool { return have.ID == k.ID }) {
			return nil, account.ErrExists
		}
		k.Private = bytes.Clone(k.Private)
		keys = append(keys, k)
	}
	m.keys = keys
	return removed, nil
}

// ReplaceKey implements account.Store.
func (m *Memory) ReplaceKey(ctx context.Context, k account.Key) error {
	err := m.enter(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return err
	}
	for i := range m.keys {
		if have := &m.keys[i]; have.ID == k.ID && have.Use == k.Use && have.Algorithm == k.Algorithm {
			have.Private, have.Sealed = bytes.Clone(k.Private), k.Sealed
			return nil
		}
	}
	return account.ErrNotFound
}

// Close implements account.Store.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}

// OrganizationQuotas implements account.Store.
func (m *Memory) OrganizationQuotas(ctx context.Context, organization string) (account.OrganizationQuotas, error) {
	err := m.enter(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return account.OrganizationQuotas{}, err
	}
	q := m.quotas[organization]
	q.Organization, q.Quotas = organization, slices.Clone(q.Quotas)
	return q, nil
}

// SetOrganizationQuotas implements account.Store.
func (m *Memory) SetOrganizationQuotas(ctx context.Context, organization string, quotas []account.Quota,
	at time.Time) (account.OrganizationQuotas, error) {
	err := m.enter(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return account.OrganizationQuotas{}, err
	}
	q := account.OrganizationQuotas{Organization: organization, Quotas: slices.Clone(quotas),
		Version: m.quotas[organization].Version + 1, UpdatedAt: at}
	m.quotas[organization] = q
	q.Quotas = slices.Clone(quotas)
	return q, nil
}

var _ account.Store = (*Memory)(nil)
