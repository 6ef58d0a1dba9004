package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The tables. Names and ids compare by their bytes, whatever the language of the database. A time has nanoseconds, of
// which PostgreSQL keeps the thousands: the rest stands beside it.

// migrations lead from one version of the tables to the next; the first from none. A step may be taken while servers
// of the version before still run.
var migrations = [][]string{{
	`CREATE TABLE maps_accounts (
		id text COLLATE "C" PRIMARY KEY,
		organization text COLLATE "C" NOT NULL,
		platform text NOT NULL,
		is_admin boolean NOT NULL,
		description text NOT NULL,
		scopes text NOT NULL,
		status text NOT NULL,
		created_by text NOT NULL,
		client_hint text NOT NULL,
		server_hint text NOT NULL,
		created_at timestamptz NOT NULL,
		created_ns integer NOT NULL,
		updated_at timestamptz NOT NULL,
		updated_ns integer NOT NULL,
		client_hash bytea NOT NULL UNIQUE,
		server_hash bytea NOT NULL UNIQUE,
		generation bigint NOT NULL,
		version bigint NOT NULL
	)`,
	`CREATE INDEX maps_accounts_by_organization ON maps_accounts (organization, id)`,
	`CREATE INDEX maps_accounts_by_status ON maps_accounts (organization, status, id)`,
	`CREATE TABLE maps_grants (
		id text COLLATE "C" PRIMARY KEY,
		refresh_hash bytea NOT NULL,
		rotations bigint NOT NULL,
		client_account text COLLATE "C" NOT NULL,
		server_account text COLLATE "C" NOT NULL,
		client_generation bigint NOT NULL,
		server_generation bigint NOT NULL,
		organization text COLLATE "C" NOT NULL,
		scopes text NOT NULL,
		created_at timestamptz NOT NULL,
		created_ns integer NOT NULL,
		expires_at timestamptz NOT NULL,
		expires_ns integer NOT NULL
	)`,
	`CREATE INDEX maps_grants_by_pair ON maps_grants (client_account, server_account, created_at, created_ns, id)`,
	`CREATE INDEX maps_grants_by_expiry ON maps_grants (expires_at, expires_ns)`,
	// Present and replaced refresh tokens: number counts a grant's, from 0.
	`CREATE TABLE maps_refresh_tokens (
		hash bytea PRIMARY KEY,
		grant_id text COLLATE "C" NOT NULL REFERENCES maps_grants (id) ON DELETE CASCADE,
		number bigint NOT NULL
	)`,
	`CREATE INDEX maps_refresh_tokens_by_grant ON maps_refresh_tokens (grant_id, number)`,
	// Held by its lock alone, while the grants of a pair of accounts are counted.
	`CREATE TABLE maps_grant_pairs (
		client_account text COLLATE "C" NOT NULL,
		server_account text COLLATE "C" NOT NULL,
		PRIMARY KEY (client_account, server_account)
	)`,
	`CREATE INDEX maps_grant_pairs_by_server ON maps_grant_pairs (server_account)`,
	`CREATE TABLE maps_keys (
		id text COLLATE "C" PRIMARY KEY,
		key_use text NOT NULL,
		algorithm text NOT NULL,
		private bytea NOT NULL,
		sealed boolean NOT NULL,
		created_at timestamptz NOT NULL,
		created_ns integer NOT NULL
	)`,
	// See change. Ids have no gaps and are given in the order of the commits.
	`CREATE TABLE maps_changes (
		id bigint PRIMARY KEY,
		kind text NOT NULL,
		subject text NOT NULL,
		version bigint NOT NULL,
		nonce bigint NOT NULL,
		made_at timestamptz NOT NULL DEFAULT now()
	)`,
	`INSERT INTO maps_state (name, value) VALUES ('changes', 0), ('keys', 0)`,
	`INSERT INTO maps_changes (id, kind, subject, version, nonce) VALUES (0, 'made', '', 0, $1)`,
}, {
	// Who narrowed an account, as of one of its versions. Servers of before leave this as it is when they change an
	// account, which shows by the version.
	`ALTER TABLE maps_accounts
		ADD COLUMN held_suspended boolean NOT NULL DEFAULT false,
		ADD COLUMN held_scopes text NOT NULL DEFAULT '',
		ADD COLUMN dropped_scopes text NOT NULL DEFAULT '',
		ADD COLUMN held_version bigint NOT NULL DEFAULT 0`,
}, {
	// Servers of before leave these as they are.
	`ALTER TABLE maps_accounts
		ADD COLUMN quotas text NOT NULL DEFAULT '[]',
		ADD COLUMN restrictions text NOT NULL DEFAULT '{}'`,
	`CREATE TABLE maps_organizations (
		organization text COLLATE "C" PRIMARY KEY,
		quotas text NOT NULL,
		version bigint NOT NULL,
		updated_at timestamptz NOT NULL,
		updated_ns integer NOT NULL
	)`,
	// Usage of hours that nothing was folded of yet. Every flush updates its rows in place: there is room left in each
	// page, and no index has a count in it. Starts are Unix seconds. An empty account is the sum over the organization.
	`CREATE TABLE maps_usage_recent (
		start bigint NOT NULL,
		requests bigint NOT NULL,
		refused bigint NOT NULL,
		errors bigint NOT NULL,
		units bigint NOT NULL,
		organization text COLLATE "C" NOT NULL,
		account text COLLATE "C" NOT NULL,
		scope text COLLATE "C" NOT NULL,
		PRIMARY KEY (organization, account, scope, start)
	) WITH (fillfactor = 60)`,
	`CREATE INDEX maps_usage_recent_by_start ON maps_usage_recent (organization, start, account, scope)`,
	// Usage by step: hours, days and months of what was folded, and the last minutes.
	`CREATE TABLE maps_usage (
		start bigint NOT NULL,
		requests bigint NOT NULL,
		refused bigint NOT NULL,
		errors bigint NOT NULL,
		units bigint NOT NULL,
		organization text COLLATE "C" NOT NULL,
		account text COLLATE "C" NOT NULL,
		scope text COLLATE "C" NOT NULL,
		step text COLLATE "C" NOT NULL,
		PRIMARY KEY (organization, step, start, account, scope)
	) WITH (fillfactor = 80)`,
	`CREATE INDEX maps_usage_by_account ON maps_usage (organization, account, step, start, scope)`,
	`CREATE INDEX maps_usage_by_age ON maps_usage (step, start)`,
	// The number of each node's last flush, and when that was.
	`CREATE TABLE maps_usage_flushes (
		node text COLLATE "C" PRIMARY KEY,
		number bigint NOT NULL,
		seen bigint NOT NULL
	)`,
	// Levels of quotas that were reached in a window. The nonce is that of the call that was first.
	`CREATE TABLE maps_quota_marks (
		organization text COLLATE "C" NOT NULL,
		account text COLLATE "C" NOT NULL,
		scope text COLLATE "C" NOT NULL,
		unit text COLLATE "C" NOT NULL,
		quota_window text COLLATE "C" NOT NULL,
		quota bigint NOT NULL,
		start bigint NOT NULL,
		level bigint NOT NULL,
		ends bigint NOT NULL,
		nonce bigint NOT NULL,
		PRIMARY KEY (organization, account, scope, unit, quota_window, quota, start, level)
	)`,
	`INSERT INTO maps_state (name, value) VALUES ('fold', 0)`,
}}

