package store

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/puddle/v2"
	"go.uber.org/zap"

	"github.com/mapsedge/caddy-maps/internal/access/account"
)

const (
	// callTimeout is the timeout of a call, the wait for a connection included.
	callTimeout = 10 * time.Second
	// closeTimeout is the timeout for connections in use when the store is closed.
	closeTimeout = 3 * time.Second
	// openTimeout is the timeout of OpenPostgres, since servers and database are often started together.
	openTimeout = 25 * time.Second
	// attempts is the number of attempts for a transaction that fails because of concurrent ones.
	attempts = 4
	// defaultMaxConns leaves room for several servers on a database with 100 connections.
	defaultMaxConns = 8
	// connectTimeout is the timeout for connecting to a host, unless the connection string has one.
	connectTimeout = 5 * time.Second
)

// errDSN has no details, since they could contain the password.
var errDSN = errors.New("the connection string cannot be used: it is neither a URL such as " +
	"postgres://user@host/database nor keywords such as host=… user=… dbname=…, or a file that it names cannot be read")

// ParseDSN parses a connection string, and sets defaults. A password that is not empty replaces that of the connection
// string. The error contains no part of either.
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
	}
	if !strings.Contains(dsn, "pool_max_conns") {
		cfg.MaxConns = defaultMaxConns
	}
	if !strings.Contains(dsn, "default_query_exec_mode") {
		// No state stays on a connection, for poolers that assign it to another client after each transaction.
		conn.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	if !strings.Contains(dsn, "target_session_attrs") {
		// A replica may have old data, such as an account that was suspended since.
		conn.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	if conn.RuntimeParams["application_name"] == "" {
		conn.RuntimeParams["application_name"] = "caddy-maps"
	}
	return cfg, nil
}

// postgres is a database that several servers can share.
type postgres struct {
	pool *pgxpool.Pool
	// reach is canceled while watch cannot reach the database: calls that wait fail, and so do new ones.
	reach atomic.Pointer[reach]
	clock atomic.Pointer[reading]
	feed  feed
}

type reach struct {
	context.Context
	cancel context.CancelFunc
}

func newReach() *reach {
	ctx, cancel := context.WithCancel(context.Background())
	return &reach{ctx, cancel}
}

// reading is the time of the database's clock, and when it was read, with a monotonic clock reading.
type reading struct{ said, at time.Time }

// postgresSchema are further tables for PostgreSQL: the changes of each server, which the others read. The row of the
// counter is locked until the commit, so that ids are committed in their order.
var postgresSchema = []string{
	`CREATE TABLE maps_changes (
		id INTEGER PRIMARY KEY,
		subject TEXT NOT NULL,
		made_at timestamptz NOT NULL DEFAULT now()
	)`,
	`CREATE TABLE maps_change_counter (value INTEGER NOT NULL)`,
	`INSERT INTO maps_change_counter VALUES (0)`,
}

// OpenPostgres connects to a database and creates or upgrades its tables. It refuses tables of a newer version and
// leaves them unchanged.
func OpenPostgres(ctx context.Context, cfg *pgxpool.Config, logger *zap.Logger) (*Store, error) {
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, postgresError(err)
	}
	db := &postgres{pool: pool}
	db.reach.Store(newReach())
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	for {
		if err = db.prepare(ctx); err == nil {
			return newStore(db, logger), nil
		}
		if !isUnreachable(err) || !sleep(ctx, 200*time.Millisecond) {
			pool.Close()
			return nil, err
		}
	}
}

// isUnreachable reports whether an error means that the database is unreachable, starting or stopping (57P…).
func isUnreachable(err error) bool {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok {
		return strings.HasPrefix(refused.Code, "57P")
	}
	_, ok := errors.AsType[*Error](err)
	return ok
}

func (db *postgres) prepare(ctx context.Context) error {
	err := db.fill(ctx, func(t *tx) error { return migrate(t, postgresDialect.Replace, postgresSchema) })
	if err != nil {
		return err
	}
	return db.feed.begin(ctx, db)
}

func (db *postgres) now() time.Time {
	last := db.clock.Load()
	return last.said.Add(time.Since(last.at))
}

