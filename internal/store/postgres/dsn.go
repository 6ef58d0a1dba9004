package postgres

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// connectTimeout bounds one attempt to connect to a host, where the connection string does not. Over a slow link it
	// takes up to ten round trips. Nobody waits for it as long: calls end, and others are made beside it. Of several
	// hosts one may have to be waited for in vain.
	connectTimeout     = 10 * time.Second
	connectTimeoutEach = 3 * time.Second
	// pingTimeout is how long a connection that has not been used for a while is tested.
	pingTimeout = 1500 * time.Millisecond
	// defaultMaxConns is for a few servers at a database of 100 connections.
	defaultMaxConns = 8
)

// errDSN does not say more, because what cannot be parsed may hold a password anywhere.
var errDSN = errors.New("the connection string cannot be used: it is neither a URL such as " +
	"postgres://user@host/database nor keywords such as host=… user=… dbname=…, or a file that it names cannot be read")

// ParseDSN reads a connection string, and decides what it leaves open. A password that is not empty replaces that of
// the connection string. The error holds no part of either.
func ParseDSN(dsn, password string) (*pgxpool.Config, error) {
	cfg, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, errDSN
	}
	conn := cfg.ConnConfig
	if password != "" {
		conn.Password = password
	}
	if conn.ConnectTimeout == 0 {
		conn.ConnectTimeout = connectTimeout
		if slices.ContainsFunc(conn.Fallbacks, func(f *pgconn.FallbackConfig) bool {
			return f.Host != conn.Host ||
				f.Port != conn.Port
		}) {
			conn.ConnectTimeout = connectTimeoutEach
		}
	}
	cfg.PingTimeout = pingTimeout
	if !strings.Contains(dsn, "pool_max_conns") {
		cfg.MaxConns = defaultMaxConns
	}
	if !strings.Contains(dsn, "default_query_exec_mode") {
		// Nothing is left behind on a connection, as poolers need it that hand it to somebody else after each transaction.
		conn.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	if !strings.Contains(dsn, "target_session_attrs") {
		// A replica is behind, and what is read from it may have been suspended.
		conn.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	if conn.RuntimeParams["application_name"] == "" {
		conn.RuntimeParams["application_name"] = "caddy-maps"
	}
	return cfg, nil
}