// stateTable holds the version of the tables, the number of the last change, and rows whose locks keep keys from being
// added, and usage from being folded, at once.
const stateTable = `CREATE TABLE IF NOT EXISTS maps_state (name text PRIMARY KEY, value bigint NOT NULL)`

// migrate brings the tables up to date. Of servers that start at the same time one does, and the others wait for it.
// A server that finds them up to date needs no right to change them.
func migrate(ctx context.Context, conn *pgx.Conn) error {
	version, err := schemaVersion(ctx, conn, "")
	if code(err) == "42P01" { // undefined_table
		err = makeStateTable(ctx, conn)
	}
	if err != nil {
		return asDBError(err)
	}
	if err := refuseNewer(version); err != nil || version == len(migrations) {
		return err
	}
	_, err = conn.Exec(ctx, "begin isolation level read committed")
	if err == nil {
		err = migrateLocked(ctx, conn)
	}
	if err != nil {
		rollback(ctx, conn)
	}
	return asDBError(err)
}

// makeStateTable tries again when another server makes the same table, which PostgreSQL may report as an error in
// spite of IF NOT EXISTS.
func makeStateTable(ctx context.Context, conn *pgx.Conn) error {
	for attempt := 1; ; attempt++ {
		_, err := conn.Exec(ctx, stateTable)
		switch code(err) {
		case "23505", "42P07", "42710", "XX000", "40001":
			if attempt < 20 {
				time.Sleep(time.Duration(rand.IntN(50)) * time.Millisecond)
				continue
			}
		}
		return err
	}
}

func migrateLocked(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx,
		"INSERT INTO maps_state (name, value) VALUES ('schema', 0) ON CONFLICT DO NOTHING"); err != nil {
		return err
	}
	version, err := schemaVersion(ctx, conn, " FOR UPDATE")
	if err != nil {
		return err
	}
	if err := refuseNewer(version); err != nil {
		return err
	}
	for ; version < len(migrations); version++ {
		for i, sql := range migrations[version] {
			var args []any
			if version == 0 && i == len(migrations[0])-1 {
				args = []any{newNonce()}
			}
			if _, err := conn.Exec(ctx, sql, args...); err != nil {
				return err
			}
		}
	}
	if _, err := conn.Exec(ctx, "UPDATE maps_state SET value = $1 WHERE name = 'schema'", int64(version)); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "commit")
	return err
}

// schemaVersion is 0 if there are no tables yet.
func schemaVersion(ctx context.Context, conn *pgx.Conn, lock string) (version int, err error) {
	err = conn.QueryRow(ctx, "SELECT value FROM maps_state WHERE name = 'schema'"+lock).Scan(&version)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil
	}
	return version, err
}

// TableVersions returns the oldest and the newest version of the tables that this program reads. It makes the newest of
// them.
func TableVersions() (oldest, newest int) { return 1, len(migrations) }

func refuseNewer(version int) error {
	if version <= len(migrations) {
		return nil
	}
	return &dbError{text: fmt.Sprintf("its tables are of version %d, written by a newer caddy-maps; this one knows "+
		"versions up to %d", version, len(migrations))}
}

func code(err error) string {
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		return pg.Code
	}
	return ""
}