// call runs a call with a timeout.
func (db *postgres) call(ctx context.Context, run func(context.Context) error) error {
	reach := db.reach.Load()
	if reach.Err() != nil {
		return errUnreachable
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	defer context.AfterFunc(reach, cancel)()
	err := run(ctx)
	if err != nil && reach.Err() != nil {
		return errUnreachable
	}
	return err
}

var errUnreachable = &Error{err: errors.New("it does not respond")}

// read tries a second time if the connection was lost, as by a failover.
func (db *postgres) read(ctx context.Context, run func(*tx) error) error {
	once := func(ctx context.Context) error {
		conn, err := db.pool.Acquire(ctx)
		if err != nil {
			return postgresError(err)
		}
		defer conn.Release()
		return run(&tx{ctx: ctx, querier: pgQuerier{conn}})
	}
	return db.call(ctx, func(ctx context.Context) error {
		err := once(ctx)
		if err != nil && isUnreachable(err) && ctx.Err() == nil {
			err = once(ctx)
		}
		return err
	})
}

func (db *postgres) snapshot(ctx context.Context, run func(*tx) error) error {
	return db.transaction(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, run)
}

// write repeats a transaction that failed because of concurrent ones. It ignores that the caller's context ends: a
// commit that has begun must not have an unknown result.
func (db *postgres) write(ctx context.Context, run func(*tx) error) error {
	return db.call(context.WithoutCancel(ctx), func(ctx context.Context) error {
		for attempt := 1; ; attempt++ {
			err := db.transaction(ctx, pgx.TxOptions{}, func(t *tx) error {
				t.forUpdate = " FOR UPDATE"
				if err := run(t); err != nil {
					return err
				}
				return t.announce()
			})
			if refused, ok := errors.AsType[*pgconn.PgError](err); ok && attempt < attempts &&
				slices.Contains([]string{"40001", "40P01"}, refused.Code) { // serialization_failure, deadlock_detected
				continue
			}
			return err
		}
	})
}

func (db *postgres) fill(ctx context.Context, run func(*tx) error) error {
	return db.transaction(ctx, pgx.TxOptions{}, run)
}

func (db *postgres) transaction(ctx context.Context, options pgx.TxOptions, run func(*tx) error) error {
	var own error // of run, which may be no error of the database
	err := pgx.BeginTxFunc(ctx, db.pool, options, func(transaction pgx.Tx) error {
		own = run(&tx{ctx: ctx, querier: pgQuerier{transaction}})
		return own
	})
	if own != nil {
		return own
	}
	return postgresError(err)
}

// close waits at most for closeTimeout, since the database may be unreachable.
func (db *postgres) close() error {
	closed := make(chan struct{})
	go func() {
		db.feed.close()
		db.pool.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(closeTimeout):
	}
	return nil
}

// pgQuerier runs statements on a connection or in a transaction.
type pgQuerier struct {
	on interface {
		Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
		Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	}
}

func (q pgQuerier) exec(ctx context.Context, sql string, args []any) (int64, error) {
	tag, err := q.on.Exec(ctx, sql, args...)
	return tag.RowsAffected(), postgresError(err)
}

func (q pgQuerier) query(ctx context.Context, sql string, args []any) (rows, error) {
	found, err := q.on.Query(ctx, sql, args...)
	return pgRows{found}, postgresError(err)
}

// lock locks until the transaction ends, so it works with poolers, too.
func (q pgQuerier) lock(ctx context.Context, name string) error {
	_, err := q.exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", []any{"caddy-maps " + name})
	return err
}

type pgRows struct{ pgx.Rows }

func (r pgRows) Scan(to ...any) error { return postgresError(r.Rows.Scan(to...)) }
func (r pgRows) Err() error           { return postgresError(r.Rows.Err()) }

// postgresError converts an error of pgx, which contains no passwords.
func postgresError(err error) error {
	if err == nil || errors.Is(err, account.ErrDamaged) {
		return err
	}
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	refused, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case ok && refused.Code == "23505": // unique_violation
		return account.ErrExists
	case ok && (refused.Code == "XX001" || refused.Code == "XX002"): // data_corrupted, index_corrupted
		return &Error{err: err, damaged: true}
	case errors.Is(err, puddle.ErrClosedPool):
		return &Error{err: errClosed}
	}
	return &Error{err: err}
}
