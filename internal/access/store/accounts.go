package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

const selectAccount = "SELECT " + accountColumns + " FROM maps_accounts WHERE "

// CreateAccount implements account.Store. No cached token depends on the new account.
func (s *Store) CreateAccount(ctx context.Context, a account.Account, limit int) error {
	return s.write(ctx, func(t *tx) error {
		if err := t.lock(t.ctx, "accounts of "+a.OrganizationID); err != nil {
			return err
		}
		n, err := first(t, func(n *int) []any { return []any{number(n)} },
			"SELECT count(*) FROM maps_accounts WHERE organization = $1 AND status <> $2", a.OrganizationID,
			string(account.StatusRevoked))
		switch {
		case err != nil:
			return err
		case n >= limit:
			return account.ErrLimit
		}
		_, err = t.exec(insert("maps_accounts", accountColumns, 1), accountFields(&a)...)
		return err
	})
}

// Account implements account.Store.
func (s *Store) Account(ctx context.Context, id string) (account.Account, error) {
	return readFirst(ctx, s, accountFields, selectAccount+"id = $1", id)
}

// AccountByToken implements account.Store.
func (s *Store) AccountByToken(ctx context.Context, kind account.TokenKind,
	token account.Hash) (account.Account, error) {
	sql := selectAccount + "server_hash = $1"
	if kind == account.ClientToken {
		sql = selectAccount + "client_hash = $1"
	}
	return readFirst(ctx, s, accountFields, sql, token[:])
}

// Accounts implements account.Store.
func (s *Store) Accounts(ctx context.Context, organization string,
	page account.Page) (accounts []account.Account, err error) {
	sql, args := selectAccount+"organization = $1", []any{organization}
	if page.Status != "" {
		args = append(args, string(page.Status))
		sql += fmt.Sprintf(" AND status = $%d", len(args))
	}
	if page.After != "" {
		args = append(args, page.After)
		sql += fmt.Sprintf(" AND id < $%d", len(args))
	}
	args = append(args, int64(page.Limit))
	sql += fmt.Sprintf(" ORDER BY id DESC LIMIT $%d", len(args))
	err = s.read(ctx, func(t *tx) error {
		accounts, err = list(t, accountFields, sql, args...)
		return err
	})
	return accounts, err
}

// Organizations implements account.Store. An index has all that it reads.
func (s *Store) Organizations(ctx context.Context, after string,
	limit int) (organizations []account.Organization, err error) {
	err = s.read(ctx, func(t *tx) error {
		organizations, err = list(t, func(o *account.Organization) []any {
			return []any{text(&o.Name), number(&o.Active), number(&o.Suspended), number(&o.Revoked)}
		}, `SELECT organization, count(*) FILTER (WHERE status = $1), count(*) FILTER (WHERE status = $2),
			count(*) FILTER (WHERE status = $3) FROM maps_accounts WHERE organization > $4
			GROUP BY organization ORDER BY organization LIMIT $5`, string(account.StatusActive),
			string(account.StatusSuspended), string(account.StatusRevoked), after, int64(limit))
		return err
	})
	return organizations, err
}

// UpdateAccount implements account.Store.
func (s *Store) UpdateAccount(ctx context.Context, id string,
	change func(*account.Account) (bool, error)) (before, after account.Account, err error) {
	err = s.write(ctx, func(t *tx) error {
		before, err = first(t, accountFields, selectAccount+"id = $1"+t.forUpdate, id)
		if err != nil {
			return err
		}
		var changed bool
		if after, changed, err = account.Change(before, change); err != nil || !changed {
			return err
		}
		t.changed(before.OrganizationID)
		_, err = t.exec("UPDATE maps_accounts SET ("+accountColumns+") = "+tuples(1, len(accountFields(&after)))+
			" WHERE id = $1", accountFields(&after)...)
		return err
	})
	if err != nil {
		return account.Account{}, account.Account{}, err
	}
	return before, after, nil
}

// DeleteAccount implements account.Store. Publishable keys are deleted by their reference to the account. Grants of the
// account are useless without it, and stay until they expire.
func (s *Store) DeleteAccount(ctx context.Context, id string,
	check func(account.Account) error) (was account.Account, err error) {
	err = s.write(ctx, func(t *tx) error {
		was, err = first(t, accountFields, selectAccount+"id = $1"+t.forUpdate, id)
		if err != nil {
			return err
		}
		if check != nil {
			if err := check(was); err != nil {
				return err
			}
		}
		t.changed(was.OrganizationID)
		for _, sql := range []string{
			"DELETE FROM maps_accounts WHERE id = $1",
			"DELETE FROM maps_grant_pairs WHERE client_account = $1",
			"DELETE FROM maps_grant_pairs WHERE server_account = $1",
		} {
			if _, err := t.exec(sql, id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return account.Account{}, err
	}
	return was, nil
}

// OrganizationQuotas implements account.Store.
func (s *Store) OrganizationQuotas(ctx context.Context, organization string) (account.Quotas, error) {
	quotas, err := readFirst(ctx, s, func(q *account.Quotas) []any { return []any{object(q)} },
		"SELECT quotas FROM maps_organizations WHERE organization = $1", organization)
	if errors.Is(err, account.ErrNotFound) {
		return nil, nil
	}
	return quotas, err
}

// SetOrganizationQuotas implements account.Store.
func (s *Store) SetOrganizationQuotas(ctx context.Context, organization string, quotas account.Quotas) error {
	return s.write(ctx, func(t *tx) error {
		t.changed(organization)
		_, err := t.exec(insert("maps_organizations", "organization, quotas", 1)+
			" ON CONFLICT (organization) DO UPDATE SET quotas = excluded.quotas", organization, object(&quotas))
		return err
	})
}

// readFirst reads one row in a separate call.
func readFirst[T any](ctx context.Context, s *Store, fields func(*T) []any, sql string,
	args ...any) (one T, err error) {
	err = s.read(ctx, func(t *tx) error {
		one, err = first(t, fields, sql, args...)
		return err
	})
	return one, err
}

// changed records that the transaction changes an organization, or the signing keys (keysChanged).
func (t *tx) changed(subject string) { t.changes = append(t.changes, subject) }
