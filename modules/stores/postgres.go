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
// `pool_max_conns` | connections of a server, in addition to the listen connection | 8
// `connect_timeout` | seconds that an attempt to connect to a host may take | 5
// `pool_max_conn_lifetime`, `pool_max_conn_idle_time` | when connections are replaced | 1 h, 30 min
// `default_query_exec_mode` | `cache_statement` saves some planning without a pooler | `exec`
// `target_session_attrs` | which of several hosts to use; a replica would lag behind | `read-write`
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

// UnmarshalJSON implements json.Unmarshaler. Its errors say where a mistake is.
func (m *Postgres) UnmarshalJSON(data []byte) error { return options.Decode(data, m) }

// Provision parses the connection string. It does not connect, so that a configuration can be checked anywhere.
func (m *Postgres) Provision(caddy.Context) error {
	if err := m.checkWritten(); err != nil {
		return err
	}
	dsn, err := options.Replace(m.DSN)
	if err != nil {
		return fmt.Errorf("store postgres: connection string: %w", err) // names only the placeholder
	}
	password, err := options.Replace(m.Password)
	if err != nil {
		return options.Wrap("password", err)
	}
	if m.config, err = store.ParseDSN(dsn, password); err != nil {
		return err
	}
	m.key = keyOf(dsn, password)
	return nil
}

// scheme matches the beginning of a connection string that is a URL.
var scheme = regexp.MustCompile(`^([a-zA-Z][a-zA-Z0-9+.-]*)://`)

// checkWritten validates the configuration before placeholders are replaced.
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
		return options.Wrap("password", errLiteralPassword)
	}
	return nil
}

// keySecret makes keys that say nothing about a password, even if it is guessable.
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

// Key identifies the store: configurations with the same connection string share it. It is a keyed hash, so it shows no
// password.
func (m *Postgres) Key() string { return m.key }

// Open connects to the database and creates or upgrades its tables.
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
