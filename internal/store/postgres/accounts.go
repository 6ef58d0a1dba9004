package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/mapsedge/caddy-maps/internal/account"
)

// CreateAccount implements account.Store. No server knows anything of an account that is new, so none has to be told.
func (s *Store) CreateAccount(ctx context.Context, a account.Account) error {
	return s.write(ctx, transaction{
		read: func(*pgx.Batch) {},
		write: func(b *pgx.Batch) ([]change, error) {
			b.Queue(insert("maps_accounts", accountColumns, accountWidth), accountValues(&a)...)
			return nil, nil
		},
	})
}

func insert(table, columns string, n int) string {
	return "INSERT INTO " + table + " (" + columns + ") VALUES (" + parameters(1, n) + ")"
}

// parameters lists n of them: $1, $2, …
func parameters(first, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "$%d", first+i)
	}
	return b.String()
}

// Account implements account.Store.
func (s *Store) Account(ctx context.Context, id string) (account.Account, error) {
	return s.oneAccount(ctx, "id = $1", toText(id))
}

// AccountByToken implements account.Store. It takes the same time for a token that nobody has: the database answers
// with one row in any case, of the same columns, so that as much is sent and read.
func (s *Store) AccountByToken(ctx context.Context, kind account.TokenKind,
	token account.Hash) (account.Account, error) {
	sql := selectByServerToken
	if kind == account.ClientToken {
		sql = selectByClientToken
	}
	var found bool
	var a account.Account
	err := s.call(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return queryOn(ctx, conn, sql, func(row pgx.Row) (err error) {
			a, err = scanAccount(rowAfter{row, &found})
			return err
		}, token[:])
	})
	if err != nil {
		return account.Account{}, err
	}
	if !found {
		return account.Account{}, account.ErrNotFound
	}
	return a, nil
}

var selectByClientToken, selectByServerToken = selectByToken("client_hash"), selectByToken("server_hash")

// selectByToken gives a column that tells whether there is such an account, and then accountColumns: of the account,
// or else of one that is about as large.
func selectByToken(hash string) string {
	var columns strings.Builder
	for column := range strings.SplitSeq(accountColumns, ", ") {
		fmt.Fprintf(&columns, ", coalesce(a.%s, %s)", column, nobody[column])
	}
	return "SELECT a.id IS NOT NULL" + columns.String() +
		" FROM (SELECT $1::bytea AS token) AS asked LEFT JOIN maps_accounts AS a ON a." + hash + " = asked.token"
}

// nobody is an account that does not exist, as SQL by its columns.
var nobody = map[string]string{
	"id": "'sa_0000000000000000000000'", "organization": "'nobody'", "platform": "'WEB'", "is_admin": "false",
	"description": "''",
	"scopes":      "'DIRECTION REVERSEGEOCODING'", "status": "'ACTIVE'", "created_by": "'user:nobody'",
	"client_hint": "'0000'", "server_hint": "'0000'",
	"created_at": "'2025-01-02 03:04:05.678901+00'::timestamptz", "created_ns": "1",
	"updated_at": "'2025-01-02 03:04:05.678901+00'::timestamptz",
	"updated_ns": "1", "client_hash": "asked.token", "server_hash": "asked.token", "generation": "1", "version": "1",
	"held_suspended": "false", "held_scopes": "''", "dropped_scopes": "''", "held_version": "1",
	"quotas": "'[]'", "restrictions": "'{}'",
}

// rowAfter is a row without its first column, which is scanned elsewhere.
type rowAfter struct {
	pgx.Row
	first any
}

func (r rowAfter) Scan(to ...any) error { return r.Row.Scan(append([]any{r.first}, to...)...) }

func (s *Store) oneAccount(ctx context.Context, where string, arg any) (account.Account, error) {
	list, err := s.listAccounts(ctx, "SELECT "+accountColumns+" FROM maps_accounts WHERE "+where, arg)
	if err != nil {
		return account.Account{}, err
	}
	if len(list) == 0 {
		return account.Account{}, account.ErrNotFound
	}
	return list[0], nil
}

func (s *Store) listAccounts(ctx context.Context, sql string, args ...any) ([]account.Account, error) {
	var list []account.Account
	err := s.call(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		list = nil
		return queryOn(ctx, conn, sql, func(row pgx.Row) error {
			a, err := scanAccount(row)
			list = append(list, a)
			return err
		}, args...)
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Accounts implements account.Store.
func (s *Store) Accounts(ctx context.Context, organization string, page account.Page) ([]account.Account, error) {
	sql := "SELECT " + accountColumns + " FROM maps_accounts WHERE organization = $1"
	args := []any{toText(organization)}
	if page.Status != "" {
		args = append(args, string(page.Status))
		sql += fmt.Sprintf(" AND status = $%d", len(args))
	}
	if page.After != "" {
		args = append(args, toText(page.After))
		sql += fmt.Sprintf(" AND id < $%d", len(args))
	}
	args = append(args, int64(page.Limit))
	sql += fmt.Sprintf(" ORDER BY id DESC LIMIT $%d", len(args))
	return s.listAccounts(ctx, sql, args...)
}

// lockAccount queues the reading of an account that is about to change.
func lockAccount(b *pgx.Batch, id string, a *account.Account, found *bool) {
	b.Queue("SELECT "+accountColumns+" FROM maps_accounts WHERE id = $1 FOR UPDATE", toText(id)).
		QueryRow(optional(found, func(row pgx.Row) (err error) {
			*a, err = scanAccount(row)
			return err
		}))
}

// UpdateAccount implements account.Store.
func (s *Store) UpdateAccount(ctx context.Context, id string,
	apply func(*account.Account) (bool, error)) (before, after account.Account, err error) {
	var found bool
	err = s.write(ctx, transaction{
		read: func(b *pgx.Batch) { lockAccount(b, id, &before, &found) },
		write: func(b *pgx.Batch) ([]change, error) {
			if !found {
				return nil, account.ErrNotFound
			}
			var changed bool
			var err error
			if after, changed, err = account.Change(before, apply); err != nil || !changed {
				return nil, err
			}
			b.Queue("UPDATE maps_accounts SET ("+accountColumns+") = ("+parameters(1, accountWidth)+") WHERE id = $1",
				accountValues(&after)...)
			return []change{{kind: accountChanged, subject: id, version: after.Version}}, nil
		},
	})
	if err != nil {
		return account.Account{}, account.Account{}, err
	}
	return before, after, nil
}

// DeleteAccount implements account.Store. Its grants stay until they expire; without the account they are of no use.
func (s *Store) DeleteAccount(ctx context.Context, id string,
	check func(account.Account) error) (was account.Account, err error) {
	var found bool
	err = s.write(ctx, transaction{
		read: func(b *pgx.Batch) { lockAccount(b, id, &was, &found) },
		write: func(b *pgx.Batch) ([]change, error) {
			if !found {
				return nil, account.ErrNotFound
			}
			if check != nil {
				if err := check(was); err != nil {
					return nil, err
				}
			}
			b.Queue("DELETE FROM maps_accounts WHERE id = $1", toText(id))
			b.Queue("DELETE FROM maps_grant_pairs WHERE client_account = $1 OR server_account = $1", toText(id))
			return []change{{kind: accountDeleted, subject: id, version: was.Version + 1}}, nil
		},
	})
	if err != nil {
		return account.Account{}, err
	}
	return was, nil
}
