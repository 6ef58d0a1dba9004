package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/mapsedge/caddy-maps/internal/account"
	"github.com/mapsedge/caddy-maps/internal/usage"
)

// importBatch is how many rows are sent at once.
const importBatch = 500

// Import implements account.Importer, in one transaction. A server that starts meanwhile waits for the lock without
// which it makes no keys, and finds those that were put. One that has started before has made keys, so that the
// database is not empty.
func (s *Store) Import(ctx context.Context, fill func(into account.Filling) error) error {
	return s.on(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "begin isolation level read committed")
		if err == nil {
			err = importInto(ctx, conn, fill)
		}
		if err == nil {
			_, err = conn.Exec(ctx, "commit")
			return asDBError(err)
		}
		rollback(context.WithoutCancel(ctx), conn)
		return err
	})
}

func importInto(ctx context.Context, conn *pgx.Conn, fill func(into account.Filling) error) error {
	if _, err := conn.Exec(ctx, "SELECT value FROM maps_state WHERE name = 'keys' FOR UPDATE"); err != nil {
		return asDBError(err)
	}
	var some bool
	err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM maps_keys) OR EXISTS (SELECT 1 FROM maps_accounts)
		OR EXISTS (SELECT 1 FROM maps_grants) OR EXISTS (SELECT 1 FROM maps_organizations)
		OR EXISTS (SELECT 1 FROM maps_usage) OR EXISTS (SELECT 1 FROM maps_usage_recent)`).Scan(&some)
	switch {
	case err != nil:
		return asDBError(err)
	case some:
		return account.ErrNotEmpty
	}
	f := &filling{conn: conn, rows: new(pgx.Batch)}
	if err := fill(f); err != nil {
		return err
	}
	return f.flush(ctx)
}

// filling is an account.Filling within a transaction.
type filling struct {
	conn *pgx.Conn
	rows *pgx.Batch // not sent yet
	// steps and counts are of usage that is not sent yet. There may be millions of them, so that many make one statement.
	steps  []string
	counts []usage.Count
}

// Put implements account.Filling.
func (f *filling) Put(ctx context.Context, r account.Record) error {
	switch {
	case r.Key != nil:
		f.rows.Queue(insert("maps_keys", keyColumns, 7), keyValues(r.Key)...)
	case r.Account != nil:
		f.rows.Queue(insert("maps_accounts", accountColumns, accountWidth), accountValues(r.Account)...)
	case r.Grant != nil:
		g := r.Grant
		f.rows.Queue(`INSERT INTO maps_grants (id, refresh_hash, client_account, server_account, client_generation,
			server_generation, organization, scopes, created_at, created_ns, expires_at, expires_ns, rotations)
			VALUES (`+parameters(1, 13)+`)`, append(grantValues(&g.Grant), int64(g.Rotations))...)
		const token = "INSERT INTO maps_refresh_tokens (hash, grant_id, number) VALUES ($1, $2, $3)"
		f.rows.Queue(token, g.RefreshHash[:], toText(g.ID), int64(g.Rotations))
		for _, old := range g.Replaced {
			f.rows.Queue(token, old.Hash[:], toText(g.ID), int64(old.Number))
		}
	case r.Organization != nil:
		f.rows.Queue(insert("maps_organizations", quotasColumns, 5), quotasValues(r.Organization)...)
	case r.Usage != nil:
		u := r.Usage
		f.steps = append(f.steps, string(u.Step))
		f.counts = append(f.counts, usage.Count{Subject: usage.Subject{Organization: u.Organization, Account: u.Account},
			Scope: account.Scope(u.Scope), Start: u.Start.Unix(), Usage: u.Usage})
	}
	if f.rows.Len()+len(f.counts) < importBatch {
		return nil
	}
	return f.flush(ctx)
}

func (f *filling) flush(ctx context.Context) error {
	if len(f.counts) > 0 {
		f.rows.Queue(`INSERT INTO maps_usage (step, organization, account, scope, start, requests, refused, errors, units)
			SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[],
				$8::bigint[], $9::bigint[])`, append([]any{f.steps}, countColumns(f.counts)...)...)
		f.steps, f.counts = nil, nil
	}
	if f.rows.Len() == 0 {
		return nil
	}
	err := f.conn.SendBatch(ctx, f.rows).Close()
	f.rows = new(pgx.Batch)
	return asDBError(err)
}

// Export implements account.Exporter. Nothing is recent in a store that is being filled.
func (f *filling) Export(ctx context.Context, each func(account.Record) error) error {
	if err := f.flush(ctx); err != nil {
		return err
	}
	for _, export := range []func() error{
		func() error {
			return exportAll(ctx, f, "SELECT "+keyColumns+" FROM maps_keys ORDER BY created_at, created_ns, id", scanKey,
				func(k *account.Key) error { return each(account.Record{Key: k}) })
		},
		func() error {
			return exportAll(ctx, f, "SELECT "+accountColumns+" FROM maps_accounts ORDER BY id", scanAccount,
				func(a *account.Account) error { return each(account.Record{Account: a}) })
		},
		func() error {
			return exportAll(ctx, f, "SELECT "+grantColumns+`, g.rotations,
				ARRAY(SELECT r.hash FROM maps_refresh_tokens r WHERE r.grant_id = g.id ORDER BY r.number),
				ARRAY(SELECT r.number FROM maps_refresh_tokens r WHERE r.grant_id = g.id ORDER BY r.number)
				FROM maps_grants g ORDER BY g.id`, scanGrantRecord,
				func(g *account.GrantRecord) error { return each(account.Record{Grant: g}) })
		},
		func() error {
			return exportAll(ctx, f, "SELECT "+quotasColumns+" FROM maps_organizations ORDER BY organization", scanQuotas,
				func(q *account.OrganizationQuotas) error { return each(account.Record{Organization: q}) })
		},
		func() error {
			return exportAll(ctx, f, `SELECT step, start, organization, account, scope, requests, refused, errors, units
				FROM maps_usage WHERE step <> 'minute'`, scanUsageRecord,
				func(u *account.UsageRecord) error { return each(account.Record{Usage: u}) })
		},
	} {
		if err := export(); err != nil {
			return err
		}
	}
	return nil
}

// exportAll leaves the errors of each as they are.
func exportAll[T any](ctx context.Context, f *filling, sql string, scan func(pgx.Row) (T, error),
	each func(*T) error) error {
	rows, err := f.conn.Query(ctx, sql)
	if err != nil {
		return asDBError(err)
	}
	defer rows.Close()
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return asDBError(err)
		}
		if err := each(&one); err != nil {
			return err
		}
	}
	return asDBError(rows.Err())
}

func scanUsageRecord(row pgx.Row) (account.UsageRecord, error) {
	var u account.UsageRecord
	var step, organization, name string
	var start int64
	err := row.Scan(&step, &start, &organization, &name, &u.Scope, &u.Requests, &u.Refused, &u.Errors, &u.Units)
	u.Step, u.Start = account.Step(step), time.Unix(start, 0).UTC()
	u.Organization, u.Account = fromText(organization), fromText(name)
	return u, err
}

// wider scans a row that has more columns than its reader knows.
type wider struct {
	pgx.Row
	more []any
}

func (w wider) Scan(dest ...any) error { return w.Row.Scan(append(dest, w.more...)...) }

func scanGrantRecord(row pgx.Row) (account.GrantRecord, error) {
	var rotations int64
	var hashes [][]byte
	var numbers []int64
	g, err := scanGrant(wider{row, []any{&rotations, &hashes, &numbers}})
	record := account.GrantRecord{Grant: g, Rotations: uint64(rotations)}
	if err != nil {
		return record, err
	}
	last := len(hashes) - 1
	if last < 0 || len(numbers) != len(hashes) || numbers[last] != rotations ||
		string(hashes[last]) != string(g.RefreshHash[:]) {
		return record, damaged("grant")
	}
	for i, hash := range hashes[:last] {
		old := account.ReplacedToken{Number: uint64(numbers[i])}
		if copy(old.Hash[:], hash) != len(old.Hash) {
			return record, damaged("refresh token")
		}
		record.Replaced = append(record.Replaced, old)
	}
	return record, nil
}

// Interface guard
var _ account.Importer = (*Store)(nil)
