package pgstore

import (
	"errors"
	"regexp"
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

var (
	errLiteralPassword = errors.New("a password written into the configuration is refused, because Caddy shows and saves its " +
		"configuration; use {env.NAME} for the whole connection string, or the option password with {file./path/to/password}")
	// errDSN does not say more, because what cannot be parsed may hold a password anywhere.
	errDSN = errors.New("the connection string cannot be used: it is neither an address such as postgres://user@host/database nor " +
		"keywords such as host=… user=… dbname=…, or a file that it names cannot be read")
)

var (
	// onePlaceholder is a value that is nothing but a placeholder whose secret stands elsewhere.
	onePlaceholder = regexp.MustCompile(`^\{(file|env)\.[^{}]+\}$`)
	// passwordKeyword finds passwords among keywords and in the query of an address.
	passwordKeyword = regexp.MustCompile(`(?i)(?:^|[\s?&])(?:ssl)?password\s*=\s*('(?:[^'\\]|\\.)*'|[^\s&]*)`)
)

// refuseLiteralPassword looks for a password in a connection string whose placeholders have not been replaced.
func refuseLiteralPassword(raw string) error {
	for _, found := range passwordKeyword.FindAllStringSubmatch(raw, -1) {
		if value := strings.Trim(found[1], "'"); value != "" && !onePlaceholder.MatchString(value) {
			return errLiteralPassword
		}
	}
	_, address, ok := strings.Cut(raw, "://")
	if !ok {
		return nil
	}
	// The last @ of all: a password that was not encoded may hold any of the signs that end it.
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return nil
	}
	_, password, _ := strings.Cut(address[:at], ":")
	if password != "" && !onePlaceholder.MatchString(password) {
		return errLiteralPassword
	}
	return nil
}

// parseDSN reads a connection string, and decides what it leaves open. password may be empty.
func parseDSN(dsn, password string) (*pgxpool.Config, error) {
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
