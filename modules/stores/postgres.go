// Package pgstore is the Caddy module of the store that several servers share.
package stores

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"

	"github.com/caddyserver/caddy/v2"
	"github.com/jackc/pgx/v5/pgxpool"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/store"
	"github.com/mapsedge/caddy-maps/modules/options"
)

func init() { caddy.RegisterModule(new(Postgres)) }

// Postgres keeps accounts, grants, signing keys and usage in PostgreSQL 13 or newer, for several servers. A change
// reaches all servers within a second. The first server makes the tables, `maps_…`, in the first schema of
// `search_path`. Tables of a newer version are refused. Tested with PostgreSQL 15.
//
// Of several hosts in the connection string, the writable one is used. The servers use the database's clock. These
// parameters of the connection string matter here:
//
// Parameter | Meaning | Default
// ----------|---------|--------
// `pool_max_conns` | connections of a server, beside one more that hears of changes | 8
// `connect_timeout` | seconds that one attempt to connect to a host may take | 5
// `pool_max_conn_lifetime`, `pool_max_conn_idle_time` | when connections are replaced | 1 h, 30 min
// `default_query_exec_mode` | `cache_statement` saves some planning without a pooler | `exec` leaves nothing behind
// `target_session_attrs` | which of several hosts will do; not a replica, which is behind | `read-write`
type Postgres struct {
	// The connection string: a URL, or keywords such as `host=db.example.com dbname=maps user=maps`, with placeholders.
	// A password must be a placeholder, percent-encoded in a URL; `{env.MAPS_DATABASE_URL}` can hold all of it.
	// Required.
	DSN string `json:"dsn,omitempty"`

	// The password: one placeholder, such as `{file./run/secrets/db}`. Default: that of the connection string,
	// `PGPASSWORD` or the password file.
	Password string `json:"password,omitempty"`

	config *pgxpool.Config
	key    string
}

// CaddyModule returns the Caddy module information.
func (*Postgres) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "maps.stores.postgres", New: func() caddy.Module { return new(Postgres) }}
}

// Provision reads the connection string. It connects to nothing, so that a configuration can be checked anywhere.
func (m *Postgres) Provision(caddy.Context) error {
	if err := m.checkWritten(); err != nil {
		return err
	}
	repl := caddy.NewReplacer()
	dsn, err := repl.ReplaceOrErr(m.DSN, true, true)
	if err != nil {
		return fmt.Errorf("store postgres: connection string: %w", err) // names the placeholder alone
	}
	password, err := repl.ReplaceOrErr(m.Password, true, true)
	if err != nil {
		return options.Of("password", err)
	}
	if m.config, err = store.ParseDSN(dsn, password); err != nil {
		return err
	}
	m.key = keyOf(dsn, password)
	return nil
}

// scheme is what a connection string begins with that is a URL.
var scheme = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9+.-]*)://`)

// checkWritten finds what is wrong before any placeholder is replaced.
func (m *Postgres) checkWritten() error {
	if m.DSN == "" {
		return errors.New("store postgres needs a connection string, such as {env.MAPS_DATABASE_URL}")
	}
	if found := scheme.FindStringSubmatch(m.DSN); found != nil && found[1] != "postgres" && found[1] != "postgresql" {
		return fmt.Errorf("store postgres: the connection string begins with %s://, not with postgres://", found[1])
	}
	if err := refuseLiteralPassword(m.DSN); err != nil {
		return fmt.Errorf("store postgres: %w", err)
	}
	if m.Password != "" && !onePlaceholder.MatchString(m.Password) {
		return options.Of("password", errLiteralPassword)
	}
	return nil
}

// keySecret makes keys that tell nothing about a password, even to somebody who can guess it.
var keySecret = func() []byte {
	secret := make([]byte, sha256.Size)
	_, _ = rand.Read(secret) // it never fails
	return secret
}()

func keyOf(parts ...string) string {
	mac := hmac.New(sha256.New, keySecret)
	for _, part := range parts {
		fmt.Fprintf(mac, "%d %s", len(part), part)
	}
	return hex.EncodeToString(mac.Sum(nil))
}

// Key tells stores apart: configurations with the same connection string mean the same store. It cannot be turned
// back into one.
func (m *Postgres) Key() string { return m.key }

// Open connects to the database and makes or updates its tables.
func (m *Postgres) Open(ctx context.Context, logger *zap.Logger) (*store.Store, error) {
	opened, err := store.OpenPostgres(ctx, m.config, logger)
	if err != nil {
		return nil, err
	}
	logger.Info("connected to the accounts database")
	return opened, nil
}

// Interface guard
var _ caddy.Provisioner = (*Postgres)(nil)
