package store

import (
	"fmt"
	"strings"
)

// schema is what makes each version of the tables from the one before, in the dialect of SQLite. Ids and names compare
// by their bytes. Times are microseconds since 1970, in UTC; starts of usage are seconds.
var schema = [][]string{{
	`CREATE TABLE maps_accounts (
		id TEXT PRIMARY KEY,
		organization TEXT NOT NULL,
		platform TEXT NOT NULL,
		is_admin INTEGER NOT NULL,
		description TEXT NOT NULL,
		scopes TEXT NOT NULL,
		status TEXT NOT NULL,
		created_by TEXT NOT NULL,
		client_hint TEXT NOT NULL,
		server_hint TEXT NOT NULL,
		created_at INTEGER NOT NULL,
		updated_at INTEGER NOT NULL,
		client_hash BLOB NOT NULL UNIQUE,
		server_hash BLOB NOT NULL UNIQUE,
		generation INTEGER NOT NULL,
		held_suspended INTEGER NOT NULL,
		held_scopes TEXT NOT NULL,
		dropped_scopes TEXT NOT NULL,
		quotas TEXT NOT NULL,
		restrictions TEXT NOT NULL
	) STRICT`,
	`CREATE INDEX maps_accounts_by_organization ON maps_accounts (organization, id)`,
	`CREATE INDEX maps_accounts_by_status ON maps_accounts (organization, status, id)`,
	`CREATE TABLE maps_organizations (
		organization TEXT PRIMARY KEY,
		quotas TEXT NOT NULL
	) STRICT`,
	`CREATE TABLE maps_grants (
		id TEXT PRIMARY KEY,
		organization TEXT NOT NULL,
		client_account TEXT NOT NULL,
		server_account TEXT NOT NULL,
		client_generation INTEGER NOT NULL,
		server_generation INTEGER NOT NULL,
		scopes TEXT NOT NULL,
		created_at INTEGER NOT NULL,
		expires_at INTEGER NOT NULL
	) STRICT, WITHOUT ROWID`,
	`CREATE INDEX maps_grants_by_pair ON maps_grants (client_account, server_account, id)`,
	`CREATE INDEX maps_grants_by_expiry ON maps_grants (expires_at)`,
	// How many grants each pair of accounts has. Servers that add grants of a pair take turns by its row.
	`CREATE TABLE maps_grant_pairs (
		client_account TEXT NOT NULL,
		server_account TEXT NOT NULL,
		grants INTEGER NOT NULL,
		PRIMARY KEY (client_account, server_account)
	) STRICT, WITHOUT ROWID`,
	`CREATE INDEX maps_grant_pairs_by_server ON maps_grant_pairs (server_account)`,
	// used_at is when a token was replaced; 0 for one that was not. number counts the rotations of the grant.
	`CREATE TABLE maps_refresh_tokens (
		hash BLOB PRIMARY KEY,
		grant_id TEXT NOT NULL REFERENCES maps_grants (id) ON DELETE CASCADE,
		number INTEGER NOT NULL,
		used_at INTEGER NOT NULL
	) STRICT, WITHOUT ROWID`,
	`CREATE INDEX maps_refresh_tokens_by_grant ON maps_refresh_tokens (grant_id, number)`,
	`CREATE TABLE maps_keys (
		id TEXT PRIMARY KEY,
		key_use TEXT NOT NULL,
		algorithm TEXT NOT NULL,
		private BLOB NOT NULL,
		sealed INTEGER NOT NULL,
		created_at INTEGER NOT NULL
	) STRICT`,
	// Usage by hour, day and month, and by minute for what has quotas by the minute. An empty account is the sum over the
	// organization.
	`CREATE TABLE maps_usage (
		organization TEXT NOT NULL,
		step TEXT NOT NULL,
		start INTEGER NOT NULL,
		account TEXT NOT NULL,
		scope TEXT NOT NULL,
		requests INTEGER NOT NULL,
		refused INTEGER NOT NULL,
		errors INTEGER NOT NULL,
		units INTEGER NOT NULL,
		PRIMARY KEY (organization, step, start, account, scope)
	) STRICT, WITHOUT ROWID`,
	`CREATE INDEX maps_usage_by_account ON maps_usage (organization, account, step, start, scope)`,
	`CREATE INDEX maps_usage_by_age ON maps_usage (step, start)`,
	// The last flush of each process, so that one whose answer was lost is not added twice.
	`CREATE TABLE maps_usage_flushes (
		node TEXT PRIMARY KEY,
		number INTEGER NOT NULL,
		seen_at INTEGER NOT NULL
	) STRICT`,
	// Quotas whose use was reported at a level, in percent, in the window from start to ends.
	`CREATE TABLE maps_quota_marks (
		organization TEXT NOT NULL,
		account TEXT NOT NULL,
		scope TEXT NOT NULL,
		unit TEXT NOT NULL,
		quota_window TEXT NOT NULL,
		quota INTEGER NOT NULL,
		start INTEGER NOT NULL,
		level INTEGER NOT NULL,
		ends INTEGER NOT NULL,
		PRIMARY KEY (organization, account, scope, unit, quota_window, quota, start, level)
	) STRICT, WITHOUT ROWID`,
}}

// tables are those that a copy of a store has, in an order in which they can be filled, with their columns and what
// they are sorted by.
var tables = []struct{ name, columns, key string }{
	{"maps_accounts", accountColumns, "id"},
	{"maps_organizations", "organization, quotas", "organization"},
	{"maps_grants", grantColumns, "id"},
	{"maps_grant_pairs", "client_account, server_account, grants", "client_account, server_account"},
	{"maps_refresh_tokens", refreshTokenColumns, "hash"},
	{"maps_keys", keyColumns, "id"},
	{"maps_usage", usageColumns, usageKeyColumns},
	{"maps_quota_marks", markColumns, markKeyColumns},
}

// migrate brings the tables up to date; servers that start at the same time take turns. adapt turns a statement of
// schema into the database's own dialect.
func migrate(t *tx, adapt func(string) string, more []string) error {
	if err := t.lock(t.ctx, "schema"); err != nil {
		return err
	}
	if _, err := t.exec(adapt("CREATE TABLE IF NOT EXISTS maps_schema (version INTEGER NOT NULL)")); err != nil {
		return err
	}
	version := 0
	known, err := list(t, func(v *int) []any { return []any{number(v)} }, "SELECT version FROM maps_schema")
	if err != nil {
		return err
	}
	if len(known) > 0 {
		version = known[0]
	}
	switch {
	case version > len(schema):
		return fmt.Errorf("its tables have version %d, and this program knows versions up to %d: a newer caddy-maps wrote "+
			"them; use that one", version, len(schema))
	case version == len(schema):
		return nil
	}
	statements := []string{"DELETE FROM maps_schema", fmt.Sprintf("INSERT INTO maps_schema VALUES (%d)", len(schema))}
	for _, step := range schema[version:] {
		statements = append(statements, step...)
	}
	if version == 0 {
		statements = append(statements, more...)
	}
	for _, sql := range statements {
		if _, err := t.exec(adapt(sql)); err != nil {
			return err
		}
	}
	return nil
}

// SchemaVersion is the version of the tables that this program makes and reads.
const SchemaVersion = 1

// postgresDialect turns a statement of schema into PostgreSQL's dialect.
var postgresDialect = strings.NewReplacer("TEXT", `text COLLATE "C"`, "INTEGER", "bigint", "BLOB", "bytea",
	" STRICT, WITHOUT ROWID", "", " STRICT", "")
