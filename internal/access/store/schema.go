package store

import (
	"fmt"
	"strings"
)

// schema has the statements that upgrade the tables to each version, in the dialect of SQLite. Text is compared by
// bytes. Times are microseconds since 1970; starts of usage are seconds.
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
	`CREATE TABLE maps_publishable_keys (
		id TEXT PRIMARY KEY,
		organization TEXT NOT NULL,
		account TEXT NOT NULL REFERENCES maps_accounts (id) ON DELETE CASCADE,
		key_text TEXT NOT NULL UNIQUE,
		description TEXT NOT NULL,
		scopes TEXT NOT NULL,
		origins TEXT NOT NULL,
		created_by TEXT NOT NULL,
		created_at INTEGER NOT NULL
	) STRICT`,
	`CREATE INDEX maps_publishable_keys_by_account ON maps_publishable_keys (account, id)`,
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
	// The number of grants of each pair of accounts. Its row serializes calls that add grants of the pair.
	`CREATE TABLE maps_grant_pairs (
		client_account TEXT NOT NULL,
		server_account TEXT NOT NULL,
		grants INTEGER NOT NULL,
		PRIMARY KEY (client_account, server_account)
	) STRICT, WITHOUT ROWID`,
	`CREATE INDEX maps_grant_pairs_by_server ON maps_grant_pairs (server_account)`,
	// used_at is when a token was replaced, or 0. number is the number of rotations before the token.
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
	// Usage by hour, day and month, and by minute if there are quotas by the minute. An empty account is the sum over the
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
	// The last flush of each process, so that a repeated one is not added twice.
	`CREATE TABLE maps_usage_flushes (
		node TEXT PRIMARY KEY,
		number INTEGER NOT NULL,
		seen_at INTEGER NOT NULL
	) STRICT`,
	// Levels of quotas, in percent, that were reported in the window from start to ends.
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

// tables are the tables that Copy copies, in this order, with their columns and their keys.
var tables = []struct{ name, columns, key string }{
	{"maps_accounts", accountColumns, "id"},
	{"maps_publishable_keys", publishableKeyColumns, "id"},
	{"maps_organizations", "organization, quotas", "organization"},
	{"maps_grants", grantColumns, "id"},
	{"maps_grant_pairs", "client_account, server_account, grants", "client_account, server_account"},
	{"maps_refresh_tokens", refreshTokenColumns, "hash"},
	{"maps_keys", keyColumns, "id"},
	{"maps_usage", usageColumns, usageKeyColumns},
	{"maps_quota_marks", markColumns, markKeyColumns},
}

// migrate creates or upgrades the tables. Servers that start at the same time are serialized. adapt translates a
// statement of schema into the dialect of the database.
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
		return fmt.Errorf("its tables have version %d, and this program supports versions up to %d: they were upgraded by a "+
			"newer caddy-maps; use that version", version, len(schema))
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

// SchemaVersion is the current version of the tables.
const SchemaVersion = 1

// postgresDialect translates a statement of schema into the dialect of PostgreSQL.
var postgresDialect = strings.NewReplacer("TEXT", `text COLLATE "C"`, "INTEGER", "bigint", "BLOB", "bytea",
	" STRICT, WITHOUT ROWID", "", " STRICT", "")
